// SPDX-License-Identifier: Apache-2.0
#include "probes/host/team.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "harness/callable.hpp"
#include "harness/error.hpp"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof(set), &set);  // a refusal costs steadiness, not correctness
}

}  // namespace

int cpu_count() { return static_cast<int>(allowed_cpus().size()); }

double on_all_cpus(const Callable<void(int, int)>& work) {
  const std::vector<int> cpus = allowed_cpus();
  const int n = static_cast<int>(cpus.size());
  std::barrier ready(n);
  std::vector<Clock::time_point> begin(cpus.size()), end(cpus.size());
  std::vector<std::exception_ptr> errors(cpus.size());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < n; ++i)
      threads.emplace_back([&, i] {
        pin_to(cpus[i]);
        ready.arrive_and_wait();
        begin[i] = Clock::now();
        try {
          work(i, n);
        } catch (...) {
          errors[i] = std::current_exception();
        }
        end[i] = Clock::now();
      });
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  return std::chrono::duration<double, std::nano>(*std::ranges::max_element(end) -
                                                  *std::ranges::min_element(begin))
      .count();
}

double on_one_cpu(const Callable<void()>& work) {
  const Clock::time_point begin = Clock::now();
  work();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

Share share(std::size_t count, int i, int n, std::size_t granule) {
  const std::size_t granules = count / granule;
  const auto edge = [&](int k) {
    return k == n ? count : granules * static_cast<std::size_t>(k) / n * granule;
  };
  return {edge(i), edge(i + 1)};
}

void Unmap::operator()(void* memory) const { munmap(memory, bytes); }

MappedMemory map_memory(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  bytes = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* memory = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Error(ExitCode::unfit, "cannot map " + std::to_string(bytes >> 20) +
                                     " MiB of memory: " + std::strerror(errno));
  auto* const start = static_cast<std::byte*>(memory);
  const std::size_t skipped = -reinterpret_cast<std::uintptr_t>(start) % kHugePage;
  if (skipped) munmap(start, skipped);
  if (skipped < kHugePage) munmap(start + skipped + bytes, kHugePage - skipped);
  madvise(start + skipped, bytes, MADV_HUGEPAGE);  // a wish
  return {start + skipped, Unmap{bytes}};
}

std::size_t last_level_cache_bytes() {
  const long bytes = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
  return bytes > 0 ? static_cast<std::size_t>(bytes) : std::size_t{32} << 20;
}

std::size_t available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key; file.ignore(256, '\n'))
    if (std::size_t kib = 0; key == "MemAvailable:" && file >> kib) return kib << 10;
  return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t dram_footprint_bytes() {
  const std::size_t most = std::min(available_memory_bytes() / 4, std::size_t{1} << 30);
  return std::bit_floor(
      std::min(std::max(2 * last_level_cache_bytes(), std::size_t{256} << 20), most));
}

}  // namespace assay
