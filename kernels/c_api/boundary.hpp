// SPDX-License-Identifier: Apache-2.0
// Where C++ exceptions end: each function of the C API runs its body through guarded().
#pragma once
#include <exception>
#include <string>
#include <utility>

#include "harness/error.hpp"

namespace assay::kernels {

// Text that assay_last_error() of this thread gives.
std::string& last_error();

// Runs `body`; 0, or the status of what it threw.
template <class F>
int guarded(F&& body) noexcept {
  try {
    std::forward<F>(body)();
    return static_cast<int>(ExitCode::ok);
  } catch (const Error& error) {
    last_error() = error.what();
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    last_error() = error.what();
    return static_cast<int>(ExitCode::failed);
  }
}

}  // namespace assay::kernels
