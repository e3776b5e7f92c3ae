// SPDX-License-Identifier: Apache-2.0
#include "probes/collective/world.hpp"

#include <chrono>
#include <exception>
#include <map>

namespace assay {
namespace {

struct Buffers {  // of one GPU, shared by the worlds it is in
  Buffer send{World::kBufferBytes}, receive{World::kBufferBytes};
};

Buffers& buffers_of(int device) {
  static std::map<int, Buffers> all;
  const OnDevice here(device);
  return all[device];
}

double nanoseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

double bus_bytes(const Collective& collective) {
  const double others = static_cast<double>(collective.ranks - 1) / collective.ranks;
  const double rounds = collective.operation == Operation::all_reduce ? 2 : 1;
  return rounds * others * static_cast<double>(collective.bytes);
}

World& World::of(int ranks) {
  const nccl::Library& nccl = nccl::Library::get();  // first, so that it outlives the worlds
  static std::map<int, std::unique_ptr<World>> worlds;
  auto& world = worlds[ranks];
  if (!world) world.reset(new World(nccl, ranks));
  return *world;
}

World::World(const nccl::Library& nccl, int ranks) : nccl_(nccl) {
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks));
  const OnDevice restore_afterwards(0);
  nccl_.check(nccl_.comm_init_all(comms.data(), ranks, nullptr));
  for (int device = 0; device < ranks; ++device) {
    const OnDevice here(device);
    ranks_.push_back({device, comms[static_cast<std::size_t>(device)], std::make_unique<Stream>()});
  }
}

World::~World() {
  for (const Rank& rank : ranks_) nccl_.comm_destroy(rank.comm);
}

void World::enqueue(const Collective& collective, int call) {
  const std::size_t slots = kBufferBytes / collective.bytes;
  const std::size_t shift = collective.bytes * (static_cast<std::size_t>(call) % slots);
  nccl_.check(nccl_.group_start());
  for (const Rank& rank : ranks_) {
    Buffers& buffers = buffers_of(rank.device);
    const char* send = buffers.send.as<char>() + shift;
    char* receive = buffers.receive.as<char>() + shift;
    if (collective.operation == Operation::all_reduce)
      nccl_.check(nccl_.all_reduce(send, receive, collective.count(), collective.type, ncclSum,
                                   rank.comm, *rank.stream));
    else
      nccl_.check(nccl_.all_gather(send, receive, collective.send_count(), collective.type,
                                   rank.comm, *rank.stream));
  }
  nccl_.check(nccl_.group_end());
}

void World::synchronize() {
  for (const Rank& rank : ranks_) check(cudaStreamSynchronize(*rank.stream));
}

std::uint64_t World::wrong_elements(const Collective& collective) {
  for (const Rank& rank : ranks_) {
    const OnDevice here(rank.device);
    Buffers& buffers = buffers_of(rank.device);
    fill_pattern(buffers.send.data(), collective.type, collective.send_count(), rank.device,
                 *rank.stream);
    // All ones is a NaN in both types: an element that nobody wrote counts as wrong.
    check(cudaMemsetAsync(buffers.receive.data(), 0xff, collective.bytes, *rank.stream));
  }
  synchronize();
  enqueue(collective, 0);
  std::uint64_t wrong = 0;
  for (const Rank& rank : ranks_) {
    const OnDevice here(rank.device);
    const Buffer counter(sizeof(unsigned long long));
    auto* count = counter.as<unsigned long long>();
    check(cudaMemsetAsync(count, 0, counter.bytes(), *rank.stream));
    count_wrong(buffers_of(rank.device).receive.data(), collective.operation, collective.type,
                collective.count(), collective.send_count(), collective.ranks, count, *rank.stream);
    wrong += download(count, 1, *rank.stream)[0];
  }
  return wrong;
}

double World::time_ns(const Collective& collective) {
  const auto begin = std::chrono::steady_clock::now();
  for (int call = 0; call < kCalls; ++call) enqueue(collective, call);
  synchronize();
  return nanoseconds_since(begin) / kCalls;
}

World::Graph World::capture(const Collective& collective) {
  // Thread-local, since NCCL may allocate while it connects ranks inside the capture. All captures
  // must have ended before the first graph is instantiated, which allocates as well; and they must
  // end whatever happens, for the streams to be of use again.
  for (const Rank& rank : ranks_)
    check(cudaStreamBeginCapture(*rank.stream, cudaStreamCaptureModeThreadLocal));
  std::exception_ptr failure;
  try {
    for (int call = 0; call < kCalls; ++call) enqueue(collective, call);
  } catch (...) {
    failure = std::current_exception();
  }
  std::vector<cudaGraph_t> captured(ranks_.size());
  cudaError_t status = cudaSuccess;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    if (const auto ended = cudaStreamEndCapture(*ranks_[rank].stream, &captured[rank]);
        status == cudaSuccess)
      status = ended;
  Graph result(*this);
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const OnDevice here(ranks_[rank].device);
    cudaGraphExec_t executable = nullptr;
    if (!failure && status == cudaSuccess)
      status = cudaGraphInstantiate(&executable, captured[rank], 0);
    if (executable) result.graphs_.push_back(executable);
    if (captured[rank]) cudaGraphDestroy(captured[rank]);
  }
  if (failure) std::rethrow_exception(failure);
  check(status);
  return result;
}

World::Graph::~Graph() {
  for (cudaGraphExec_t graph : graphs_) cudaGraphExecDestroy(graph);
}

double World::Graph::time_ns() {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t rank = 0; rank < graphs_.size(); ++rank)
    check(cudaGraphLaunch(graphs_[rank], *world_->ranks_[rank].stream));
  world_->synchronize();
  return nanoseconds_since(begin) / kCalls;
}

}  // namespace assay
