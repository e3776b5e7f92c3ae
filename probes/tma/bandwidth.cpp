// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth through bulk copies and TMA box loads, every word that arrives added up.
//
// 160 KiB in flight on each SM where shared memory holds them, far more than the latency needs
// (tma/pipeline has the curve); each SM reads a part of the array of its own from begin to end.
#include <algorithm>

#include "harness/device.hpp"
#include "harness/machine/dram_limit.hpp"
#include "probes/tma/streamer.hpp"

namespace assay {
namespace {

constexpr std::uint64_t kArrayBytes = std::uint64_t{4} << 30;  // far larger than any L2
constexpr std::uint64_t kInFlight = 160 << 10;

struct Setting {  // by what differs from the plain case
  std::string name = {};
  int dimensions = 0;  // 0: plain bulk copies
  std::uint32_t box_bytes = 16384;
  const char* swizzle = "128B";
  std::uint32_t across = 1;
  int l2_promotion = 128;
  bool interleaved = false;
};

Case case_of(const Setting& setting) {
  Case c{.name = setting.name,
         .params = {{"copy_bytes", setting.box_bytes},
                    {"order", setting.interleaved ? "interleaved" : "parts"}},
         .suite = setting.name.empty() && (setting.dimensions == 0 || setting.dimensions == 2)
                      ? Suite::quick
                      : Suite::full};
  c.params["dimensions"] = setting.dimensions;
  if (setting.dimensions == 0) return c;
  c.params["type"] = "bf16";
  c.params["swizzle"] = setting.swizzle;
  c.params["boxes_across"] = setting.across;
  c.params["l2_promotion_bytes"] = setting.l2_promotion;
  return c;
}

const Mover& mover_of(const Case& c) {
  const std::int64_t dimensions = c.i64("dimensions");
  return mover(dimensions == 0 ? "bulk" : "tensor_" + std::to_string(dimensions) + "d");
}

void run(State& s) {
  const Case& c = s.which();
  StreamJob job{
      .mover = &mover_of(c), .interleaved = c.text("order") == "interleaved", .consume = true};
  if (job.mover->dimensions > 0)
    job.form = {.type = c.text("type"),
                .swizzle = c.text("swizzle"),
                .boxes_across = static_cast<std::uint32_t>(c.i64("boxes_across")),
                .l2_promotion = static_cast<int>(c.i64("l2_promotion_bytes"))};
  const auto box_bytes = static_cast<std::uint32_t>(c.i64("copy_bytes"));
  const std::uint64_t in_flight =
      std::min({kInFlight, Streamer::most_in_flight(s) / box_bytes * box_bytes,
                std::uint64_t{kMostSlots} * box_bytes});
  const auto pipeline = plan_pipeline(*job.mover, in_flight, box_bytes);
  s.require(pipeline.has_value(), "no pipeline of such boxes");
  job.pipeline = *pipeline;
  s.set_param("bytes_in_flight_per_sm", static_cast<std::int64_t>(in_flight));
  Streamer streamer(s, box_bytes < 256 ? kArrayBytes / 8 : kArrayBytes);
  streamer.verify(job);
  s.time({.bytes = streamer.bytes(job), .limit = dram_limit(s.device())},
         [&](cudaStream_t stream) { streamer.launch(job, stream); });
}

Probe probe_of(std::string name, std::string question, std::vector<Case> cases) {
  return {.name = std::move(name),
          .question = std::move(question),
          .cases = std::move(cases),
          .targets = targets_with(Feature::tma),
          .pace = Pace::dram,
          .kernels =
              [](const Case& c, Target target) {
                const Mover* one = &mover_of(c);
                return mover_kernels({&one, 1}, target);
              },
          .run = run};
}

const Registration bulk{probe_of(
    "tma/bulk/bandwidth", "How fast do plain bulk copies bring an array from DRAM to the SMs?",
    {case_of({}), case_of({.name = "bytes_8192", .box_bytes = 8192}),
     case_of({.name = "bytes_32768", .box_bytes = 32768}),
     case_of({.name = "interleaved", .interleaved = true})})};

const Registration bulk_16b{probe_of(
    "tma/bulk_16b/bandwidth", "How much do bulk copies of 16 bytes, the smallest, bring from DRAM?",
    {{.params = {{"dimensions", 0}, {"copy_bytes", 16}, {"order", "parts"}},
      .suite = Suite::full}})};

const Registration tensor_1d{probe_of(
    "tma/tensor_1d/bandwidth", "How fast do one-dimensional TMA loads bring an array from DRAM?",
    {case_of({.dimensions = 1, .box_bytes = 512, .swizzle = "none"})})};

// A matrix of 4096 columns in boxes of 64, a 128-byte swizzle row, as a GEMM reads its operands.
const Registration tensor_2d{probe_of(
    "tma/tensor_2d/bandwidth", "How fast do TMA box loads bring a matrix from DRAM to the SMs?",
    {case_of({.dimensions = 2, .across = 64}),
     case_of({.name = "bytes_8192", .dimensions = 2, .box_bytes = 8192, .across = 64}),
     case_of({.name = "bytes_32768", .dimensions = 2, .box_bytes = 32768, .across = 64}),
     case_of({.name = "interleaved", .dimensions = 2, .across = 64, .interleaved = true}),
     case_of({.name = "contiguous", .dimensions = 2}),
     case_of({.name = "wide", .dimensions = 2, .swizzle = "none", .across = 16}),
     case_of({.name = "promotion_0", .dimensions = 2, .across = 64, .l2_promotion = 0}),
     case_of({.name = "promotion_256", .dimensions = 2, .across = 64, .l2_promotion = 256})})};

const Registration tensor_3d{probe_of("tma/tensor_3d/bandwidth",
                                      "How fast do 3-D TMA box loads bring a tensor from DRAM?",
                                      {case_of({.dimensions = 3})})};
const Registration tensor_4d{probe_of("tma/tensor_4d/bandwidth",
                                      "How fast do 4-D TMA box loads bring a tensor from DRAM?",
                                      {case_of({.dimensions = 4})})};
const Registration tensor_5d{probe_of("tma/tensor_5d/bandwidth",
                                      "How fast do 5-D TMA box loads bring a tensor from DRAM?",
                                      {case_of({.dimensions = 5})})};

}  // namespace
}  // namespace assay
