// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/environment.hpp"
#include "kernels/c_api/assay_kernels.h"
#include "kernels/c_api/boundary.hpp"

namespace assay::kernels {

std::string& last_error() {
  thread_local std::string text;
  return text;
}

}  // namespace assay::kernels

const char* assay_last_error() { return assay::kernels::last_error().c_str(); }

const char* assay_commit() {
  static const std::string commit = assay::build_environment().commit;
  return commit.c_str();
}
