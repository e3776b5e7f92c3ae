// SPDX-License-Identifier: Apache-2.0
// The bf16 matrix product against cuBLASLt, over square shapes and shapes of language models. Both
// take turns on the same inputs, larger than L2; before that, each result is checked against
// float64.
#include <cuda_runtime.h>

#include <optional>

#include "harness/device.hpp"
#include "harness/error.hpp"
#include "harness/state.hpp"
#include "kernels/baselines/cublaslt.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/reference.hpp"

namespace assay::kernels {
namespace {

constexpr int kBytes = 2;  // of a bf16

// m: tokens. n, k: outputs and inputs of a layer.
struct Shape {
  int m, n, k;
  Suite suite;
};

constexpr Shape kShapes[] = {
    {4096, 4096, 4096, Suite::quick},
    {8192, 8192, 8192, Suite::quick},
    {2048, 2048, 2048, Suite::full},
    {4096, 6144, 4096, Suite::full},   // Llama-3 8B: query, key and value
    {4096, 28672, 4096, Suite::full},  // Llama-3 8B: gate and up
    {4096, 4096, 14336, Suite::full},  // Llama-3 8B: down
    {8192, 10240, 8192, Suite::full},  // Llama-3 70B: query, key and value
    {8192, 8192, 28672, Suite::full},  // Llama-3 70B: down
    {4096, 7168, 16384, Suite::full},  // DeepSeek-V3: attention output
    {4096, 24576, 1536, Suite::full},  // DeepSeek-V3: query up-projection
    {512, 8192, 8192, Suite::full},    // a small batch
    {1000, 5000, 3000, Suite::full},   // nothing is a multiple of a tile
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Shape& s : kShapes) {
    const std::string name = "bf16/m" + std::to_string(s.m) + "n" + std::to_string(s.n) + "k" +
                             std::to_string(s.k) + "/nt";
    Params params = {{"type", "bf16"}, {"m", s.m}, {"n", s.n}, {"k", s.k}, {"state", "burst"}};
    all.push_back({.name = name, .params = params, .suite = s.suite});
    params["state"] = "sustained";
    all.push_back({.name = name + "/sustained", .params = params, .suite = Suite::full});
  }
  return all;
}

const GemmVariant& variant_of(const Case& c) {
  return choose_gemm_variant(static_cast<int>(c.i64("m")), static_cast<int>(c.i64("n")),
                             static_cast<int>(c.i64("k")));
}

std::vector<KernelUse> kernels(const Case& c, Target) {
  const GemmVariant& v = variant_of(c);
  const int per_stage = v.tile_m / 128 * 4;  // 64-row blocks of a consumer x steps of 16 along k
  const std::string opcode = "HGMMA.64x" + std::to_string(v.tile_n) + "x16.F32.BF16";
  return {{.kernel = v.kernel_name,
           .sass = {{opcode, per_stage, per_stage}, {"UTMALDG.2D", 2, 2, SassWhere::kernel}}}};
}

// cuBLASLt, or nothing where it is not installed: the reason becomes a flag.
std::optional<CublasLtGemm> open_cublaslt(State& s, int m, int n, int k) {
  try {
    return CublasLtGemm(CUDA_R_16BF, CUDA_R_16BF, m, n, k);
  } catch (const Error& error) {
    s.add_flag(std::string("no baseline: ") + error.what());
    return std::nullopt;
  }
}

void run(State& s) {
  const int m = static_cast<int>(s.i64("m")), n = static_cast<int>(s.i64("n")),
            k = static_cast<int>(s.i64("k"));
  const std::size_t count_a = std::size_t(m) * k, count_b = std::size_t(n) * k,
                    count_d = std::size_t(m) * n;
  const std::size_t set_bytes = (count_a + count_b + count_d) * kBytes;
  // One contender's operands must be gone from L2 when the next one reads the same set.
  const int sets = static_cast<int>(2 + 2 * s.device().l2_bytes / set_bytes);

  std::vector<CublasLtGemm::Operands> operands;
  std::vector<GemmPlan> plans;
  for (int set = 0; set < sets; ++set) {
    void* d = s.allocate(count_d * kBytes);
    void* a = s.allocate(count_a * kBytes);
    void* b = s.allocate(count_b * kBytes);
    fill_uniform_bf16(a, count_a, 2 * set, s.stream());
    fill_uniform_bf16(b, count_b, 2 * set + 1, s.stream());
    poison(d, count_d * kBytes, s.stream());
    operands.push_back({d, a, b});
    plans.emplace_back(d, a, b, m, n, k);
  }
  s.set_param("variant", plans.front().variant().name);

  constexpr std::uint64_t kChecked = 1 << 16;
  const auto require_right = [&](const char* who) {
    const auto& [d, a, b] = operands.front();
    const GemmErrors errors = check_gemm_bf16_nt(d, a, b, m, n, k, kChecked, 1, s.stream());
    s.require(errors.right(), std::string(who) + ": " + errors.describe());
    poison(d, count_d * kBytes, s.stream());
  };
  plans.front().run(s.stream());
  require_right("ours");

  const Contender ours = {"assay", [&](cudaStream_t stream, int set) { plans[set].run(stream); }};
  std::vector<Contender> baselines;
  const std::optional<CublasLtGemm> library = open_cublaslt(s, m, n, k);
  if (library) {
    constexpr int kRounds = 15;
    const int best = library->find_best(operands, kRounds, s.stream());
    library->run(best, operands.front(), s.stream());
    require_right("cuBLASLt");
    for (const auto& [name, index] : {std::pair("cublaslt_best16", best), {"cublaslt_first", 0}}) {
      baselines.push_back({name, [&, index](cudaStream_t stream, int set) {
                             library->run(index, operands[set], stream);
                           }});
    }
  }
  const double peak = 4096.0 * s.device().sm_count * s.device().sm_clock_max_mhz * 1e-6;
  s.compare(
      {.flop = 2.0 * m * n * k,
       .limit = {peak, "4096 FLOP/clk/SM (dense bf16, H100 white paper) at the highest SM clock"}},
      sets, ours, baselines);
}

const Registration registration{{
    .name = "kernels/gemm",
    .question = "How fast is our bf16 matrix product, and how does it compare with cuBLASLt?",
    .kind = Kind::kernel,
    .cases = cases(),
    .targets = {Target::sm_90a},
    .pace = Pace::power,
    .kernels = kernels,
    .run = run,
}};

}  // namespace
}  // namespace assay::kernels
