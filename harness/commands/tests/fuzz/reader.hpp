// SPDX-License-Identifier: Apache-2.0
// What every fuzzer does with what its reader says.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "harness/error.hpp"

// What every fuzzer defines; libFuzzer calls it, or driver.cpp.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace assay {

// Runs `read`. It may refuse its input in one line, with any status but that of a failed
// measurement; whatever else it throws ends the program.
template <class Read>
void must_survive(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    const std::string_view words = error.what();
    if (words.find('\n') == words.npos && words.size() < 2000 && error.code() != ExitCode::failed)
      return;
    std::fprintf(stderr, "status %d: %s\n", static_cast<int>(error.code()), error.what());
    std::abort();
  }
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace assay
