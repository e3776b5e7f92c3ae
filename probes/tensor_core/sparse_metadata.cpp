// SPDX-License-Identifier: Apache-2.0
// The metadata of mma.sp: which four bits of which thread say what is kept of which chunk of which
// row of A, found by changing them one after another.
//
// B holds the number of its chunk in bits, one in each column, where the metadata 0b1110 would
// select it and zeros where 0b0100 does. All metadata are 0b0100 but for one that is 0b1110: the
// one row of D that is not zero then says whose it was. A second set of experiments has all
// metadata alike and checks which elements each legal value selects, in which order.
#include <fmt/format.h>

#include <array>
#include <set>

#include "harness/callable.hpp"
#include "harness/element.hpp"
#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/instruction/row_ptx.hpp"
#include "probes/tensor_core/mma_sync.hpp"

namespace {

using namespace assay;
using mma_sync::Form;

constexpr int kLanes = 32, kRows = 16, kColumns = 8, kNibbles = 8;
constexpr unsigned kFirst = 0b0100, kLast = 0b1110;

const std::vector<Form>& forms() {
  static const std::vector<Form> all = [] {
    std::vector<Form> made = {{"f16", "f16", "f32", 16},   {"f16", "f16", "f32", 32},
                              {"bf16", "bf16", "f32", 32}, {"tf32", "tf32", "f32", 8},
                              {"tf32", "tf32", "f32", 16}, {"s8", "s8", "s32", 32},
                              {"s8", "s8", "s32", 64},     {"e4m3", "e4m3", "f32", 64}};
    for (Form& form : made) form.sparse = true;
    return made;
  }();
  return all;
}

std::string case_name(const Form& form) {
  const std::string name = mma_sync::name_of(form);
  return name.substr(0, name.rfind('/'));  // all are sparse
}

const Form& form_of(const Case& c) {
  for (const Form& form : forms())
    if (case_name(form) == c.name) return form;
  throw std::logic_error("a case of an unknown form");
}

// One of two elements of tf32 is kept, two of four of the others.
int chunk_size(const Form& form) { return form.a == "tf32" ? 2 : 4; }
int chunks(const Form& form) { return form.k / chunk_size(form); }

// One round of the loop is one experiment: in [experiment][register of A, B, metadata][lane], out
// [experiment][register of D][lane].
std::string ptx(const InstructionRow& row, Target target) {
  PtxKernel kernel{.target = target, .entry = "experiments", .threads = kLanes};
  std::string instruction = fill_in(row.ptx, row.chain, -1);
  int slot = 0;
  for (const Operand& input : row.inputs) {
    instruction = fill_in(instruction, input, -1);
    kernel.declarations += fmt::format("  .reg .{} {};\n", input.reg, tuple(input, -1));
    for (int i = 0; i < input.count; ++i, ++slot)
      kernel.loop +=
          fmt::format("  ld.global.b32 %{}_{}, [%in+{}];\n", input.name, i, slot * kLanes * 4);
  }
  kernel.declarations +=
      fmt::format("  .reg .b32 %null;\n  .reg .{} {};\n", row.chain.reg, tuple(row.chain, -1));
  kernel.setup =
      "  mov.u32 %null, 0;\n"
      "  mad.wide.u32 %in, %thread, 4, %in;\n"
      "  mad.wide.u32 %out, %thread, 4, %out;\n";
  for (int i = 0; i < row.chain.count; ++i)
    kernel.loop += fmt::format("  mov.b32 %d_{}, %null;\n", i);
  kernel.loop += "  " + instruction + "\n";
  for (int i = 0; i < row.chain.count; ++i)
    kernel.loop += fmt::format("  st.global.b32 [%out+{}], %d_{};\n", i * kLanes * 4, i);
  kernel.loop += fmt::format("  add.u64 %in, %in, {};\n  add.u64 %out, %out, {};\n",
                             slot * kLanes * 4, row.chain.count * kLanes * 4);
  return ptx_text(kernel);
}

struct Experiment {
  Callable<unsigned(int lane, int nibble)> metadata;
  Callable<double(int stored)> a;  // of each chunk's stored elements, in order
  Callable<double(int k, int n)> b;
};

Experiment one_changed(const Form& form, int lane, int nibble) {
  const int size = chunk_size(form);
  return {[=](int l, int q) { return l == lane && q == nibble ? kLast : kFirst; },
          [](int) { return 1.0; },
          [=](int k, int n) {
            if (k % size < size / 2) return 0.0;
            return n == kColumns - 1 ? 1.0 : static_cast<double>(k / size >> n & 1);
          }};
}

Experiment all_alike(const Form& form, unsigned value) {
  const int size = chunk_size(form);
  return {[=](int, int) { return value; }, [](int stored) { return 1.0 + stored; },
          [=](int k, int n) { return k % size == n ? 1.0 : 0.0; }};
}

// Elements of a register of B lie along k, those of the four threads of a column after each other:
// PTX ISA 9.0, the fragments of mma for each shape.
void append(const Form& form, const InstructionRow& row, const Experiment& e,
            std::vector<std::uint32_t>& words) {
  const int in_register = 32 / element_bits(form.a);
  const auto add = [&](const Callable<double(int lane, int element)>& value, int r) {
    for (int lane = 0; lane < kLanes; ++lane) {
      int element = r * in_register;
      words.push_back(
          static_cast<std::uint32_t>(pack(form.a, 32, [&] { return value(lane, element++); })));
    }
  };
  for (int r = 0; r < row.inputs[0].count; ++r)
    add([&](int, int i) { return e.a(i % (chunk_size(form) / 2)); }, r);
  for (int r = 0; r < row.inputs[1].count; ++r)
    add(
        [&](int lane, int i) {
          const int k = lane % 4 * in_register + i % in_register + r * 4 * in_register;
          return e.b(k, lane / 4);
        },
        r);
  for (int lane = 0; lane < kLanes; ++lane) {
    std::uint32_t word = 0;
    for (int q = 0; q < kNibbles; ++q) word |= e.metadata(lane, q) << 4 * q;
    words.push_back(word);
  }
}

using Matrix = std::array<std::array<double, kColumns>, kRows>;

Matrix result(const Form& form, const std::uint32_t* registers) {
  Matrix d{};
  for (int r = 0; r < 4; ++r)
    for (int lane = 0; lane < kLanes; ++lane)
      d[lane / 4 + r / 2 * 8][lane % 4 * 2 + r % 2] =
          unpack(form.accumulator, registers[r * kLanes + lane]);
  return d;
}

// The chunk that a changed nibble belongs to, counted row by row; -1: to none.
int chunk_of(State& s, const Form& form, const Matrix& d) {
  int found = -1;
  const int kept = chunk_size(form) / 2;
  for (int row = 0; row < kRows; ++row) {
    if (d[row][kColumns - 1] == 0) continue;
    s.require(found < 0, "one metadatum changed more than one row");
    s.require(d[row][kColumns - 1] == kept, "one metadatum changed more than one chunk");
    int chunk = 0;
    for (int n = 0; n < kColumns - 1; ++n) chunk |= (d[row][n] == kept) << n;
    found = row * chunks(form) + chunk;
  }
  return found;
}

void run(State& s) {
  const Form& form = form_of(s.which());
  const InstructionRow row = mma_sync::row_of(form);
  std::vector<unsigned> legal = {kFirst, kLast};
  if (chunk_size(form) == 4) legal = {kFirst, 0b1000, 0b1100, 0b1001, 0b1101, kLast};

  std::vector<std::uint32_t> words;
  for (int lane = 0; lane < kLanes; ++lane)
    for (int q = 0; q < kNibbles; ++q) append(form, row, one_changed(form, lane, q), words);
  for (const unsigned value : legal) append(form, row, all_alike(form, value), words);
  const std::size_t experiments = kLanes * kNibbles + legal.size(), each = 4 * kLanes;
  const GeneratedKernel loaded(s, "experiments", kLanes, words.size() * 4, experiments * each * 4);
  loaded.set_inputs(words);
  const auto out = loaded.outputs_after<std::uint32_t>(static_cast<std::int64_t>(experiments));

  Series map{.name = "chunk_of_metadata",
             .unit = "",
             .axes = {{"lane", {}}, {"nibble", {}}},
             .values = {}};
  std::set<int> seen;
  for (int lane = 0; lane < kLanes; ++lane) {
    map.axes[0].points.emplace_back(std::int64_t{lane});
    for (int q = 0; q < kNibbles; ++q) {
      if (lane == 0) map.axes[1].points.emplace_back(std::int64_t{q});
      const int chunk = chunk_of(s, form, result(form, &out[(lane * kNibbles + q) * each]));
      map.values.push_back(chunk);
      s.require(chunk < 0 || seen.insert(chunk).second, "two metadata belong to one chunk");
    }
  }
  s.require(static_cast<int>(seen.size()) == kRows * chunks(form),
            fmt::format("{} chunks have metadata, not {}", seen.size(), kRows * chunks(form)));

  for (std::size_t v = 0; v < legal.size(); ++v) {
    const Matrix d = result(form, &out[(kLanes * kNibbles + v) * each]);
    const unsigned first = legal[v] & 3, second = legal[v] >> 2;
    for (int r = 0; r < kRows; ++r)
      for (unsigned n = 0; n < static_cast<unsigned>(chunk_size(form)); ++n) {
        const double weight =
            chunk_size(form) == 2 ? n == (legal[v] == kLast) : (n == first) + 2.0 * (n == second);
        s.require(d[r][n] == chunks(form) * weight,
                  fmt::format("metadata {:#06b} made {} of element {} of each chunk of row {}, "
                              "not {}",
                              legal[v], d[r][n], n, r, chunks(form) * weight));
      }
  }
  s.add_exact("metadata_bits", "bit", Better::lower, 4.0 * static_cast<double>(seen.size()));
  s.add_series(std::move(map));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Form& form : forms()) {
    const InstructionRow row = mma_sync::row_of(form);
    all.push_back({case_name(form), row.params, row.targets, Suite::full});
  }
  return all;
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  const InstructionRow row = mma_sync::row_of(form_of(c));
  const bool emulated = row.emulated(target);
  return {{.kernel = "experiments",
           .sass = row.sass(target),
           .ptx = ptx(row, target),
           .emulated = emulated,
           .local_memory = emulated}};
}

const Registration registration{{
    .name = "tensor_core/sparse_metadata",
    .question = "Which bits of which thread say what mma.sp keeps of each chunk of A?",
    .metrics = {{"metadata_bits", "Bits of metadata that one instruction reads."},
                {"chunk_of_metadata",
                 "Chunk of A whose kept elements each four bits of each lane name; -1 where they "
                 "name none."}},
    .cases = cases(),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
