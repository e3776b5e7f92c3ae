// SPDX-License-Identifier: Apache-2.0
#include "kernels/baselines/cublaslt.hpp"

#include <cublasLt.h>
#include <fmt/format.h>

#include <map>
#include <source_location>
#include <string>
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

constexpr int kHeuristics = 32;
constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

cudaDataType_t data_type(const std::string& type) {
  static const std::map<std::string, cudaDataType_t> types = {
      {"bf16", CUDA_R_16BF},    {"f16", CUDA_R_16F},      {"f32", CUDA_R_32F},
      {"e4m3", CUDA_R_8F_E4M3}, {"e5m2", CUDA_R_8F_E5M2}, {"e2m1", CUDA_R_4F_E2M1}};
  const auto found = types.find(type);
  if (found == types.end())
    throw Error(ExitCode::unfit, fmt::format("cuBLASLt is not asked for {} here", type));
  return found->second;
}

bool is_narrow(const std::string& type) {
  return type == "e4m3" || type == "e5m2" || type == "e2m1";
}

std::int32_t scale_mode(CublasLtScale scale) {
  switch (scale) {
    case CublasLtScale::row:
      return CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
    case CublasLtScale::block128:
      return CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F;
    case CublasLtScale::block128x128:
      return CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;
    case CublasLtScale::block32_ue8m0:
      return CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0;
    case CublasLtScale::block16_ue4m3:
      return CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3;
    case CublasLtScale::none:
    case CublasLtScale::tensor:
      break;
  }
  return CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
}

cublasLtEpilogue_t epilogue_of(const CublasLtProblem& p) {
  if (p.gelu) return p.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  return p.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

}  // namespace

std::string CublasLtProblem::text() const {
  return fmt::format("{} x {} -> {} {} m={} n={} k={}", a, b, d, layout, m, n, k);
}

std::string CublasLtProblem::refusal() const {
  if (layout != "nt" && layout != "nn" && layout != "tn" && layout != "tt")
    return "there is no layout " + layout;
  for (const std::string* type : {&a, &b, &d})
    if (type->empty()) return "a type is not given";
  if (is_narrow(a) != is_narrow(b)) return "8-bit and 16-bit operands do not mix";
  if (!is_narrow(a) && (scale_a != CublasLtScale::none || scale_b != CublasLtScale::none))
    return "scales belong to operands of 8 and 4 bits";
  // cuBLAS 13.0, "cublasLtMatmul()": its tables of supported types.
  if (is_narrow(a) && layout != "nt") return "8-bit operands are done in layout nt only";
  if (a == "e5m2" && b == "e5m2") return "e5m2 is multiplied by e4m3 only";
  if (is_narrow(a) && d == "f32" && bias) return "the bias of an f32 result is bf16 there";
  return "";
}

// cuBLASLt thinks in column-major matrices. A row-major m x n matrix is a column-major n x m one,
// so it computes D^T (n x m) = B^T * A^T: its first operand is our B, its second our A, and what is
// stored as its transpose here is not there. Our nt is its "TN", the one form all its types
// support.
struct CublasLtGemm::Impl {
  CublasLtProblem problem;
  cublasLtHandle_t handle = nullptr;
  std::vector<cublasLtMatmulDesc_t> operations;  // of each set: they hold pointers
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
    for (const cublasLtMatmulDesc_t operation : operations) api().desc_destroy(operation);
    if (handle) api().destroy(handle);
  }

  void add_operation(const Operands& set);
  void make_layouts();
  void find_algorithms();
};

void CublasLtGemm::Impl::add_operation(const Operands& set) {
  cublasLtMatmulDesc_t operation = nullptr;
  check_lt(api().desc_create(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  operations.push_back(operation);
  const auto give = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    check_lt(api().desc_set(operation, attribute, &value, sizeof value));
  };
  give(CUBLASLT_MATMUL_DESC_TRANSA, problem.layout[1] == 't' ? CUBLAS_OP_T : CUBLAS_OP_N);
  give(CUBLASLT_MATMUL_DESC_TRANSB, problem.layout[0] == 't' ? CUBLAS_OP_T : CUBLAS_OP_N);
  give(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(problem));
  if (problem.bias) {
    give(CUBLASLT_MATMUL_DESC_BIAS_POINTER, set.bias);
    give(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<std::int32_t>(data_type(problem.d)));
  }
  if (is_narrow(problem.a))
    give(CUBLASLT_MATMUL_DESC_FAST_ACCUM, static_cast<std::int8_t>(problem.fast_accumulation));
  if (problem.scale_b != CublasLtScale::none) {
    give(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, scale_mode(problem.scale_b));
    give(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, set.scale_b);
  }
  if (problem.scale_a != CublasLtScale::none) {
    give(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, scale_mode(problem.scale_a));
    give(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, set.scale_a);
  }
}

void CublasLtGemm::Impl::make_layouts() {
  const auto m = static_cast<std::uint64_t>(problem.m), n = static_cast<std::uint64_t>(problem.n),
             k = static_cast<std::uint64_t>(problem.k);
  // Rows, columns and the distance of columns, column-major.
  const auto create = [](cublasLtMatrixLayout_t* layout, const std::string& type,
                         std::uint64_t rows, std::uint64_t columns) {
    check_lt(api().layout_create(layout, data_type(type), rows, columns,
                                 static_cast<std::int64_t>(rows)));
  };
  const bool b_is_rows_of_k = problem.layout[1] == 't', a_is_rows_of_k = problem.layout[0] == 'n';
  create(&first, problem.b, b_is_rows_of_k ? k : n, b_is_rows_of_k ? n : k);
  create(&second, problem.a, a_is_rows_of_k ? k : m, a_is_rows_of_k ? m : k);
  create(&out, problem.d, n, m);
}

void CublasLtGemm::Impl::find_algorithms() {
  cublasLtMatmulPreference_t preference = nullptr;
  check_lt(api().preference_create(&preference));
  const std::size_t most = kWorkspaceBytes;
  check_lt(api().preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most,
                                sizeof most));
  found.resize(kHeuristics);
  int count = 0;
  const cublasStatus_t status = api().heuristic(handle, operations.front(), first, second, out, out,
                                                preference, kHeuristics, found.data(), &count);
  api().preference_destroy(preference);
  found.resize(static_cast<std::size_t>(count));
  std::erase_if(found, [](const auto& result) { return result.state != CUBLAS_STATUS_SUCCESS; });
  if (status != CUBLAS_STATUS_SUCCESS || found.empty()) {
    throw Error(ExitCode::unfit, fmt::format("cuBLASLt has no algorithm for {} (status {})",
                                             problem.text(), static_cast<int>(status)));
  }
}

CublasLtGemm::CublasLtGemm(const CublasLtProblem& problem, std::vector<Operands> sets)
    : impl_(std::make_unique<Impl>()) {
  if (const std::string reason = problem.refusal(); !reason.empty())
    throw Error(ExitCode::unfit, "cuBLASLt cannot do " + problem.text() + ": " + reason);
  Impl& s = *impl_;
  s.problem = problem;
  s.sets = std::move(sets);
  check_lt(api().create(&s.handle));
  for (const Operands& set : s.sets) s.add_operation(set);
  s.make_layouts();
  s.find_algorithms();
  s.workspace = Buffer(kWorkspaceBytes);
}

CublasLtGemm::~CublasLtGemm() = default;

int CublasLtGemm::asked() const { return kHeuristics; }

int CublasLtGemm::candidates() const { return static_cast<int>(impl_->found.size()); }

std::string CublasLtGemm::differs() const {
  return impl_->problem.gelu_differs ? "its GELU is by tanh" : "";
}

void CublasLtGemm::run(int candidate, int set, cudaStream_t stream) const {
  const Impl& s = *impl_;
  const auto which = static_cast<std::size_t>(set);
  const Operands& operands = s.sets.at(which);
  const cublasLtMatmulAlgo_t& algorithm = s.found.at(static_cast<std::size_t>(candidate)).algo;
  const void* c = s.problem.beta != 0 ? operands.c : operands.d;
  check_lt(api().matmul(s.handle, s.operations.at(which), &s.problem.alpha, operands.b, s.first,
                        operands.a, s.second, &s.problem.beta, c, s.out, operands.d, s.out,
                        &algorithm, s.workspace.data(), kWorkspaceBytes, stream));
}

}  // namespace assay::kernels
