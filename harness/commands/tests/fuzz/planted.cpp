// SPDX-License-Identifier: Apache-2.0
// A reader that has bugs, so that a test can see them found: it crashes on what only a mutation
// makes of its corpus, and refuses other inputs in two lines.
#include "harness/commands/tests/fuzz/reader.hpp"

namespace assay {
namespace {

const FuzzedReader crashing("planted_crash", [](std::string_view input) {
  if (input.find("[[[[") != input.npos) std::abort();
});

const FuzzedReader wordy("planted_words", [](std::string_view input) {
  must_survive([&] {
    if (input.find("[[[[") != input.npos) throw Error(ExitCode::usage, "two\nlines");
  });
});

}  // namespace
}  // namespace assay
