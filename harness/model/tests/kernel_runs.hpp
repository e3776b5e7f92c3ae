// SPDX-License-Identifier: Apache-2.0
// The kernels in kernels/, as PTX that the build made of them, and launches of them under many
// seeds.
#pragma once
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/model/model.hpp"
#include "harness/model/script.hpp"

namespace assay::model {

inline std::string text_of(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + " cannot be read");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// "wild_copies": harness/model/tests/kernels/wild_copies.cu, compiled for sm_90a.
inline std::string ptx_of_file(const std::string& name) {
  return text_of(std::string(ASSAY_MODEL_KERNELS) + "/" + name + ".ptx");
}
inline std::string source_of_file(const std::string& name) {
  return text_of(std::string(ASSAY_SOURCE_DIR) + "/harness/model/tests/kernels/" + name + ".cu");
}

// A kernel and how to launch it. `arguments` as parse_arguments() takes them.
struct KernelRun {
  const char* kernel;
  Shape shape;
  std::vector<std::string> arguments;
};

// The kernel's own line of a place, also of what is inlined there.
inline int line_in_kernel(const Place& p) {
  return p.callers.empty() ? p.line : p.callers.back().line;
}

inline Outcome run_seed(Gpu& gpu, const std::string& kernel, const KernelRun& run,
                        std::uint64_t seed) {
  const Arguments arguments = parse_arguments(gpu, run.arguments, seed);
  return gpu.launch(gpu.kernel(kernel), run.shape, arguments,
                    {.seed = seed, .most_steps = 2'000'000});
}

inline std::string all_of(const Outcome& outcome) {
  std::string text = outcome.finished ? "" : "not finished\n";
  for (const Finding& f : outcome.findings) text += to_text(f) + "\n";
  return text;
}

}  // namespace assay::model
