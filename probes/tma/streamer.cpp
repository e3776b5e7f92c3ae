// SPDX-License-Identifier: Apache-2.0
#include "probes/tma/streamer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "harness/device.hpp"
#include "harness/measure/device_kernels.hpp"

namespace assay {
namespace {

BoxForm form_of(const StreamJob& job) {
  BoxForm form = job.form;
  form.dimensions = job.mover->dimensions;
  form.box_bytes = job.pipeline.slot_bytes;
  return form;
}

bool in_registers(const Mover& mover) { return mover.access_bytes > 0 && mover.stages == 0; }

unsigned ctas_of(const State& s, const Pipeline& pipeline) {
  return static_cast<unsigned>(s.device().sm_count * pipeline.ctas_per_sm);
}

}  // namespace

Streamer::Streamer(State& s, std::uint64_t bytes)
    : s_(s), array_(s.allocate<char>(bytes)), bytes_(bytes), sums_(s.allocate<std::uint32_t>(2)) {
  s.fill_random_bits(array_, bytes);
}

std::uint64_t Streamer::most_in_flight(const State& s, int ctas_per_sm) {
  constexpr std::uint64_t kBeside = 4 << 10;  // of each CTA: barriers, and 1 KiB of the system's
  const Device& device = s.device();
  const auto ctas = static_cast<unsigned>(ctas_per_sm);
  const std::uint64_t of_cta =
      std::min(device.shared_bytes_per_block, device.shared_bytes_per_sm / ctas) - kBeside;
  return of_cta / 1024 * 1024 * ctas;
}

bool Streamer::fits(const StreamJob& job) const {
  const Pipeline& pipeline = job.pipeline;
  if (work_of(job).tiles == 0) return false;
  if (in_registers(*job.mover))
    return 32 * pipeline.warps * pipeline.ctas_per_sm <= s_.device().threads_per_sm;
  return pipeline.in_flight() <= most_in_flight(s_, pipeline.ctas_per_sm);
}

BoxPlan Streamer::plan_of(const StreamJob& job) const { return plan_boxes(form_of(job), bytes_); }

StreamWork Streamer::work_of(const StreamJob& job) const {
  const unsigned ctas = ctas_of(s_, job.pipeline);
  const std::uint32_t slot = job.pipeline.slot_bytes;
  StreamWork work{.array = array_,
                  .tiles = static_cast<std::uint32_t>(bytes_ / slot / ctas),
                  .part_stride = 1,
                  .tile_stride = ctas,
                  .passes = job.passes,
                  .slot_bytes = slot,
                  .slot_pitch = slot,
                  .stages = job.pipeline.stages,
                  .consume = job.consume,
                  .zero = 0,
                  .sum = sums_ + 1,
                  .grid = {}};
  // As many tiles for each warp, else the one with more than others ends last; and all together
  // whole rows of boxes, whose bytes are one piece of the array.
  const auto warps = static_cast<std::uint32_t>(job.pipeline.warps);
  const std::uint32_t across = job.form.boxes_across;
  const std::uint32_t unit = std::lcm(warps, across / std::gcd(across, ctas));
  if (work.tiles >= unit || across > 1) work.tiles -= work.tiles % unit;
  if (!job.interleaved) {
    work.part_stride = work.tiles;
    work.tile_stride = 1;
  }
  if (job.mover->dimensions > 0) {
    work.grid = plan_of(job).grid;
    work.slot_pitch = box_pitch(form_of(job));
  }
  return work;
}

double Streamer::bytes(const StreamJob& job) const {
  const StreamWork work = work_of(job);
  return static_cast<double>(ctas_of(s_, job.pipeline)) * work.tiles * work.slot_bytes *
         work.passes;
}

void Streamer::launch(const StreamJob& job, cudaStream_t stream) {
  const Pipeline& pipeline = job.pipeline;
  const StreamWork work = work_of(job);
  CUtensorMap map = {};
  if (job.mover->dimensions > 0) {
    ptx::TensorMapShape shape = plan_of(job).shape;
    shape.base = array_;
    map = ptx::encode_tensor_map(shape);
  }
  const std::uint32_t shared =
      in_registers(*job.mover)
          ? 0
          : work.slot_pitch * static_cast<unsigned>(pipeline.warps * pipeline.stages);
  const auto* kernel = reinterpret_cast<const void*>(pipeline.variant->kernel);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared)));
  // Without asking, as little of L1 becomes shared memory as one CTA needs.
  if (pipeline.ctas_per_sm > 1)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxShared));
  StreamWork argument = work;
  void* arguments[] = {&map, &argument};
  check(cudaLaunchKernel(kernel, dim3(ctas_of(s_, pipeline)),
                         dim3(static_cast<unsigned>(32 * pipeline.warps)), arguments, shared,
                         stream));
}

void Streamer::verify(const StreamJob& job) {
  StreamJob consuming = job;
  consuming.consume = true;
  check(cudaMemsetAsync(sums_, 0, 2 * sizeof(*sums_), s_.stream()));
  sum_array(array_, static_cast<std::uint64_t>(bytes(job)) / job.passes, sums_, s_.stream());
  launch(consuming, s_.stream());
  const std::vector<std::uint32_t> sums = download(sums_, 2, s_.stream());
  const std::uint32_t expected = sums[0] * job.passes;
  s_.require(sums[1] == expected,
             fmt::format("{} with {} bytes in flight: what arrived adds up to {:#x}, not {:#x}",
                         job.mover->name, job.pipeline.in_flight(), sums[1], expected));
  if (job.mover->dimensions > 0) verify_boxes(job);
}

void Streamer::verify_boxes(const StreamJob& job) {
  const BoxPlan plan = plan_of(job);
  const BoxForm form = form_of(job);
  ptx::TensorMapShape shape = plan.shape;
  shape.base = array_;
  const CUtensorMap map = ptx::encode_tensor_map(shape);
  const Buffer out(form.box_bytes);
  for (const std::uint32_t tile : {0u, 1u, plan.tiles - 1}) {
    fetch_box(form.dimensions, map, plan.grid, tile, form.box_bytes, out.as<std::uint32_t>(),
              s_.stream());
    const std::vector<char> found = download(out.as<const char>(), form.box_bytes, s_.stream());
    const std::uint32_t elements = form.box_bytes / plan.element_bytes;
    const std::uint64_t first = plan.source_offset(tile, 0);
    const std::uint64_t span = plan.source_offset(tile, elements - 1) + plan.element_bytes - first;
    const std::vector<char> source = download(array_ + first, span, s_.stream());
    for (std::uint32_t at = 0; at < form.box_bytes; ++at) {
      const std::uint64_t from = plan.source_offset(tile, at / plan.element_bytes) - first;
      s_.require(
          found[ptx::swizzle_offset(shape.swizzle, at)] == source[from + at % plan.element_bytes],
          fmt::format("box {} of {} dimensions, swizzle {}: byte {} is not the array's", tile,
                      form.dimensions, form.swizzle, at));
    }
  }
}

double Streamer::gb_per_s(const StreamJob& job) {
  constexpr std::uint64_t kEnqueueNs = 20'000;  // longer than it takes to enqueue the launch
  delay(kEnqueueNs, s_.stream());
  begin_.record(s_.stream());
  launch(job, s_.stream());
  end_.record(s_.stream());
  return bytes(job) / elapsed_ns(begin_, end_);
}

}  // namespace assay
