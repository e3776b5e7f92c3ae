// SPDX-License-Identifier: Apache-2.0
// A run file, as a table of costs and as times to compare predictions with.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/commands/tests/fuzz/reader.hpp"
#include "harness/sass/analysis.hpp"
#include "harness/sass/measured_loops.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

const FuzzedReader reader("run_file", [](std::string_view input) {
  static const fs::path file =
      fs::temp_directory_path() / ("assay-fuzz-" + std::to_string(::getpid()));
  std::ofstream(file, std::ios::binary) << input;
  must_survive([] { sass::CostTable::read(file); });
  must_survive([] {
    const sass::MeasuredLoops loops(file);
    const Function function{
        .name = "kernel", .arch = "sm_90a", .cubin_sha256 = "", .code = {}, .routines = {}};
    loops.find(function, {});
    loops.find(function, {}, "sass/ffma/f32", {}, true);
  });
  fs::remove(file);
});

}  // namespace
}  // namespace assay
