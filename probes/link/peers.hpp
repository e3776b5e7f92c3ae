// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine that reach each other's memory, two and two.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "harness/callable.hpp"
#include "harness/cuda.hpp"
#include "harness/state.hpp"

namespace assay {

// One GPU with memory of its own for transfers; every call below is meant for it, whichever GPU is
// current.
struct Peer {
  Peer(int device, std::size_t bytes);
  int device, sm_count;
  Buffer memory, arrived;  // random bits that differ between GPUs; where copies go to
  std::unique_ptr<Stream> stream;
  std::unique_ptr<Event> begin, end;
};

class Peers {
 public:
  // All visible GPUs, each with two buffers of this size. Skips the case with fewer than two, where
  // two do not reach each other, or where one has too little free memory.
  Peers(State& s, std::size_t bytes);
  std::size_t count() const { return peers_.size(); }
  Peer& operator[](std::size_t i) { return peers_[i]; }

  // A matrix over "gpu", which acts, and "peer", whose memory it reaches; empty where
  // both are one, unless `itself` is wanted too.
  Series matrix(std::string name, std::string unit, bool itself,
                const Callable<double(Peer& gpu, Peer& peer)>& figure);

 private:
  std::vector<Peer> peers_;
};

}  // namespace assay
