// SPDX-License-Identifier: Apache-2.0
#include "kernels/baselines/cublaslt.hpp"

#include <cublasLt.h>
#include <fmt/format.h>

#include <source_location>
#include <string>
#include <tuple>
#include <utility>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "harness/machine/dynamic_library.hpp"

namespace assay::kernels {
namespace {

struct Api {
  DynamicLibrary library = DynamicLibrary::open(Library::cublaslt);
  decltype(&cublasLtCreate) create = library["cublasLtCreate"];
  decltype(&cublasLtDestroy) destroy = library["cublasLtDestroy"];
  decltype(&cublasLtMatmul) matmul = library["cublasLtMatmul"];
  decltype(&cublasLtMatmulDescCreate) desc_create = library["cublasLtMatmulDescCreate"];
  decltype(&cublasLtMatmulDescDestroy) desc_destroy = library["cublasLtMatmulDescDestroy"];
  decltype(&cublasLtMatmulDescSetAttribute) desc_set = library["cublasLtMatmulDescSetAttribute"];
  decltype(&cublasLtMatrixLayoutCreate) layout_create = library["cublasLtMatrixLayoutCreate"];
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = library["cublasLtMatrixLayoutDestroy"];
  decltype(&cublasLtMatmulPreferenceCreate) preference_create =
      library["cublasLtMatmulPreferenceCreate"];
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy =
      library["cublasLtMatmulPreferenceDestroy"];
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set =
      library["cublasLtMatmulPreferenceSetAttribute"];
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = library["cublasLtMatmulAlgoGetHeuristic"];
};

const Api& api() {
  static const Api loaded;
  return loaded;
}

void check_lt(cublasStatus_t status, std::source_location where = std::source_location::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ExitCode::failed, fmt::format("{}:{}: cuBLASLt status {}", where.file_name(),
                                            where.line(), static_cast<int>(status)));
}

constexpr int kHeuristics = 16;
constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

cudaDataType_t data_type(const std::string& type) {
  if (type == "bf16") return CUDA_R_16BF;
  throw Error(ExitCode::unfit, fmt::format("cuBLASLt is not asked for {} here", type));
}

}  // namespace

// cuBLASLt thinks in column-major matrices. A row-major m x n matrix is a column-major n x m one,
// so it computes D^T (n x m) = B * A^T: its first operand is our B, stored k x n and transposed,
// its second our A, stored k x m. This is the "TN" form, the one all its types support.
struct CublasLtGemm::Impl {
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, out = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> found;
  std::vector<Operands> sets;
  Buffer workspace;

  Impl() = default;
  Impl(const Impl&) = delete;  // one owner
  ~Impl() {
    if (out) api().layout_destroy(out);
    if (second) api().layout_destroy(second);
    if (first) api().layout_destroy(first);
    if (operation) api().desc_destroy(operation);
    if (handle) api().destroy(handle);
  }
};

CublasLtGemm::CublasLtGemm(const CublasLtProblem& problem, std::vector<Operands> sets)
    : impl_(std::make_unique<Impl>()) {
  Impl& s = *impl_;
  s.sets = std::move(sets);
  const cudaDataType_t ab = data_type(problem.ab), d = data_type(problem.d);
  const auto [m, n, k] = std::tuple(problem.m, problem.n, problem.k);
  check_lt(api().create(&s.handle));
  check_lt(api().desc_create(&s.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const cublasOperation_t transposed = CUBLAS_OP_T;
  check_lt(
      api().desc_set(s.operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed));
  check_lt(api().layout_create(&s.first, ab, k, n, k));
  check_lt(api().layout_create(&s.second, ab, k, m, k));
  check_lt(api().layout_create(&s.out, d, n, m, n));

  cublasLtMatmulPreference_t preference = nullptr;
  check_lt(api().preference_create(&preference));
  const std::size_t workspace = kWorkspaceBytes;
  check_lt(api().preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                sizeof workspace));
  s.found.resize(kHeuristics);
  int count = 0;
  const cublasStatus_t status =
      api().heuristic(s.handle, s.operation, s.first, s.second, s.out, s.out, preference,
                      kHeuristics, s.found.data(), &count);
  api().preference_destroy(preference);
  s.found.resize(count);
  std::erase_if(s.found, [](const auto& result) { return result.state != CUBLAS_STATUS_SUCCESS; });
  if (status != CUBLAS_STATUS_SUCCESS || s.found.empty()) {
    throw Error(ExitCode::unfit,
                fmt::format("cuBLASLt has no algorithm for m={} n={} k={} (status {})", m, n, k,
                            static_cast<int>(status)));
  }
  s.workspace = Buffer(kWorkspaceBytes);
}

CublasLtGemm::~CublasLtGemm() = default;

int CublasLtGemm::asked() const { return kHeuristics; }

int CublasLtGemm::candidates() const { return static_cast<int>(impl_->found.size()); }

void CublasLtGemm::run(int candidate, int set, cudaStream_t stream) const {
  const Impl& s = *impl_;
  const Operands& operands = s.sets.at(static_cast<std::size_t>(set));
  const cublasLtMatmulAlgo_t& algorithm = s.found.at(static_cast<std::size_t>(candidate)).algo;
  const float alpha = 1, beta = 0;
  check_lt(api().matmul(s.handle, s.operation, &alpha, operands.b, s.first, operands.a, s.second,
                        &beta, operands.d, s.out, operands.d, s.out, &algorithm, s.workspace.data(),
                        kWorkspaceBytes, stream));
}

}  // namespace assay::kernels
