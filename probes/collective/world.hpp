// SPDX-License-Identifier: Apache-2.0
// The first n GPUs of this machine as NCCL ranks 0 .. n - 1, driven by one thread with group calls,
// out of place, as `nccl-tests -t 1 -g n` drives them.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/cuda.hpp"
#include "probes/collective/nccl.hpp"
#include "probes/collective/pattern.hpp"

namespace assay {

// One collective operation. `bytes` is what nccl-tests calls its size: of the whole buffer that a
// rank holds in the end.
struct Collective {
  Operation operation;
  ncclDataType_t type;
  std::size_t bytes;
  int ranks;

  std::size_t count() const { return bytes / (type == ncclBfloat16 ? 2 : 1); }
  std::size_t send_count() const {
    return operation == Operation::all_gather ? count() / static_cast<std::size_t>(ranks) : count();
  }
};

// Bytes that cross the busiest link in nccl-tests' bus bandwidth, so that bus_bytes over time is
// that figure whatever n is: S * 2 (n - 1) / n for all_reduce, S * (n - 1) / n for all_gather
// (nccl-tests, doc/PERFORMANCE.md).
double bus_bytes(const Collective& collective);

class World {
 public:
  // Buffers of this size are made once; smaller collectives move through them from one call to the
  // next, as in nccl-tests, so that they do not keep hitting the same lines of L2.
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 30;
  static constexpr int kCalls = 20;  // timed together, as in nccl-tests

  // Made when first asked for, which takes seconds, and kept to the end of the process.
  // Throws Error(failed) where NCCL or CUDA does.
  static World& of(int ranks);

  ~World();
  World(const World&) = delete;  // owns its communicators
  World& operator=(const World&) = delete;

  // Runs it once on a known pattern and poisoned receive buffers: how many received elements, over
  // all ranks, are wrong.
  std::uint64_t wrong_elements(const Collective& collective);

  // Nanoseconds that one of kCalls collectives takes, from the first call to the last GPU's end.
  double time_ns(const Collective& collective);

  // The same calls, captured: one graph per rank.
  class Graph {
   public:
    ~Graph();
    Graph(Graph&&) = default;
    double time_ns();

   private:
    friend class World;
    explicit Graph(World& world) : world_(&world) {}
    World* world_;
    std::vector<cudaGraphExec_t> graphs_ = {};
  };
  Graph capture(const Collective& collective);

 private:
  World(const nccl::Library& nccl, int ranks);
  void enqueue(const Collective& collective, int call);
  void synchronize();

  struct Rank {
    int device;
    ncclComm_t comm;
    std::unique_ptr<Stream> stream;
  };
  const nccl::Library& nccl_;
  std::vector<Rank> ranks_ = {};
};

}  // namespace assay
