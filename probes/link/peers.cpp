// SPDX-License-Identifier: Apache-2.0
#include "probes/link/peers.hpp"

#include <fmt/format.h>

#include "harness/callable.hpp"
#include "harness/device.hpp"
#include "harness/measure/device_kernels.hpp"

namespace assay {
namespace {

// Two GPUs that were introduced before, by an earlier case of this process, stay so.
void introduce(int gpu, int peer) {
  const OnDevice here(gpu);
  if (const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
      status == cudaErrorPeerAccessAlreadyEnabled)
    cudaGetLastError();  // or it would be the next call's
  else
    check(status);
}

}  // namespace

Peer::Peer(int on, std::size_t bytes) : device(on), sm_count(0) {
  const OnDevice here(device);
  check(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device));
  memory = Buffer(bytes);
  arrived = Buffer(bytes);
  stream = std::make_unique<Stream>();
  begin = std::make_unique<Event>();
  end = std::make_unique<Event>();
  random_bits(memory.data(), bytes, static_cast<std::uint64_t>(device) + 1, *stream);
  check(cudaMemsetAsync(arrived.data(), 0, bytes, *stream));
  check(cudaStreamSynchronize(*stream));
}

Peers::Peers(State& s, std::size_t bytes) {
  int visible = 0;
  check(cudaGetDeviceCount(&visible));
  if (visible < 2) s.skip(fmt::format("needs 2 GPUs, {} visible", visible));
  for (int gpu = 0; gpu < visible; ++gpu) {
    // Contexts take memory, too: 1 GiB is more than what CUDA keeps for itself.
    const std::uint64_t needed = 2 * bytes + (std::uint64_t{1} << 30);
    if (const std::uint64_t free = free_memory_bytes(gpu); free < needed)
      s.skip(fmt::format("needs {} MiB of free memory on GPU {}, {} MiB are left", needed >> 20,
                         gpu, free >> 20));
    for (int peer = 0; peer < visible; ++peer) {
      int reaches = 0;
      if (gpu != peer) check(cudaDeviceCanAccessPeer(&reaches, gpu, peer));
      if (gpu != peer && !reaches)
        s.skip(fmt::format("GPU {} does not reach the memory of GPU {}", gpu, peer));
    }
  }
  for (int gpu = 0; gpu < visible; ++gpu)
    for (int peer = 0; peer < visible; ++peer)
      if (gpu != peer) introduce(gpu, peer);
  for (int gpu = 0; gpu < visible; ++gpu) peers_.emplace_back(gpu, bytes);
  s.set_param("gpus", std::int64_t{visible});
}

Series Peers::matrix(std::string name, std::string unit, bool itself,
                     const Callable<double(Peer& gpu, Peer& peer)>& figure) {
  Series series{.name = std::move(name),
                .unit = std::move(unit),
                .axes = {{"gpu", {}}, {"peer", {}}},
                .values = {}};
  for (const Peer& peer : peers_)
    for (Axis& axis : series.axes) axis.points.emplace_back(std::int64_t{peer.device});
  for (Peer& gpu : peers_)
    for (Peer& peer : peers_)
      series.values.push_back(&gpu != &peer || itself ? figure(gpu, peer) : std::nan(""));
  return series;
}

}  // namespace assay
