// SPDX-License-Identifier: Apache-2.0
// Load latency of the CPU against the size of what it walks through: a ladder with one step per
// cache, and DRAM beyond the last. One thread chases pointers, one per 64-byte line, in an order no
// prefetcher follows; huge pages, where the system gives them, keep page walks out of the figure.
#include <bit>
#include <cstdint>

#include "harness/state.hpp"
#include "probes/host/team.hpp"
#include "probes/memory/ring.hpp"

namespace {

struct alignas(64) Line {
  Line* next;
};

constexpr int kUnroll = 16;

Line* walk(Line* line, std::int64_t steps) {
  for (std::int64_t i = 0; i < steps / kUnroll; ++i) {
#pragma GCC unroll 16
    for (int k = 0; k < kUnroll; ++k) line = line->next;
  }
  return line;
}

void chase(assay::State& s, std::size_t bytes) {
  const auto count = static_cast<std::uint32_t>(bytes / sizeof(Line));
  const int bits = std::countr_zero(count);
  const assay::MappedMemory memory = assay::map_memory(bytes);
  auto* lines = reinterpret_cast<Line*>(memory.get());
  for (std::uint32_t step = 0; step < count; ++step)
    lines[assay::shuffle(step, bits)].next = lines + assay::shuffle(step + 1, bits);
  // A few milliseconds at any latency; once round first where that is affordable.
  const std::int64_t steps = bytes <= (8u << 20) ? 1 << 18 : 1 << 16;
  Line* line = walk(lines, std::min<std::int64_t>(count, 1 << 20));
  auto walked = std::min<std::uint32_t>(count, 1 << 20);  // wraps at a multiple of count
  s.sample({.steps = static_cast<double>(steps)}, [&] {
    walked += static_cast<std::uint32_t>(steps);
    return assay::on_one_cpu([&] { line = walk(line, steps); });
  });
  s.require(line == lines + assay::shuffle(walked, bits),
            "the chase ended on another line than its steps lead to");
}

std::vector<assay::Case> ladder() {
  std::vector<assay::Case> cases;
  for (std::int64_t bytes = 16 << 10; bytes <= 64 << 20; bytes *= 2)
    cases.push_back({.name = std::to_string(bytes), .params = {{"bytes", bytes}}});
  return cases;
}

const assay::Registration caches{{
    .name = "host/cache_latency",
    .question = "How long does a dependent load of the CPU take, by the size of the memory it "
                "walks through?",
    .cases = ladder(),
    .targets = {assay::Target::host},
    .pace = assay::Pace::host,
    .run = [](assay::State& s) { chase(s, static_cast<std::size_t>(s.i64("bytes"))); },
}};

const assay::Registration dram{{
    .name = "host/dram_latency",
    .question = "How long does a dependent load of the CPU take when it misses every cache?",
    .targets = {assay::Target::host},
    .pace = assay::Pace::host,
    .run =
        [](assay::State& s) {
          const std::size_t bytes = assay::dram_footprint_bytes();
          s.set_param("bytes", static_cast<std::int64_t>(bytes));
          s.set_param("last_level_cache_bytes",
                      static_cast<std::int64_t>(assay::last_level_cache_bytes()));
          chase(s, bytes);
        },
}};

}  // namespace
