// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace assay {

void on_every_core(std::size_t count, const Callable<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  std::mutex mutex;  // of failure
  std::exception_ptr failure;
  const auto take_turns = [&] {
    try {
      for (std::size_t i = next++; i < count && !stopped; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      stopped = true;
      if (!failure) failure = std::current_exception();
    }
  };
  {
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(count, cores); ++i) helpers.emplace_back(take_turns);
    take_turns();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace assay
