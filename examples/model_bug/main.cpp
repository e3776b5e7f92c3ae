// SPDX-License-Identifier: Apache-2.0
// Runs the kernel of a PTX file in the host model, in 20 orders of its asynchronous work.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "harness/model/model.hpp"

namespace model = assay::model;

int main(int, char** argv) {
  std::ifstream file(argv[1]);
  model::Gpu gpu(std::string(std::istreambuf_iterator<char>(file), {}));
  const int turns = 4;
  std::vector<float> values(128 * turns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const auto in = gpu.allocate("in", values.size() * 4);
  const auto out = gpu.allocate("out", values.size() * 4);
  gpu.write(in, values);
  model::Arguments arguments;
  arguments.push(in).push(out).push(turns);
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto outcome =
        gpu.launch(gpu.kernel("twice"), {.block = {128, 1, 1}}, arguments, {.seed = seed});
    for (const auto& finding : outcome.findings)
      std::printf("seed %u: %s\n", seed, model::to_text(finding).c_str());
    if (!outcome.findings.empty()) return 1;
    const auto result = gpu.read<float>(out, values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (result[i] != 2 * values[i]) return 1;
  }
  std::puts("nothing to complain of");
}
