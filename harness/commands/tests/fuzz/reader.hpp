// SPDX-License-Identifier: Apache-2.0
// A reader of what comes from outside, as a fuzzer gives it inputs: driver.cpp, or libfuzzer.cpp.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "harness/error.hpp"

namespace assay {

// One file of this folder defines one, at namespace scope; its corpus is the folder of its name.
class FuzzedReader {
 public:
  using Read = void (*)(std::string_view input);

  FuzzedReader(std::string_view name, Read read) : name_(name), read_(read) {
    all().push_back(this);
  }
  FuzzedReader(const FuzzedReader&) = delete;
  FuzzedReader& operator=(const FuzzedReader&) = delete;

  std::string_view name() const { return name_; }
  void read(std::string_view input) const { read_(input); }

  static const FuzzedReader* find(std::string_view name) {
    for (const FuzzedReader* reader : all())
      if (reader->name_ == name) return reader;
    return nullptr;
  }

 private:
  static std::vector<const FuzzedReader*>& all() {
    static std::vector<const FuzzedReader*> readers;
    return readers;
  }

  std::string_view name_;
  Read read_;
};

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

}  // namespace assay
