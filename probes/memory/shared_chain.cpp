// SPDX-License-Identifier: Apache-2.0
// Latency of accesses to shared memory that wait for one another: loads of each width and ldmatrix,
// whose result is the next address, and a store followed by the load that fetches it back.
//
// An 8x8 matrix of b16 is 32 words in row order, word i of which lane i gets. So where the first
// matrix of a block holds the next addresses of all 32 lanes' rows, ldmatrix of one, two or four
// matrices is a chain of itself alone. Transposed, a lane would get two halves of two words.
#include <fmt/format.h>

#include <algorithm>

#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "probes/memory/ring.hpp"

namespace {

using namespace assay;

constexpr int kThreads = 32, kUnroll = 24, kBlocks = 32;
constexpr int kBlockBytes = 512;  // 32 lanes' rows of 16 bytes at most
constexpr int kCheckedRounds = 3;
constexpr const char* kEntry = "chain";

struct Chain {
  const char* name;
  const char* load;   // before the address
  const char* store;  // after which `load` fetches what was stored; empty: a chain of loads
  int words;          // per lane
  const char *sass, *sass_store;
};
constexpr Chain kChains[] = {
    {"ld_b32", "ld.shared.u32", "", 1, "LDS", ""},
    {"ld_b64", "ld.volatile.shared.v2.u32", "", 2, "LDS.64", ""},
    {"ld_b128", "ld.volatile.shared.v4.u32", "", 4, "LDS.128", ""},
    {"ldmatrix_x1", "ldmatrix.sync.aligned.m8n8.x1.shared.b16", "", 1, "LDSM", ""},
    {"ldmatrix_x2", "ldmatrix.sync.aligned.m8n8.x2.shared.b16", "", 2, "LDSM", ""},
    {"ldmatrix_x4", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "", 4, "LDSM", ""},
    {"st_ld_b32", "ld.volatile.shared.u32", "st.volatile.shared.u32", 1, "LDS", "STS"},
    {"st_ld_b128", "ld.volatile.shared.v4.u32", "st.volatile.shared.v4.u32", 4, "LDS.128",
     "STS.128"},
    {"stmatrix_ldmatrix_x1", "ldmatrix.sync.aligned.m8n8.x1.shared.b16",
     "stmatrix.sync.aligned.m8n8.x1.shared.b16", 1, "LDSM", "STSM"},
    {"stmatrix_ldmatrix_x4", "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
     "stmatrix.sync.aligned.m8n8.x4.shared.b16", 4, "LDSM", "STSM"},
};

const Chain& chain_of(const Case& c) {
  return *std::ranges::find(kChains, c.text("access"), [](const Chain& a) { return a.name; });
}
bool is_matrix(const Chain& c) { return std::string(c.sass) == "LDSM"; }
bool stores(const Chain& c) { return c.store[0] != 0; }
// Bytes from a lane's place to the next one's: a matrix's row, or what an access takes.
std::uint32_t apart(const Chain& c) {
  return is_matrix(c) ? 16 : static_cast<std::uint32_t>(c.words) * 4;
}

// Registers %at (which the first word of a load becomes), %r1, ...
std::string registers(const Chain& c, const char* first) {
  std::string list = first;
  for (int i = 1; i < c.words; ++i) list += fmt::format(", %r{}", i);
  return c.words > 1 || is_matrix(c) ? "{" + list + "}" : list;
}

// Where the block is that a walk of so many steps comes to.
std::uint32_t block_after(std::uint32_t steps) {
  return shuffle(steps % kBlocks, 5) * static_cast<std::uint32_t>(kBlockBytes);
}

KernelUse use_of(const Chain& c, Target target) {
  PtxKernel kernel{.target = target, .entry = kEntry, .threads = kThreads};
  kernel.declarations = fmt::format(
      "  .reg .b32 %at, %base, %i, %from32, %value, %r<4>;\n  .reg .b64 %from;\n"
      "  .reg .pred %more;\n  .shared .align 128 .b8 blocks[{}];\n",
      kBlocks * kBlockBytes);
  // in: word w of a block's 128 tells the offset of what it names from the first block; all words
  // of a row name that row's lane of the next block, those of the first matrix each its own lane's.
  kernel.setup = fmt::format(
      "  mov.u32 %base, blocks;\n  mov.u32 %i, %thread;\nfill:\n"
      "  mad.wide.u32 %from, %i, 4, %in;\n  ld.global.u32 %value, [%from];\n"
      "  add.u32 %value, %value, %base;\n  mad.lo.u32 %from32, %i, 4, %base;\n"
      "  st.shared.u32 [%from32], %value;\n"
      "  add.u32 %i, %i, {0};\n  setp.lt.u32 %more, %i, {1};\n  @%more bra fill;\n"
      "  mad.lo.u32 %at, %thread, {2}, %base;\n  mov.u32 %r1, %at;\n  mov.u32 %r2, %at;\n"
      "  mov.u32 %r3, %at;\n",
      kThreads, kBlocks * kBlockBytes / 4, apart(c));
  for (int i = 0; i < kUnroll; ++i) {
    if (stores(c)) {
      // The value that comes back is the lane's row, and so the next address.
      kernel.loop += fmt::format("  {} [%at], {};\n", c.store, registers(c, "%at"));
    }
    kernel.loop += fmt::format("  {} {}, [%at];\n", c.load, registers(c, "%at"));
  }
  kernel.finish =
      "  sub.u32 %at, %at, %base;\n  mad.wide.u32 %from, %thread, 4, %out;\n"
      "  @%first st.global.u32 [%from], %at;\n";
  KernelUse use{.kernel = kEntry,
                .sass = {{c.sass, kUnroll, kUnroll}},
                .ptx = ptx_text(kernel),
                .role = stores(c) ? Role::none : Role::latency};
  if (stores(c)) use.sass.push_back({c.sass_store, kUnroll, kUnroll});
  return use;
}

// The ring of blocks: a lane's place in one names its place in the next. For ldmatrix it is the
// first matrix, 32 words in row order, that names the places of all lanes.
std::vector<std::uint32_t> blocks(const Chain& c) {
  std::vector<std::uint32_t> words(kBlocks * kBlockBytes / 4);
  const std::uint32_t words_apart = is_matrix(c) ? 1 : apart(c) / 4;
  for (std::uint32_t step = 0; step < kBlocks; ++step)
    for (std::uint32_t lane = 0; lane < kThreads; ++lane)
      words[block_after(step) / 4 + lane * words_apart] = block_after(step + 1) + lane * apart(c);
  return words;
}

void run(State& s) {
  const Chain& c = chain_of(s.which());
  const GeneratedKernel kernel(s, kEntry, kThreads, kBlocks * kBlockBytes, kThreads * 4);
  kernel.set_inputs(blocks(c));
  const auto out = kernel.outputs_after<std::uint32_t>(kCheckedRounds);
  for (std::uint32_t lane = 0; lane < kThreads; ++lane) {
    // What is stored is the address it is stored at, so that chain stays where it began.
    const std::uint32_t right =
        (stores(c) ? 0 : block_after(kCheckedRounds * kUnroll)) + lane * apart(c);
    s.require(out[lane] == right,
              fmt::format("lane {} ended at offset {}, not {}", lane, out[lane], right));
  }
  s.cycles({.steps = kUnroll}, kernel.on_every_sm());
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Chain& c : kChains) {
    all.push_back({.name = c.name, .params = {{"access", c.name}}, .suite = Suite::full});
    if (std::string(c.sass_store) == "STSM") all.back().targets = targets_with(Feature::stmatrix);
  }
  return all;
}

const Registration registration{{
    .name = "memory/shared_chain",
    .question = "How many cycles does a load from shared memory take by its width, an ldmatrix, "
                "and a store with the load that reads it back?",
    .cases = cases(),
    .kernels = [](const Case& c,
                  Target target) { return std::vector<KernelUse>{use_of(chain_of(c), target)}; },
    .run = run,
}};

}  // namespace
