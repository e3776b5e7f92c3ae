// SPDX-License-Identifier: Apache-2.0
#include "probes/placement/hold.hpp"

#include <string>

#include "harness/device.hpp"
#include "harness/ptx/cluster.cuh"

namespace assay {
namespace {

constexpr int kThreads = 32;
constexpr std::size_t kReservedBytes = 1024;  // of each CTA's shared memory, by the system

__global__ void hold(CtaPlace* places, std::uint32_t hold_ns) {
  if (threadIdx.x > 0) return;
  const std::uint64_t begin_ns = ptx::globaltimer();
  std::uint64_t end_ns = begin_ns;
  while (end_ns - begin_ns < hold_ns) end_ns = ptx::globaltimer();
#if __CUDA_ARCH__ >= 900
  places[blockIdx.x] = {begin_ns,
                        end_ns,
                        ptx::smid(),
                        ptx::cluster_id_x(),
                        ptx::cluster_cta_rank(),
                        ptx::cluster_cta_count()};
#else
  places[blockIdx.x] = {begin_ns, end_ns, ptx::smid(), blockIdx.x, 0, 1};
#endif
}

// Points into itself.
struct Configuration {
  Configuration(const HoldShape& shape, std::size_t shared, cudaStream_t stream) {
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {static_cast<unsigned>(shape.cluster), 1, 1};
    config.gridDim = dim3(static_cast<unsigned>(shape.ctas));
    config.blockDim = dim3(kThreads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = shape.cluster > 1 ? 1 : 0;
  }
  Configuration(const Configuration&) = delete;
  Configuration& operator=(const Configuration&) = delete;

  cudaLaunchAttribute cluster = {};
  cudaLaunchConfig_t config = {};
};

}  // namespace

Holder::Holder(State& s) : s_(s), places_(s.allocate<CtaPlace>(kMostPlaces)) {
  check(cudaFuncSetAttribute(hold, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(s.device().shared_bytes_per_block)));
  check(cudaFuncSetAttribute(hold, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared));
  if (s.device().major >= 9)
    check(cudaFuncSetAttribute(hold, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
}

// The most that lets so many CTAs share an SM, so that not one more does.
std::size_t Holder::shared_bytes(int residents) const {
  constexpr std::size_t kGranule = 128;
  const std::size_t share =
      s_.device().shared_bytes_per_sm / static_cast<std::size_t>(residents) / kGranule * kGranule;
  const std::size_t bytes =
      std::min<std::size_t>(share - kReservedBytes, s_.device().shared_bytes_per_block);
  int fit = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, hold, kThreads, bytes));
  s_.require(fit == residents, "with " + std::to_string(bytes) + " bytes of shared memory each, " +
                                   std::to_string(fit) + " CTAs fit an SM, not " +
                                   std::to_string(residents));
  return bytes;
}

int Holder::resident_clusters(int size, int residents) const {
  if (size == 1) return s_.device().sm_count * residents;
  const Configuration c({.ctas = size, .cluster = size}, shared_bytes(residents), s_.stream());
  int clusters = 0;
  if (cudaOccupancyMaxActiveClusters(&clusters, hold, &c.config) == cudaSuccess) return clusters;
  cudaGetLastError();  // the question is answered: none
  return 0;
}

void Holder::launch(const HoldShape& shape, CtaPlace* places, cudaStream_t stream) const {
  const Configuration c(shape, shared_bytes(shape.residents), stream);
  check(cudaLaunchKernelEx(&c.config, hold, places, shape.hold_ns));
}

std::vector<CtaPlace> Holder::read(const CtaPlace* places, int ctas) const {
  std::vector<CtaPlace> found = download(places, static_cast<std::size_t>(ctas), s_.stream());
  for (const CtaPlace& p : found)
    s_.require(p.begin_ns > 0 && p.end_ns > p.begin_ns && p.rank < p.cluster_size,
               "CTA " + std::to_string(&p - found.data()) + " of " + std::to_string(ctas) +
                   " left no place");
  return found;
}

std::vector<CtaPlace> Holder::run(const HoldShape& shape) { return run_together(shape, 1).front(); }

std::vector<std::vector<CtaPlace>> Holder::run_together(const HoldShape& shape, int launches) {
  const auto all = static_cast<std::size_t>(shape.ctas) * static_cast<std::size_t>(launches);
  s_.require(all <= kMostPlaces, "more CTAs than there is room for");
  check(cudaMemsetAsync(places_, 0, all * sizeof(CtaPlace), s_.stream()));
  for (int i = 0; i < launches; ++i) launch(shape, places_ + i * shape.ctas, s_.stream());
  std::vector<std::vector<CtaPlace>> found;
  for (int i = 0; i < launches; ++i) found.push_back(read(places_ + i * shape.ctas, shape.ctas));
  return found;
}

std::vector<KernelUse> hold_kernels() {
  return {{.kernel = "hold", .sass = {{"S2R|S2UR|CS2R", 2, INT_MAX, SassWhere::kernel}}}};
}

}  // namespace assay
