// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/contest.hpp"

#include <cstddef>

#include "harness/element.hpp"
#include "harness/error.hpp"
#include "kernels/baselines/cublaslt.hpp"
#include "kernels/gemm/reference.hpp"

namespace assay::kernels {
namespace {

constexpr const char* kScalings[] = {"none", "tensor", "row"};  // as Scaling counts

Scaling scaling_of(const std::string& name) {
  for (const Scaling scaling : {Scaling::none, Scaling::tensor, Scaling::row})
    if (name == kScalings[static_cast<int>(scaling)]) return scaling;
  throw Error(ExitCode::usage, "gemm: no scaling " + name + "; use none, tensor or row");
}

CublasLtProblem to_cublaslt(const GemmProblem& p) {
  if (p.activation == Activation::silu)
    throw Error(ExitCode::unfit, "cuBLASLt has no SiLU in its epilogue");
  const CublasLtScale scale = p.scaling == Scaling::none     ? CublasLtScale::none
                              : p.scaling == Scaling::tensor ? CublasLtScale::tensor
                                                             : CublasLtScale::row;
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .a = p.type,
          .b = p.b_type(),
          .d = p.d_type(),
          .layout = p.layout,
          .alpha = p.alpha,
          .beta = p.beta,
          .bias = p.bias,
          .gelu = p.activation == Activation::gelu || p.activation == Activation::gelu_tanh,
          .gelu_differs = p.activation == Activation::gelu,
          .scale_a = scale,
          .scale_b = scale};
}

}  // namespace

Params params_of(const GemmProblem& p) {
  return {{"type", p.type},
          {"type_b", p.b_type()},
          {"type_d", p.d_type()},
          {"layout", p.layout},
          {"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"epilogue", epilogue_of(p)},
          {"scaling", kScalings[static_cast<int>(p.scaling)]}};
}

GemmProblem problem_of(const Case& c) {
  GemmProblem p{.m = static_cast<int>(c.i64("m")),
                .n = static_cast<int>(c.i64("n")),
                .k = static_cast<int>(c.i64("k")),
                .type = c.text("type"),
                .layout = c.text("layout")};
  p.type_b = c.text("type_b");
  p.type_d = c.text("type_d");
  p.scaling = scaling_of(c.text("scaling"));
  return with_epilogue(p, c.text("epilogue"));
}

std::string epilogue_of(const GemmProblem& p) {
  if (p.beta != 0) return "alpha_beta";
  if (!p.bias) return "none";
  if (p.activation == Activation::gelu) return "bias_gelu";
  if (p.activation == Activation::gelu_tanh) return "bias_gelu_tanh";
  return p.activation == Activation::silu ? "bias_silu" : "bias";
}

GemmProblem with_epilogue(GemmProblem p, const std::string& epilogue) {
  if (epilogue == "alpha_beta") {
    p.alpha = 1.25f;
    p.beta = -0.5f;
  }
  p.bias = epilogue.starts_with("bias");
  if (epilogue == "bias_gelu") p.activation = Activation::gelu;
  if (epilogue == "bias_gelu_tanh") p.activation = Activation::gelu_tanh;
  if (epilogue == "bias_silu") p.activation = Activation::silu;
  if (epilogue_of(p) != epilogue)
    throw Error(ExitCode::usage, "gemm: no epilogue " + epilogue +
                                     "; use none, alpha_beta, bias, bias_gelu, bias_gelu_tanh or "
                                     "bias_silu");
  return p;
}

GemmOperandLayout::GemmOperandLayout(const GemmProblem& p) : problem_(p) {
  const auto m = static_cast<std::size_t>(p.m), n = static_cast<std::size_t>(p.n),
             k = static_cast<std::size_t>(p.k);
  const auto bits = static_cast<std::size_t>(element_bits(p.d_type()));
  operands_ = {{.bytes = m * n * bits / 8}, normal(p.type, m * k), normal(p.b_type(), n * k)};
  if (p.beta != 0) operands_.push_back(normal(p.d_type(), m * n));
  if (p.bias) operands_.push_back(normal(p.d_type(), n));
  if (p.scaling == Scaling::none) return;
  const bool each = p.scaling == Scaling::row;
  operands_.push_back(factors(each ? m : 1));
  operands_.push_back(factors(each ? n : 1));
}

GemmOperands GemmOperandLayout::of(std::span<void* const> set) const {
  GemmOperands o{set[0], set[1], set[2]};
  std::size_t next = 3;
  if (problem_.beta != 0) o.c = set[next++];
  if (problem_.bias) o.bias = set[next++];
  if (problem_.scaling == Scaling::none) return o;
  o.scale_a = static_cast<const float*>(set[next++]);
  o.scale_b = static_cast<const float*>(set[next]);
  return o;
}

std::string find_error(const GemmProblem& problem, const GemmOperands& operands, std::uint64_t seed,
                       cudaStream_t stream, std::uint64_t checked) {
  const GemmErrors errors = check_gemm(problem, operands, checked, seed, stream);
  return errors.right() ? std::string() : errors.describe();
}

std::unique_ptr<Baseline> open_cublaslt(const GemmProblem& problem,
                                        const std::vector<GemmOperands>& sets) {
  std::vector<CublasLtGemm::Operands> operands;
  for (const GemmOperands& o : sets)
    operands.push_back({o.d, o.a, o.b, o.c, o.bias, o.scale_a, o.scale_b});
  return std::make_unique<CublasLtGemm>(to_cublaslt(problem), std::move(operands));
}

}  // namespace assay::kernels
