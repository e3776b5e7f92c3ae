// SPDX-License-Identifier: Apache-2.0
// NCCL's collectives over the GPUs of one machine, with nccl-tests' definitions of size, time and
// bus bandwidth, checked bit by bit before they are timed.
#include <fmt/format.h>

#include "harness/error.hpp"
#include "harness/state.hpp"
#include "probes/collective/world.hpp"

namespace {

using assay::Operation;

constexpr std::int64_t kLargest = std::int64_t{1} << 30;

// 8 B to 1 GiB. all_gather starts where each of 8 ranks has a whole 16-byte vector to send:
// nccl-tests rounds anything smaller down to nothing.
std::vector<assay::Case> cases(const char* operation) {
  const std::int64_t smallest = std::string(operation) == "all_gather" ? 512 : 8;
  std::vector<assay::Case> all;
  for (const char* type : {"bf16", "e4m3"})
    for (std::int64_t bytes = smallest; bytes <= kLargest; bytes *= 8)
      for (const int gpus : {2, 4, 8})
        for (const bool graph : {false, true}) {
          const bool quick =
              std::string(type) == "bf16" && (bytes == kLargest ? !graph : bytes == smallest);
          all.push_back(
              {.name = fmt::format("{}/{}/{}gpus{}", type, bytes, gpus, graph ? "/graph" : ""),
               .params = {{"operation", operation},
                          {"type", type},
                          {"bytes", bytes},
                          {"gpus", gpus},
                          {"launch", graph ? "graph" : "stream"}},
               .suite = quick ? assay::Suite::quick : assay::Suite::full});
        }
  return all;
}

// The ranks that run `collective`; skips the case, saying why, where there are none.
assay::World& world_of(assay::State& s, const assay::Collective& collective) {
  namespace nccl = assay::nccl;
  int visible = 0;
  assay::check(cudaGetDeviceCount(&visible));
  if (visible < collective.ranks)
    s.skip(fmt::format("needs {} GPUs, {} visible", collective.ranks, visible));
  if (nccl::forbid_nvlink_multicast() == nccl::Multicast::allowed)
    s.add_flag("nvlink_multicast_allowed");
  try {
    const int version = nccl::Library::get().version;
    s.set_param("nccl", nccl::version_text(version));
    if (collective.type == ncclFloat8e4m3 && version < nccl::kFirstWithFp8)
      s.skip("NCCL has 8-bit floats from 2.24.3 on, this is " + nccl::version_text(version));
  } catch (const assay::Error& error) {
    if (error.code() == assay::ExitCode::unfit) s.skip(error.what());
    throw;
  }
  return assay::World::of(collective.ranks);
}

void run(assay::State& s) {
  const assay::Collective collective{
      .operation =
          s.text("operation") == "all_gather" ? Operation::all_gather : Operation::all_reduce,
      .type = s.text("type") == "bf16" ? ncclBfloat16 : ncclFloat8e4m3,
      .bytes = static_cast<std::size_t>(s.i64("bytes")),
      .ranks = static_cast<int>(s.i64("gpus"))};
  assay::World& world = world_of(s, collective);
  const std::uint64_t wrong = world.wrong_elements(collective);
  s.require(wrong == 0, fmt::format("{} elements are not what NCCL should deliver", wrong));

  const assay::Work work{.bus_bytes = assay::bus_bytes(collective)};
  if (s.text("launch") == "graph") {
    assay::World::Graph graph = world.capture(collective);
    s.sample(work, [&] { return graph.time_ns(); });
  } else {
    s.sample(work, [&] { return world.time_ns(collective); });
  }
  // What small messages cost is latency, which their bandwidth would only disguise.
  if (collective.bytes < (1 << 20)) s.lead_with("time_us");
}

// NCCL reduces 8-bit floats on sm_90 and newer only.
std::vector<assay::Case> reductions() {
  auto all = cases("all_reduce");
  for (assay::Case& c : all)
    if (c.text("type") == "e4m3") c.targets = assay::targets_with(assay::Feature::nccl_fp8);
  return all;
}

const assay::Registration all_reduce{{
    .name = "collective/all_reduce",
    .question = "How long does NCCL take to sum a buffer over the GPUs of a machine?",
    .kind = assay::Kind::collective,
    .cases = reductions(),
    .pace = assay::Pace::link,
    .run = run,
}};

const assay::Registration all_gather{{
    .name = "collective/all_gather",
    .question = "How long does NCCL take to give every GPU of a machine all the others' buffers?",
    .kind = assay::Kind::collective,
    .cases = cases("all_gather"),
    .pace = assay::Pace::link,
    .run = run,
}};

}  // namespace
