// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/software.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace assay {
namespace {

const Software& find(const std::vector<Software>& all, const std::string& name) {
  for (const Software& software : all)
    if (software.name == name) return software;
  throw std::out_of_range(name);
}

// True on every machine: each is found, with its path, or has a reason.
TEST(Software, IsFoundOrSaysWhyNot) {
  for (const Software& software : installed_software()) {
    EXPECT_NE(software.path.empty(), software.missing.empty()) << software.name;
    EXPECT_EQ(software.missing.find('\n'), std::string::npos) << software.missing;
  }
}

TEST(Software, NamesTheVariableThatMisleadsIt) {
  setenv("ASSAY_CUBLASLT_LIBRARY", "/nowhere/libcublasLt.so.13", 1);
  const Software cublaslt = find(installed_software(), "cuBLASLt");
  unsetenv("ASSAY_CUBLASLT_LIBRARY");
  EXPECT_NE(cublaslt.missing.find("ASSAY_CUBLASLT_LIBRARY"), std::string::npos) << cublaslt.missing;
}

}  // namespace
}  // namespace assay
