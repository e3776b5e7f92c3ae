// SPDX-License-Identifier: Apache-2.0
// Dependent loads and atomics of one thread in the memory of another GPU, for every pair; on the
// diagonal, in the GPU's own memory by the same code. The ring fits in L2 of the GPU whose memory
// it is, where accesses from far are served, too.
#include "harness/cuda.hpp"
#include "harness/state.hpp"
#include "probes/link/far_latency.hpp"
#include "probes/link/peers.hpp"

namespace {

using assay::FarAccess;
using assay::Peer;

constexpr std::uint32_t kLines = 1 << 14;  // 2 MiB

FarAccess access_of(const assay::Case& c) {
  return c.text("access") == "atomic" ? FarAccess::atomic : FarAccess::load;
}

void run(assay::State& s) {
  assay::Peers peers(s, std::size_t{kLines} * 128);
  const auto latency = [&](Peer& gpu, Peer& peer) {
    const assay::OnDevice here(gpu.device);
    const assay::FarChain chain{.access = access_of(s.which()),
                                .memory = peer.arrived.data(),
                                .lines = kLines,
                                .end = gpu.memory.as<std::uint64_t>()};
    return assay::far_latency_ns(s, chain, *gpu.stream);
  };
  s.sample({.steps = 1}, [&] { return latency(peers[0], peers[1]); });
  s.add_series(peers.matrix("latency_ns", "ns", true, latency));
}

const assay::Registration registration{{
    .name = "link/peer/latency",
    .question = "How long does a load from, or an atomic on, another GPU's memory take?",
    .metrics = {{"latency_ns",
                 "Time of one access to another GPU's memory; the series has every pair, and each "
                 "GPU's own on the diagonal."}},
    .cases = {{.name = "load", .params = {{"access", "load"}}},
              {.name = "atomic", .params = {{"access", "atomic"}}}},
    .pace = assay::Pace::link,
    .kernels = [](const assay::Case& c,
                  assay::Target) { return assay::far_chain_use(access_of(c)); },
    .run = run,
}};

}  // namespace
