// SPDX-License-Identifier: Apache-2.0
// A reader as libFuzzer calls it, in place of driver.cpp. ASSAY_FUZZ_READER names the reader.
#include <cstddef>
#include <cstdint>

#include "harness/commands/tests/fuzz/reader.hpp"

namespace {
const assay::FuzzedReader* chosen = nullptr;
}  // namespace

extern "C" {

int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("ASSAY_FUZZ_READER");
  chosen = assay::FuzzedReader::find(name == nullptr ? "" : name);
  if (chosen == nullptr) {
    std::fputs("ASSAY_FUZZ_READER names no reader of harness/commands/tests/fuzz\n", stderr);
    std::exit(2);
  }
  chosen->read({});  // what it reads once takes long, and no input is to blame
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->read({reinterpret_cast<const char*>(data), size});
  return 0;
}
}
