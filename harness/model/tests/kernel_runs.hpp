// SPDX-License-Identifier: Apache-2.0
// The kernels in kernels/, as PTX that the build made of them, and launches of them under many
// seeds.
#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/model/model.hpp"
#include "harness/model/script.hpp"

namespace assay::model {

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

#ifdef ASSAY_MODEL_KERNELS  // as the tests are compiled
// "wild_copies": harness/model/tests/kernels/wild_copies.cu, compiled for sm_90a; of a name that
// ends with _sm100, for sm_100a.
inline std::string ptx_of_file(const std::string& name) {
  const auto suffix = name.rfind("_sm");
  const std::string target = suffix == name.npos ? "" : name.substr(suffix);
  return text_of(std::filesystem::path(ASSAY_MODEL_KERNELS + target) / (name + ".ptx"));
}
inline std::string source_of_file(const std::string& name) {
  return text_of(std::filesystem::path(ASSAY_SOURCE_DIR) / "harness/model/tests/kernels" /
                 (name + ".cu"));
}
#endif

// A kernel and how to launch it. `arguments` as parse_arguments() takes them. Where there are some
// `before`, these are launched first, with the same arguments and shape, and all but the first of
// them begin early.
struct KernelRun {
  const char* kernel;
  Shape shape;
  std::vector<std::string> arguments;
  std::vector<const char*> before = {};
};

// The kernel's own line of a place, also of what is inlined there.
inline int line_in_kernel(const Place& p) {
  return p.callers.empty() ? p.line : p.callers.back().line;
}

inline Outcome run_seed(Gpu& gpu, const std::string& kernel, const KernelRun& run,
                        std::uint64_t seed) {
  const Arguments arguments = parse_arguments(gpu, run.arguments, seed);
  const Options options{.seed = seed, .most_steps = 2'000'000};
  Shape shape = run.shape;
  for (const char* name : run.before) {
    Outcome outcome = gpu.launch(gpu.kernel(name), shape, arguments, options);
    if (!outcome.finished || !outcome.findings.empty()) return outcome;
    shape.early = true;
  }
  return gpu.launch(gpu.kernel(kernel), shape, arguments, options);
}

inline std::string all_of(const Outcome& outcome) {
  std::string text = outcome.finished ? "" : "not finished\n";
  for (const Finding& f : outcome.findings) text += to_text(f) + "\n";
  return text;
}

}  // namespace assay::model
