// SPDX-License-Identifier: Apache-2.0
// What a warp's access to shared memory costs by where its lanes point: bank conflicts by stride
// and width, broadcast, a column of a tile as it lies, padded and swizzled; ldmatrix and stmatrix.
//
// Memory has 32 banks of 4 bytes. Lanes at stride d x width have d-fold conflicts; an access of
// more than 128 bytes takes several passes anyway. Sixteen warps keep the memory busy; every word
// holds its own index, so that what arrives is known lane by lane.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/callable.hpp"
#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"

namespace {

using namespace assay;

constexpr int kThreads = 512, kWarps = kThreads / 32, kUnroll = 16, kCheckedRounds = 2;
constexpr int kApart = 128;  // bytes from one copy of the access to the next: the same banks
constexpr int kSharedBytes = 24576;  // 31 x 512 + 16 + 15 x 128 of the widest, and some
constexpr const char* kEntry = "access";

struct Access {
  const char* name;
  const char* ptx;  // before the address or after it
  int words;        // per lane
  bool store, matrix, transposed;
  const char* sass;
};
constexpr Access kAccesses[] = {
    {"ld_b32", "ld.shared.u32", 1, false, false, false, "LDS"},
    {"ld_b64", "ld.shared.v2.u32", 2, false, false, false, "LDS.64"},
    {"ld_b128", "ld.shared.v4.u32", 4, false, false, false, "LDS.128"},
    {"st_b32", "st.shared.u32", 1, true, false, false, "STS"},
    {"st_b64", "st.shared.v2.u32", 2, true, false, false, "STS.64"},
    {"st_b128", "st.shared.v4.u32", 4, true, false, false, "STS.128"},
    {"ldmatrix_x1", "ldmatrix.sync.aligned.m8n8.x1.shared.b16", 1, false, true, false, "LDSM"},
    {"ldmatrix_x2", "ldmatrix.sync.aligned.m8n8.x2.shared.b16", 2, false, true, false, "LDSM"},
    {"ldmatrix_x4", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", 4, false, true, false, "LDSM"},
    {"ldmatrix_x4_trans", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 4, false, true, true,
     "LDSM"},
    {"stmatrix_x1", "stmatrix.sync.aligned.m8n8.x1.shared.b16", 1, true, true, false, "STSM"},
    {"stmatrix_x2", "stmatrix.sync.aligned.m8n8.x2.shared.b16", 2, true, true, false, "STSM"},
    {"stmatrix_x4", "stmatrix.sync.aligned.m8n8.x4.shared.b16", 4, true, true, false, "STSM"},
    {"stmatrix_x4_trans", "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 4, true, true, true,
     "STSM"},
};

const Access& access_of(const Case& c) {
  return *std::ranges::find(kAccesses, c.text("access"), [](const Access& a) { return a.name; });
}

// Where the lanes of a warp point, in bytes.
struct Pattern {
  std::string name;
  std::array<std::uint32_t, 32> offsets;
};

std::vector<Pattern> patterns_of(const Access& a) {
  std::vector<Pattern> all;
  const auto add = [&](std::string name, auto&& offset) {
    Pattern pattern{std::move(name), {}};
    for (std::uint32_t lane = 0; lane < 32; ++lane) pattern.offsets[lane] = offset(lane);
    all.push_back(std::move(pattern));
  };
  const auto width = static_cast<std::uint32_t>(a.matrix ? 16 : a.words * 4);
  // Rows of a matrix are 16 bytes; eight of them without conflict are its 128.
  for (std::uint32_t degree = 1; degree <= (a.matrix ? 8u : 32u); degree *= 2)
    add(fmt::format("stride_{}", degree),
        [&](std::uint32_t lane) { return lane * width * degree; });
  if (!a.store && !a.matrix) add("broadcast", [](std::uint32_t) { return 64u; });
  // A column, one element of each lane's width wide, of rows of 128 bytes.
  const std::uint32_t columns = 128 / width;
  add("column", [](std::uint32_t lane) { return lane * 128; });
  add("column_padded", [&](std::uint32_t lane) { return lane * (128 + width); });
  add("column_swizzled",
      [&](std::uint32_t lane) { return lane * 128 + (3 ^ lane) % columns * width; });
  return all;
}

std::string registers(const char* name, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += fmt::format("{}%{}{}", i ? ", " : "", name, i);
  return "{" + list + "}";
}

// %at: this lane's shared address. Loads add up what arrives; stores write each word's own index,
// or for matrices what %v holds.
KernelUse use_of(const Access& a, Target target) {
  PtxKernel kernel{.target = target, .entry = kEntry, .threads = kThreads};
  kernel.declarations = fmt::format(
      "  .reg .b32 %at, %base, %i, %index, %sum, %lane_at, %r<4>, %v<4>;\n  .reg .b64 %from;\n"
      "  .reg .pred %more;\n  .shared .align 128 .b8 words[{}];\n",
      kSharedBytes);
  kernel.setup = fmt::format(
      "  mov.u32 %base, words;\n  mov.u32 %sum, 0;\n"
      "  and.b32 %i, %thread, 31;\n  mad.wide.u32 %from, %i, 4, %in;\n"
      "  ld.global.u32 %at, [%from];\n  shr.u32 %index, %at, 2;\n  add.u32 %at, %at, %base;\n"
      "  mov.u32 %i, %thread;\nfill:\n"
      "  mad.lo.u32 %lane_at, %i, 4, %base;\n  st.shared.u32 [%lane_at], %i;\n"
      "  add.u32 %i, %i, {};\n  setp.lt.u32 %more, %i, {};\n  @%more bra fill;\n",
      kThreads, kSharedBytes / 4);
  for (int i = 0; i < a.words; ++i)
    kernel.setup += fmt::format("  ld.global.u32 %v{}, [%from+{}];\n", i, (i + 1) * 128);
  const std::string results = a.words == 1 && !a.matrix ? "%r0" : registers("r", a.words);
  const std::string values = a.words == 1 && !a.matrix ? "%v0" : registers("v", a.words);
  for (int copy = 0; copy < kUnroll; ++copy) {
    if (a.store) {
      kernel.loop += fmt::format("  {} [%at+{}], {};\n", a.ptx, copy * kApart, values);
      continue;
    }
    kernel.loop += fmt::format("  {} {}, [%at+{}];\n", a.ptx, results, copy * kApart);
    for (int i = 0; i < a.words; ++i)
      kernel.loop += fmt::format("  add.u32 %sum, %sum, %r{};\n", i);
  }
  kernel.loop += "  add.u32 %at, %at, %zero;\n";  // else loads would leave the loop
  if (a.store)                                    // what the lane's own words hold now
    for (int i = 0; i < (a.matrix ? 4 : a.words); ++i)
      kernel.finish += fmt::format("  ld.shared.u32 %r0, [%at+{}];\n  add.u32 %sum, %sum, %r0;\n",
                                   (kUnroll - 1) * kApart + i * 4);
  kernel.finish +=
      "  mad.wide.u32 %from, %thread, 4, %out;\n  @%first st.global.u32 [%from], %sum;\n";
  return {.kernel = kEntry, .sass = {{a.sass, kUnroll, kUnroll}}, .ptx = ptx_text(kernel)};
}

// What lane `lane` has in register `word` of a load at copy `copy`.
std::uint32_t loaded(const Access& a, const Pattern& p, std::uint32_t lane, std::uint32_t word,
                     std::uint32_t copy) {
  const auto index = [&](std::uint32_t of_lane) {
    return (p.offsets[of_lane] + copy * kApart) / 4;
  };
  if (!a.matrix) return index(lane) + word;
  if (!a.transposed) return index(word * 8 + lane / 4) + lane % 4;
  // Transposed, a lane has elements (2 x (lane % 4), lane / 4) and the one a row below.
  const auto element = [&](std::uint32_t row, std::uint32_t column) {
    const std::uint32_t whole = index(word * 8 + row) + column / 2;
    return column % 2 ? whole >> 16 : whole & 0xffff;
  };
  return element(lane % 4 * 2, lane / 4) | element(lane % 4 * 2 + 1, lane / 4) << 16;
}

// Stores write a value that is the same wherever two lanes meet.
constexpr std::uint32_t kStored = 0x00050005;

std::uint32_t expected(const Access& a, const Pattern& p, std::uint32_t lane) {
  if (a.store) {
    // The words of rows that the store reached; of the others, their index is left.
    std::uint32_t sum = 0;
    const std::uint32_t words = a.matrix ? 4 : static_cast<std::uint32_t>(a.words);
    const std::uint32_t rows = a.matrix ? static_cast<std::uint32_t>(a.words) * 8 : 32;
    for (std::uint32_t i = 0; i < words; ++i) {
      const std::uint32_t at = p.offsets[lane] + (kUnroll - 1) * kApart + i * 4;
      bool reached = false;
      for (std::uint32_t row = 0; row < rows; ++row)
        for (std::uint32_t copy = 0; copy < kUnroll; ++copy) {
          const std::uint32_t begin = p.offsets[row] + copy * kApart;
          reached |= at >= begin && at < begin + words * 4;
        }
      sum += reached ? kStored : at / 4;
    }
    return sum;
  }
  std::uint32_t sum = 0;
  for (std::uint32_t copy = 0; copy < kUnroll; ++copy)
    for (std::uint32_t word = 0; word < static_cast<std::uint32_t>(a.words); ++word)
      sum += loaded(a, p, lane, word, copy);
  return sum * kCheckedRounds;
}

void run(State& s) {
  const Access& a = access_of(s.which());
  Series cycles{"cycles_per_access", "cycle", {{"pattern", {}}}, {}};
  Series bytes{"bytes_per_clock_per_sm", "B/clk/SM", {{"pattern", {}}}, {}};
  s.limit("B/clk/SM", limits::unknown("bytes are counted at the lanes, and lanes may share them"));
  const GeneratedKernel kernel(s, kEntry, kThreads, 5 * 128, kThreads * 4);
  // What a warp moves: a matrix is 8 rows of 16 bytes.
  const double moved = a.matrix ? a.words * 128 : a.words * 4 * 32;
  Callable<void(const Launch&)> first;
  for (const Pattern& pattern : patterns_of(a)) {
    std::vector<std::uint32_t> in(pattern.offsets.begin(), pattern.offsets.end());
    in.resize(5 * 32, kStored);
    kernel.set_inputs(in);
    const auto out = kernel.outputs_after<std::uint32_t>(kCheckedRounds);
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      const std::uint32_t right = expected(a, pattern, thread % 32);
      s.require(out[thread] == right, fmt::format("{}: the words of thread {} add up to {}, not {}",
                                                  pattern.name, thread, out[thread], right));
    }
    const Estimate per_access = s.cycles_once(kernel.on_every_sm()) / (kUnroll * kWarps);
    for (Series* series : {&cycles, &bytes}) series->axes[0].points.emplace_back(pattern.name);
    cycles.add(per_access);
    bytes.add(moved / per_access);
  }
  // Those of stride 1, which comes first: lanes that share a word get more than memory gives.
  s.add_exact("bytes_per_clock_per_sm", "B/clk/SM", Better::higher, bytes.values.front());
  s.add_exact("cycles_per_access", "cycle", Better::lower, cycles.values.front());
  s.add_exact("most_cycles_per_access", "cycle", Better::lower, std::ranges::max(cycles.values));
  s.add_series(std::move(cycles));
  s.add_series(std::move(bytes));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Access& a : kAccesses) {
    all.push_back({.name = a.name, .params = {{"access", a.name}}, .suite = Suite::full});
    if (a.store && a.matrix) all.back().targets = targets_with(Feature::stmatrix);
  }
  return all;
}

const Registration registration{{
    .name = "memory/shared_access",
    .question =
        "What do bank conflicts cost a warp's access to shared memory, by width and by where "
        "its lanes point, and what do padding, swizzling and matrix accesses save?",
    .metrics = {{"cycles_per_access",
                 "Cycles that one warp's access keeps shared memory busy, by pattern; the figure "
                 "is of stride 1."},
                {"bytes_per_clock_per_sm",
                 "Bytes that a warp's lanes get or give in a cycle, by pattern; the figure is of "
                 "stride 1."},
                {"most_cycles_per_access", "Cycles of an access by the worst of the patterns."}},
    .cases = cases(),
    .kernels = [](const Case& c,
                  Target target) { return std::vector<KernelUse>{use_of(access_of(c), target)}; },
    .run = run,
}};

}  // namespace
