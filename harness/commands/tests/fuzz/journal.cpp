// SPDX-License-Identifier: Apache-2.0
// The journal of a run, up to the run file written from it.
#include "harness/run/journal.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/commands/tests/fuzz/reader.hpp"
#include "harness/run/progress.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

const FuzzedReader reader("journal", [](std::string_view input) {
  static const fs::path memory = "/dev/shm",
                        place = fs::exists(memory) ? memory : fs::temp_directory_path();
  static const fs::path folder = place / ("assay-fuzz-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "journal.jsonl", std::ios::binary) << input;
  must_survive([&] {
    Journal journal = Journal::resume(folder);
    journal.difference_from(journal.header().at("environment"));
    for (const Json& measurement : journal.measurements()) headline(measurement);
    journal.write_run_file();
  });
  fs::remove_all(folder);
});

}  // namespace
}  // namespace assay
