// SPDX-License-Identifier: Apache-2.0
// Bandwidth of the CPUs' memory, all CPUs at once, each on pages that it touched first. Bytes read
// plus bytes written, as STREAM counts them (McCalpin, 1995): the line that an ordinary store
// fetches before it changes it is not in the figure.
#include <cstdint>
#include <numeric>
#include <vector>

#include "harness/state.hpp"
#include "probes/host/team.hpp"

namespace {

struct Arrays {
  std::size_t count;  // of 64-bit words in each
  assay::MappedMemory memory[3];
  std::uint64_t* words(int array) const {
    return reinterpret_cast<std::uint64_t*>(memory[array].get());
  }
};

constexpr std::uint64_t kScalar = 3;
std::uint64_t initial(int array, std::size_t i) { return (i * 2654435769u >> 7) + array; }

std::uint64_t read(const std::uint64_t* a, assay::Share mine) {
  std::uint64_t sum = 0;
  for (std::size_t i = mine.first; i < mine.last; ++i) sum += a[i];
  return sum;
}
void copy(std::uint64_t* __restrict a, const std::uint64_t* __restrict b, assay::Share mine) {
  for (std::size_t i = mine.first; i < mine.last; ++i) a[i] = b[i];
}
void triad(std::uint64_t* __restrict a, const std::uint64_t* __restrict b,
           const std::uint64_t* __restrict c, assay::Share mine) {
  for (std::size_t i = mine.first; i < mine.last; ++i) a[i] = b[i] + kScalar * c[i];
}

// Runs work(share) on all CPUs and returns the nanoseconds it took.
template <class F>
double shared_out(const Arrays& arrays, F&& work) {
  constexpr std::size_t kPage = (2 << 20) / sizeof(std::uint64_t);  // nobody shares a huge page
  return assay::on_all_cpus(
      [&](int i, int n) { work(i, assay::share(arrays.count, i, n, kPage)); });
}

void run(assay::State& s) {
  const std::string& operation = s.text("operation");
  const int used = operation == "read" ? 1 : operation == "copy" ? 2 : 3;
  const std::size_t bytes = assay::dram_footprint_bytes() / used;
  Arrays arrays{bytes / sizeof(std::uint64_t), {}};
  for (int a = 0; a < used; ++a) arrays.memory[a] = assay::map_memory(bytes);
  std::vector<std::uint64_t> sums(assay::cpu_count());
  shared_out(arrays, [&](int, assay::Share mine) {
    for (int a = 0; a < used; ++a)
      for (std::size_t i = mine.first; i < mine.last; ++i) arrays.words(a)[i] = initial(a, i);
  });
  s.set_param("threads", assay::cpu_count());
  s.set_param("bytes", static_cast<std::int64_t>(bytes * used));
  s.set_param("last_level_cache_bytes", static_cast<std::int64_t>(assay::last_level_cache_bytes()));

  s.sample({.bytes = static_cast<double>(bytes) * used}, [&] {
    return shared_out(arrays, [&](int thread, assay::Share mine) {
      if (used == 1) sums[thread] = read(arrays.words(0), mine);
      if (used == 2) copy(arrays.words(0), arrays.words(1), mine);
      if (used == 3) triad(arrays.words(0), arrays.words(1), arrays.words(2), mine);
    });
  });
  std::uint64_t expected = 0;
  bool right = true;
  for (std::size_t i = 0; i < arrays.count; ++i) {
    if (used == 1) expected += initial(0, i);
    if (used == 2) right &= arrays.words(0)[i] == initial(1, i);
    if (used == 3) right &= arrays.words(0)[i] == initial(1, i) + kScalar * initial(2, i);
  }
  if (used == 1) right = std::reduce(sums.begin(), sums.end()) == expected;
  s.require(right, "the arrays do not hold what " + operation + " makes of them");
}

const assay::Registration registration{{
    .name = "host/dram_bandwidth",
    .question = "How fast do all CPUs together stream through memory?",
    .cases = {{.name = "read", .params = {{"operation", "read"}}},
              {.name = "copy", .params = {{"operation", "copy"}}},
              {.name = "triad", .params = {{"operation", "triad"}}}},
    .targets = {assay::Target::host},
    .pace = assay::Pace::host,
    .run = run,
}};

}  // namespace
