// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/stamped.hpp"

#include <array>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "harness/ptx/launch_control.cuh"
#include "harness/ptx/stopwatch.cuh"

namespace assay {
namespace {

__global__ void empty() {}

__global__ void empty_programmatic() {
#if __CUDA_ARCH__ >= 900
  ptx::launch_dependents();
  ptx::wait_for_dependencies();
#endif
}

__device__ void stamp(Stamp* own, const Stamp* predecessor, std::uint32_t work_ns,
                      std::uint64_t begin_ns, std::uint64_t ready_ns, std::uint32_t step) {
  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  // Past L1, which a programmatic launch does not empty between the two kernels.
  const std::uint32_t serial = __ldcg(&predecessor->serial) + step;
  std::uint64_t end_ns = ptx::globaltimer();
  while (end_ns - ready_ns < work_ns) end_ns = ptx::globaltimer();
  *own = {begin_ns, ready_ns, end_ns, ptx::smid(), serial};
}

__global__ void stamped(Stamp* own, const Stamp* predecessor, std::uint32_t work_ns) {
  const std::uint64_t begin_ns = ptx::globaltimer();
  stamp(own, predecessor, work_ns, begin_ns, begin_ns, 1);
}

__global__ void stamped_programmatic(Stamp* own, const Stamp* predecessor, std::uint32_t work_ns) {
#if __CUDA_ARCH__ >= 900
  const std::uint64_t begin_ns = ptx::globaltimer();
  ptx::launch_dependents();
  ptx::wait_for_dependencies();
  stamp(own, predecessor, work_ns, begin_ns, ptx::globaltimer(), 1);
#endif
}

__global__ void raise_flag(volatile std::uint32_t* flag, std::uint32_t value) { *flag = value; }

template <int kBytes>
struct Further {
  static constexpr int kWords = (kBytes - kStampedArgumentBytes) / 4;
  std::uint32_t words[kWords];
};

// The first and the last word count, so that the arguments must arrive, and in whole.
template <int kBytes>
__global__ void stamped_with(Stamp* own, const Stamp* predecessor, std::uint32_t work_ns,
                             Further<kBytes> further) {
  const std::uint64_t begin_ns = ptx::globaltimer();
  constexpr int kLast = Further<kBytes>::kWords - 1;
  const std::uint32_t step = further.words[0] + (kLast > 0 ? further.words[kLast] : 0);
  stamp(own, predecessor, work_ns, begin_ns, begin_ns, step);
}

template <class F>
const void* address(F* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

}  // namespace

const void* empty_kernel(bool programmatic) {
  return programmatic ? address(empty_programmatic) : address(empty);
}

const void* stamped_kernel(bool programmatic) {
  return programmatic ? address(stamped_programmatic) : address(stamped);
}

const void* flag_kernel() { return address(raise_flag); }

const void* stamped_kernel_with(int argument_bytes) {
  switch (argument_bytes) {
    case 24:
      return address(stamped_with<24>);
    case 64:
      return address(stamped_with<64>);
    case 256:
      return address(stamped_with<256>);
    case 1024:
      return address(stamped_with<1024>);
    case 4096:
      return address(stamped_with<4096>);
    case 16384:
      return address(stamped_with<16384>);
    case 32764:
      return address(stamped_with<32764>);
    default:
      throw Error(ExitCode::failed, "no stamped kernel takes so many bytes of arguments: add it");
  }
}

void launch(const void* kernel, const LaunchShape& shape, void** arguments, cudaStream_t stream) {
  std::array<cudaLaunchAttribute, 3> attributes{};
  cudaLaunchConfig_t config{};
  config.gridDim = shape.ctas;
  config.blockDim = shape.threads;
  config.stream = stream;
  config.attrs = attributes.data();
  const auto next = [&](cudaLaunchAttributeID id) -> cudaLaunchAttributeValue& {
    attributes[config.numAttrs].id = id;
    return attributes[config.numAttrs++].val;
  };
  if (shape.cluster) next(cudaLaunchAttributeClusterDimension).clusterDim = {shape.cluster, 1, 1};
  if (shape.cooperative) next(cudaLaunchAttributeCooperative).cooperative = 1;
  if (shape.programmatic)
    next(cudaLaunchAttributeProgrammaticStreamSerialization)
        .programmaticStreamSerializationAllowed = 1;
  check(cudaLaunchKernelExC(&config, kernel, arguments));
}

}  // namespace assay
