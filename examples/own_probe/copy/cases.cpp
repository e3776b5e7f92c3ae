// SPDX-License-Identifier: Apache-2.0
// Our copy against the CUDA runtime's.
#include "copy.hpp"
#include "kernels/frame/comparison.hpp"

namespace {
using namespace assay::kernels;
using Pointers = std::span<void* const>;  // out, in

class RuntimeCopy : public Baseline {
 public:
  RuntimeCopy(const OperandSets& sets, std::size_t bytes) : sets_(sets), bytes_(bytes) {}
  std::string name() const override { return "cudaMemcpyAsync"; }
  int asked() const override { return 1; }
  int candidates() const override { return 1; }
  void run(int, int set, cudaStream_t stream) const override {
    assay::check(cudaMemcpyAsync(sets_[set][0], sets_[set][1], bytes_, cudaMemcpyDefault, stream));
  }

 private:
  const OperandSets& sets_;
  std::size_t bytes_;
};

void run(assay::State& s) {
  const auto bytes = static_cast<std::size_t>(s.i64("bytes"));
  const auto plan = [&](Pointers set) {
    return Plan{"plain", [=](cudaStream_t stream) { copy(set[0], set[1], bytes, stream); }};
  };
  const auto find_error = [&](Pointers set) -> std::string {
    const auto out = assay::download(static_cast<const char*>(set[0]), bytes, s.stream());
    const auto in = assay::download(static_cast<const char*>(set[1]), bytes, s.stream());
    return out == in ? "" : "out differs from in";
  };
  const auto open_runtime = [&](const OperandSets& sets) {
    return std::make_unique<RuntimeCopy>(sets, bytes);
  };
  compare(s, {.work = {.bytes = 2.0 * static_cast<double>(bytes)},  // read and written
              .operands = {{.bytes = bytes}, uniform_bf16(bytes / 2)},
              .plan = plan,
              .find_error = find_error,
              .libraries = {open_runtime}});
}

const assay::Registration registration{{
    .name = "own/copy",
    .question = "How fast is our copy, and how does it compare with the CUDA runtime's?",
    .kind = assay::Kind::kernel,
    .cases = burst_and_sustained({{.name = "bf16/268435456", .params = {{"bytes", 268435456}}}}),
    .pace = assay::Pace::dram,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "copy_words", .sass = {{"LDG.E.128"}, {"STG.E.128"}}}};
        },
    .run = run,
}};

}  // namespace
