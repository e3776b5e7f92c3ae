// SPDX-License-Identifier: Apache-2.0
// PTX that the host model reads and runs for a while, and what a person writes for arguments: the
// last line, if it begins with "//".
#include <string>

#include "harness/commands/tests/fuzz/reader.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/model/model.hpp"
#include "harness/model/script.hpp"
#include "harness/model/violation.hpp"

namespace assay {
namespace {

const FuzzedReader reader("model", [](std::string_view input) {
  must_survive([&] {
    try {
      model::Gpu gpu(input);
      model::Arguments arguments;
      const model::Address array = gpu.allocate("array", 4096);
      for (int i = 0; i < 16; ++i) arguments.push(array);
      for (const std::string& kernel : gpu.kernels())
        if (gpu.unknown(kernel).empty())
          gpu.launch(kernel, {.block = {64, 1, 1}}, arguments, {.most_steps = 2000});
      const std::size_t line = input.rfind("\n//");
      if (line != input.npos) model::parse_arguments(gpu, {std::string(input.substr(line + 3))}, 1);
    } catch (const model::Violation& violation) {
      throw Error(ExitCode::usage, excerpt(violation.what(), 500));  // as the command says it
    }
  });
});

}  // namespace
}  // namespace assay
