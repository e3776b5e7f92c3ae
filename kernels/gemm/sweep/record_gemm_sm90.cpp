// SPDX-License-Identifier: Apache-2.0
// Runs the forms of the Hopper product that the host model runs, on a GPU and on the same inputs:
//
//   assay_gemm_record > kernels/gemm/sm90/tests/silicon.txt
//
// A line for each form: its name and the CRC-32 of its result, which the model's must equal. Forms
// with an activation are left out: ex2.approx and rcp.approx of the GPU are not the model's to the
// last bit.
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/element.hpp"
#include "harness/error.hpp"
#include "harness/model/model.hpp"
#include "kernels/gemm/model_operands.hpp"
#include "kernels/gemm/model_problem.hpp"
#include "kernels/gemm/sm90/model_sm90.hpp"

namespace assay::kernels {
namespace {

constexpr const char* kNoKernel = ".version 9.0\n.target sm_90a\n.address_size 64\n";

// The operands of a form, as the model has them, on this machine's GPU.
std::uint32_t hash_of(const ModelFormSm90& form, const GemmOperands& model, model::Gpu& memory) {
  const GemmProblem& p = form.problem;
  std::vector<Buffer> held;
  const auto count = [](int x, int y) {
    return static_cast<std::size_t>(x) * static_cast<std::size_t>(y);
  };
  const auto copied = [&](const void* from, const std::string& type,
                          std::size_t elements) -> void* {
    if (from == nullptr) return nullptr;
    std::vector<std::uint8_t> bytes(elements * static_cast<std::size_t>(element_bits(type)) / 8);
    memory.read(std::bit_cast<model::Address>(from), bytes);
    held.emplace_back(bytes.size());
    check(cudaMemcpy(held.back().data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    return held.back().data();
  };
  const bool rows = p.scaling == Scaling::row;
  std::vector<std::uint8_t> result(count(p.m, p.n) *
                                   static_cast<std::size_t>(element_bits(p.d_type())) / 8);
  Buffer d(result.size());
  const GemmOperands operands{
      .d = d.data(),
      .a = copied(model.a, p.type, count(p.m, p.k)),
      .b = copied(model.b, p.b_type(), count(p.n, p.k)),
      .c = copied(model.c, p.d_type(), count(p.m, p.n)),
      .bias = copied(model.bias, p.d_type(), count(1, p.n)),
      .scale_a = static_cast<float*>(copied(model.scale_a, "f32", count(1, rows ? p.m : 1))),
      .scale_b = static_cast<float*>(copied(model.scale_b, "f32", count(1, rows ? p.n : 1)))};
  const Stream stream;
  plan_gemm_sm90(p, operands, form.choice).run(stream);
  check(cudaStreamSynchronize(stream));
  check(cudaMemcpy(result.data(), d.data(), result.size(), cudaMemcpyDeviceToHost));
  return model::crc32(result);
}

void record() {
  for (const ModelFormSm90& form : model_forms_sm90()) {
    const GemmProblem& p = form.problem;
    if (p.activation != Activation::none) continue;
    model::Gpu memory(kNoKernel);
    const GemmOperands operands = form.plain ? ModelOperands(memory, {p.m, p.n, p.k}, 0).operands()
                                             : ModelProblem(memory, p, 0).operands();
    fmt::print("{} {:08x}\n", form.name, hash_of(form, operands, memory));
  }
}

}  // namespace
}  // namespace assay::kernels

int main() {
  try {
    assay::kernels::record();
  } catch (const assay::Error& error) {
    std::fprintf(stderr, "assay_gemm_record: %s\n", error.what());
    return static_cast<int>(error.code());
  }
  return std::fflush(stdout) == 0 ? 0 : static_cast<int>(assay::ExitCode::io);
}
