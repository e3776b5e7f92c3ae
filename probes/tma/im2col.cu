// SPDX-License-Identifier: Apache-2.0
// TMA's im2col mode: the operand of an implicit convolution, tap after tap for the same pixels, as
// a kernel's K loop asks for it. Of the nine taps of a filter, eight find in L2 what was brought
// for the first.

#include "harness/device.hpp"
#include "harness/machine/dram_limit.hpp"
#include "harness/ptx/descriptor/im2col_map.hpp"
#include "harness/ptx/tma_modes.cuh"
#include "harness/state.hpp"
#include "probes/tma/ring.cuh"

namespace {

using namespace assay;
using ptx::Im2colShape;

constexpr int kWarps = 8;
constexpr int kSide = 56, kChannels = 64;  // of an image, as in ResNet-50's first stage
constexpr std::uint32_t kImageBytes = kSide * kSide * kChannels * 2;

// Streams taps: the copy of tile t is tap t % taps^2 of pixels t / taps^2 * 64 and on.
__global__ void stream_columns(const __grid_constant__ CUtensorMap map, Im2colShape shape,
                               StreamWork work) {
#if __CUDA_ARCH__ >= 900
  const std::uint32_t taps = shape.taps, plane = kSide * kSide;
  stream_ring(work, [&](std::uint32_t tile, char* to, ptx::Mbarrier* barrier) {
    const std::uint32_t tap = tile % (taps * taps), pixel = tile / (taps * taps) * shape.pixels;
    const std::uint32_t image = pixel / plane, within = pixel % plane;
    const int half = shape.taps / 2;
    ptx::tma_load_im2col_4d(to, &map, barrier, 0, static_cast<int>(within % kSide) - half,
                            static_cast<int>(within / kSide) - half, static_cast<int>(image),
                            static_cast<std::uint16_t>(tap % taps),
                            static_cast<std::uint16_t>(tap / taps));
  });
#endif
}

// The same sum by plain loads.
__global__ void sum_columns(Im2colShape shape, std::uint32_t tiles, std::uint32_t* sum) {
  const int taps = shape.taps;
  std::uint32_t mine = 0;
  for (std::uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int tap = static_cast<int>(tile) % (taps * taps);
    const std::int64_t first = std::int64_t{tile / (taps * taps)} * shape.pixels;
    for (int pixel = static_cast<int>(threadIdx.x) / 32; pixel < shape.pixels;
         pixel += static_cast<int>(blockDim.x) / 32) {
      const std::int64_t from = shape.source(first, pixel, tap / taps, tap % taps);
      if (from < 0) continue;
      mine += reinterpret_cast<const std::uint32_t*>(static_cast<const char*>(shape.base) +
                                                     from * 2)[threadIdx.x % 32];
    }
  }
  add_sum(sum, mine);
}

// One tap of the first pixels, as shared memory then holds it.
__global__ void fetch_column(const __grid_constant__ CUtensorMap map, int half,
                             std::uint16_t tap_column, std::uint16_t tap_row, std::uint32_t bytes,
                             std::uint32_t* out) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) char slots[];
  __shared__ ptx::Mbarrier full;
  if (ptx::elect_one()) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(&full, bytes);
    ptx::tma_load_im2col_4d(slots, &map, &full, 0, -half, -half, 0, tap_column, tap_row);
  }
  __syncwarp();
  ptx::mbarrier_wait_parity(&full, 0);
  for (std::uint32_t at = threadIdx.x * 4; at < bytes; at += 128)
    out[at / 4] = *reinterpret_cast<const std::uint32_t*>(slots + at);
#endif
}

// Every tap of the first pixels, element by element, edges included.
void verify_columns(State& s, const Im2colShape& shape, const CUtensorMap& map) {
  const auto bytes = static_cast<std::uint32_t>(shape.pixels * shape.channels * 2);
  auto* out = s.allocate<std::uint32_t>(bytes / 4);
  const auto images = download(static_cast<const std::uint16_t*>(shape.base),
                               std::size_t{4} * kSide * kChannels, s.stream());
  for (int tap = 0; tap < shape.taps * shape.taps; ++tap) {
    fetch_column<<<1, 32, bytes, s.stream()>>>(
        map, shape.taps / 2, static_cast<std::uint16_t>(tap % shape.taps),
        static_cast<std::uint16_t>(tap / shape.taps), bytes, out);
    check(cudaGetLastError());
    const auto found = download(reinterpret_cast<const std::uint16_t*>(out), bytes / 2, s.stream());
    for (int pixel = 0; pixel < shape.pixels; ++pixel) {
      const std::int64_t from = shape.source(0, pixel, tap / shape.taps, tap % shape.taps);
      for (int c = 0; c < shape.channels; ++c) {
        const auto place = static_cast<std::uint32_t>(pixel * shape.channels + c) * 2;
        const std::uint16_t expected =
            from < 0 ? std::uint16_t{0} : images[static_cast<std::size_t>(from + c)];
        s.require(found[ptx::swizzle_offset(shape.swizzle, place) / 2] == expected,
                  "tap " + std::to_string(tap) + ": channel " + std::to_string(c) + " of pixel " +
                      std::to_string(pixel) + " is not the image's");
      }
    }
  }
}

void run(State& s) {
  Im2colShape shape{.images = 2048,
                    .rows = kSide,
                    .columns = kSide,
                    .image_channels = kChannels,
                    .taps = static_cast<int>(s.i64("taps"))};
  const auto images_bytes = static_cast<std::size_t>(shape.images) * kImageBytes;
  shape.base = s.allocate<char>(images_bytes);
  s.fill_random_bits(shape.base, images_bytes);
  const CUtensorMap map = ptx::encode_im2col_map(shape);
  verify_columns(s, shape, map);

  const auto ctas = static_cast<unsigned>(s.device().sm_count);
  const auto taps = static_cast<std::uint32_t>(shape.taps * shape.taps);
  const auto pixels = static_cast<std::uint32_t>(shape.images) * kSide * kSide;
  const auto slot = static_cast<std::uint32_t>(shape.pixels * shape.channels * 2);
  const std::uint32_t columns = pixels / static_cast<std::uint32_t>(shape.pixels);
  auto* sums = s.allocate<std::uint32_t>(2);
  check(cudaMemsetAsync(sums, 0, 2 * sizeof(*sums), s.stream()));
  // As many whole columns for each CTA, a multiple of its warps.
  StreamWork work{.array = static_cast<const char*>(shape.base),
                  .tiles = columns / ctas / kWarps * kWarps * taps,
                  .part_stride = 0,
                  .tile_stride = 1,
                  .passes = 1,
                  .slot_bytes = slot,
                  .slot_pitch = slot,
                  .stages = s.device().shared_bytes_per_block > (200 << 10) ? 2 : 1,
                  .consume = 1,
                  .zero = 0,
                  .sum = sums + 1,
                  .grid = {}};
  work.part_stride = work.tiles;
  const std::uint32_t shared = kWarps * static_cast<unsigned>(work.stages) * slot;
  check(cudaFuncSetAttribute(stream_columns, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared)));
  const auto launch = [&](cudaStream_t stream) {
    stream_columns<<<ctas, 32 * kWarps, shared, stream>>>(map, shape, work);
  };
  sum_columns<<<1024, 256, 0, s.stream()>>>(shape, work.tiles * ctas, sums);
  launch(s.stream());
  check(cudaGetLastError());
  const auto found = download(sums, 2, s.stream());
  s.require(found[0] == found[1], "what im2col copies brought does not add up");
  Work moved{.bytes = static_cast<double>(work.tiles) * ctas * slot};
  if (taps == 1) moved.limit = dram_limit(s.device());
  s.time(moved, launch);
}

const Registration registration{{
    .name = "tma/im2col",
    .question = "How fast do im2col copies bring the operand of an implicit convolution?",
    .cases = {{.name = "taps_3", .params = {{"taps", 3}}, .suite = Suite::full},
              {.name = "taps_1", .params = {{"taps", 1}}, .suite = Suite::full}},
    .targets = targets_with(Feature::tma),
    .pace = Pace::dram,
    .kernels =
        [](const Case&, Target) {
          return std::vector<KernelUse>{
              {.kernel = "stream_columns", .sass = {{"UTMALDG.4D.IM2COL", 1, 1}}}};
        },
    .run = run,
}};

}  // namespace
