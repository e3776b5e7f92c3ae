// SPDX-License-Identifier: Apache-2.0
// wgmma: matrix multiply by a warpgroup, under way until its group is waited for. PTX ISA 9.0,
// "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
//
// An operation begins when all four warps have issued it. Accumulators and fragments of A are taken
// over by it: the registers get their values back at the wait that covers its group.
#include <array>
#include <deque>
#include <map>
#include <string_view>

#include "harness/model/matrix/wgmma_form.hpp"
#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/matrix/operand.hpp"

namespace assay::model {
namespace {

// One register of a warp as an input: a value, or what an earlier operation is to leave.
struct Input {
  std::shared_ptr<Tile> tile;  // null: `values`
  int index = 0;
  std::array<Value, 32> values{};
};

struct Part {
  bool here = false;
  bool accumulate = false;
  bool in_place = false;  // C is what the operation before leaves in `out`; `c` is empty
  std::vector<Input> c, a;
  std::shared_ptr<Tile> out;
  std::uint64_t a_descriptor = 0, b_descriptor = 0;
  std::array<matrix::Word, 32> metadata{};
  std::uint32_t group = 0;
};

struct Warpgroup {
  Component component = 0;
  std::array<std::uint32_t, 4> issued{};  // operations, by warp
  std::array<std::uint32_t, 4> open{1, 1, 1, 1};
  std::map<std::uint32_t, int> unfinished;  // by group
  std::uint32_t done = 0;                   // operations, in order
  std::array<bool, 4> uncommitted{};
  struct Gathering {
    std::uint32_t site = 0;
    int count = 0;
    std::array<Part, 4> parts;
  };
  std::map<std::uint32_t, Gathering> gathering;  // by number of operation
};

struct State : Extension {
  std::deque<Warpgroup> groups;
  Warpgroup& of(Run& run, const Warp& w) {
    const auto index = static_cast<std::size_t>(w.index / 4);
    while (groups.size() <= index) groups.emplace_back();
    if (groups[index].component == 0) groups[index].component = run.new_component();
    return groups[index];
  }
  void at_exit(Run& run, Cta& cta) override {
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const auto& [number, gathering] : groups[g].gathering)
        run.report(
            "wgmma.warps",
            "only " + std::to_string(gathering.count) + " of the 4 warps of warpgroup " +
                std::to_string(g) + " issued a wgmma",
            run.place_of(cta.thread_base + static_cast<std::uint32_t>(g * 128), gathering.site),
            nullptr);
  }
};

struct Form {
  matrix::WgmmaForm wgmma;
  bool a_in_registers = false, transposed_a = false, transposed_b = false, negated_a = false,
       negated_b = false;
  std::vector<int> d, a;
  int a_descriptor = -1, b_descriptor = -1, scale_d = -1, metadata = -1, selector = 0;
  bool scale_negated = false;
};

class Multiply : public Operation {
 public:
  Multiply(Cta& cta, Warpgroup& group, const Form& form, std::array<Part, 4> parts,
           std::uint32_t number)
      : cta_(cta), group_(group), form_(form), parts_(std::move(parts)), number_(number) {
    what = "a wgmma";
  }
  bool in_order() const override { return true; }
  bool may_proceed() const override { return group_.done == number_; }

  void read() override {
    const auto& f = form_.wgmma;
    const std::span<const std::uint8_t> shared = cta_.shared;
    const auto shape_b = f.shape_of_b(form_.transposed_b);
    b_.resize(static_cast<std::size_t>(f.arithmetic.n) * static_cast<std::size_t>(shape_b.k));
    matrix::gather(matrix::wgmma_operand(parts_[0].b_descriptor), shape_b, shared, b_);
    if (form_.negated_b) matrix::negate(f.arithmetic.b, b_);
    a_.resize(static_cast<std::size_t>(64) * static_cast<std::size_t>(f.arithmetic.k));
    if (form_.a_in_registers) {
      f.a.gather<matrix::Word>(
          [&](int thread, int reg) {
            return value(parts_[at(thread / 32)].a[at(reg)], thread % 32);
          },
          a_);
    } else {
      matrix::gather(matrix::wgmma_operand(parts_[0].a_descriptor),
                     f.shape_of_a(form_.transposed_a), shared, a_);
    }
    if (form_.negated_a) matrix::negate(f.arithmetic.a, a_);
  }

  void finish() override {
    const auto& f = form_.wgmma;
    const auto& x = f.arithmetic;
    std::vector<matrix::Word> c, d(static_cast<std::size_t>(64 * x.n));
    if (parts_[0].accumulate) {
      c.resize(d.size());
      f.d.gather<matrix::Word>(
          [&](int thread, int reg) {
            const Part& p = parts_[at(thread / 32)];
            return p.in_place ? static_cast<matrix::Word>(p.out->values[at(reg)][at(thread % 32)])
                              : value(p.c[at(reg)], thread % 32);
          },
          c);
    }
    if (f.sparsity)
      select_b(c, d);
    else
      matrix::multiply(x, {a_, b_, c}, d);
    f.d.scatter<matrix::Word>(d, [&](int thread, int reg, matrix::Word v) {
      parts_[at(thread / 32)].out->values[at(reg)][at(thread % 32)] = v;
    });
    ++group_.done;
    const std::uint32_t group = parts_[0].group;
    if (--group_.unfinished[group] == 0) group_.unfinished.erase(group);
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  static matrix::Word value(const Input& in, int lane) {
    return static_cast<matrix::Word>(in.tile ? in.tile->values[at(in.index)][at(lane)]
                                             : in.values[at(lane)]);
  }
  // Sparse: each row of A has its own columns of B.
  void select_b(const std::vector<matrix::Word>& c, std::vector<matrix::Word>& d) {
    const auto& f = form_.wgmma;
    const auto& x = f.arithmetic;
    std::vector<matrix::Word> metadata(128);
    for (std::size_t t = 0; t < 128; ++t) metadata[t] = parts_[t / 32].metadata[t % 32];
    std::vector<std::uint8_t> columns(static_cast<std::size_t>(64 * f.sparsity->stored()));
    matrix::select(*f.sparsity, form_.selector, metadata, columns);
    matrix::Arithmetic row = x;
    row.m = 1;
    const auto k = static_cast<std::size_t>(x.k), n = static_cast<std::size_t>(x.n);
    const std::size_t whole = b_.size() / n;
    std::vector<matrix::Word> b(n * k);
    for (std::size_t r = 0; r < 64; ++r) {
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t e = 0; e < k; ++e) b[j * k + e] = b_[j * whole + columns[r * k + e]];
      const std::span<const matrix::Word> cr =
          c.empty() ? std::span<const matrix::Word>{}
                    : std::span<const matrix::Word>(c).subspan(r * n, n);
      matrix::multiply(row, {std::span<const matrix::Word>(a_).subspan(r * k, k), b, cr},
                       std::span(d).subspan(r * n, n));
    }
  }

  Cta& cta_;
  Warpgroup& group_;
  const Form& form_;
  std::array<Part, 4> parts_;
  std::uint32_t number_;
  std::vector<matrix::Word> a_, b_;
};

Input take(Warp& w, int slot) {
  Input in;
  if (const auto owned = w.owned.find(slot); owned != w.owned.end()) {
    in.tile = owned->second.tile;
    in.index = owned->second.index;
  } else {
    std::copy_n(w.reg(slot), 32, in.values.begin());
  }
  return in;
}

void check_fence(Warp& w, const Form& f, bool accumulate) {
  const auto stale = [&](int slot) {
    return !w.owned.contains(slot) && w.written[static_cast<std::size_t>(slot)] > w.fence_time;
  };
  bool missing = w.fence_time == 0;
  if (accumulate)
    for (int slot : f.d) missing |= stale(slot);
  for (int slot : f.a) missing |= stale(slot);
  if (missing)
    w.run->report(
        "wgmma.fence_missing", "registers of a wgmma were written, and no wgmma.fence came between",
        "wgmma.fence before the first wgmma, and after other instructions wrote its registers");
}

// Every chunk that the operation will read, seen by the checker.
void check_operands(Warp& w, const Form& f, const Part& p, Epoch epoch) {
  Run& run = *w.run;
  const int lane = static_cast<int>(run.random(32));
  const Actor actor = run.issuer(w, lane, epoch, "reads");
  const auto each = [&](std::uint64_t descriptor, const matrix::OperandShape& shape) {
    check_operand(run, *w.cta, *w.cta, matrix::wgmma_operand(descriptor), shape, actor);
  };
  each(p.b_descriptor, f.wgmma.shape_of_b(f.transposed_b));
  if (!f.a_in_registers) each(p.a_descriptor, f.wgmma.shape_of_a(f.transposed_a));
}

Next issue(Warp& w, Mask m, const Form& f) {
  if (!whole_warp(w, m)) return Next::blocked;
  Run& run = *w.run;
  State& state = w.cta->extension<State>("wgmma");
  Warpgroup& g = state.of(run, w);
  const auto warp = static_cast<std::size_t>(w.index % 4);
  if (static_cast<std::size_t>(w.index / 4 * 4 + 4) > w.cta->warps.size())
    throw Violation("wgmma.warps", "a wgmma needs four warps; this one's warpgroup has fewer");
  const std::uint32_t number = g.issued[warp]++;
  auto& gathering = g.gathering[number];
  if (gathering.count > 0 && gathering.site != run.current_site())
    throw Violation("wgmma.warps", "the warps of a warpgroup execute different wgmma instructions");
  gathering.site = run.current_site();
  Part& p = gathering.parts[warp];
  p.here = true;
  p.group = g.open[warp];
  p.accumulate = ((w.reg(f.scale_d)[0] & 1) != 0) != f.scale_negated;
  check_fence(w, f, p.accumulate);
  g.uncommitted[warp] = true;
  p.b_descriptor = w.reg(f.b_descriptor)[0];
  if (f.a_in_registers)
    for (int slot : f.a) p.a.push_back(take(w, slot));
  else
    p.a_descriptor = w.reg(f.a_descriptor)[0];
  if (f.metadata >= 0)
    for (std::size_t l = 0; l < 32; ++l)
      p.metadata[l] = static_cast<matrix::Word>(w.reg(f.metadata)[l]);
  // In place where all accumulators are those of one operation before it.
  bool same = p.accumulate;
  for (std::size_t k = 0; k < f.d.size() && same; ++k) {
    const auto owned = w.owned.find(f.d[k]);
    same = owned != w.owned.end() && owned->second.index == static_cast<int>(k) &&
           owned->second.tile == w.owned.at(f.d[0]).tile &&
           owned->second.tile->values.size() == f.d.size();
  }
  if (p.accumulate && !same) {
    p.c.reserve(f.d.size());
    for (int slot : f.d) p.c.push_back(take(w, slot));
  }
  p.in_place = same;
  if (same) {
    p.out = w.owned.at(f.d[0]).tile;
  } else {
    p.out = std::make_shared<Tile>();
    p.out->values.resize(f.d.size());
    for (std::size_t k = 0; k < f.d.size(); ++k) w.owned[f.d[k]] = {p.out, static_cast<int>(k)};
  }
  p.out->group = p.group;
  if (!f.a.empty()) {
    auto held = std::make_shared<Tile>();
    held->group = p.group;
    for (std::size_t k = 0; k < f.a.size(); ++k) {
      held->values.emplace_back();
      std::copy_n(w.reg(f.a[k]), 32, held->values.back().begin());
      w.owned[f.a[k]] = {held, static_cast<int>(k)};
    }
  }
  if (++gathering.count < 4) return Next::step;
  for (const Part& other : gathering.parts) {
    if (other.b_descriptor != p.b_descriptor || other.a_descriptor != p.a_descriptor ||
        other.accumulate != p.accumulate)
      throw Violation("wgmma.warps",
                      "the warps of a warpgroup give different descriptors or scale-d");
    if (other.group != p.group)
      throw Violation("wgmma.warps",
                      "the warps of a warpgroup have committed different counts of groups");
  }
  check_operands(w, f, p, {g.component, p.group});
  ++g.unfinished[p.group];
  run.issue(w, 0, std::make_unique<Multiply>(*w.cta, g, f, std::move(gathering.parts), number));
  g.gathering.erase(number);
  return Next::step;
}

Action multiply(Decoder& d, const Instruction& i) {
  auto f = std::make_shared<Form>();
  const std::vector<std::string_view> parts(i.parts.begin(), i.parts.end());
  f->wgmma = matrix::wgmma_form(parts);
  f->d = d.destinations(i.operands.at(0));
  std::size_t next = 1;
  const Type descriptor{Type::Kind::bits, 64};
  f->a_in_registers = i.operands.at(1).kind == Operand::Kind::vector;
  if (f->a_in_registers)
    f->a = d.sources(i.operands[next++]);
  else
    f->a_descriptor = d.source(i.operands[next++], descriptor);
  f->b_descriptor = d.source(i.operands.at(next++), descriptor);
  if (f->wgmma.sparsity) {
    f->metadata = d.source(i.operands.at(next++));
    f->selector =
        static_cast<int>(Decoder::immediate(i.operands.at(next++), "the sparsity selector"));
  }
  f->scale_negated = i.operands.at(next).negated;
  f->scale_d = d.source(i.operands.at(next++));
  if (f->wgmma.has_signs) {
    f->negated_a = Decoder::immediate(i.operands.at(next++), "imm-scale-a") == -1;
    f->negated_b = Decoder::immediate(i.operands.at(next++), "imm-scale-b") == -1;
  }
  if (f->wgmma.has_transposes) {
    if (!f->a_in_registers)
      f->transposed_a = Decoder::immediate(i.operands.at(next++), "imm-trans-a") != 0;
    f->transposed_b = Decoder::immediate(i.operands.at(next++), "imm-trans-b") != 0;
  }
  if (static_cast<int>(f->d.size()) != f->wgmma.d.registers())
    throw Violation("wgmma.registers", "D takes " + std::to_string(f->wgmma.d.registers()) +
                                           " registers, not " + std::to_string(f->d.size()));
  return [f](Warp& w, Mask m) { return issue(w, m, *f); };
}

Action fence(Decoder&, const Instruction&) {
  return [](Warp& w, Mask m) {
    if (!converged(w, m)) return Next::blocked;
    w.fence_time = w.run->time();
    return Next::step;
  };
}

Action commit(Decoder&, const Instruction&) {
  return [](Warp& w, Mask m) {
    if (!converged(w, m)) return Next::blocked;
    Warpgroup& g = w.cta->extension<State>("wgmma").of(*w.run, w);
    const auto warp = static_cast<std::size_t>(w.index % 4);
    ++g.open[warp];
    g.uncommitted[warp] = false;
    return Next::step;
  };
}

Action wait(Decoder&, const Instruction& i) {
  const auto pending =
      static_cast<std::uint32_t>(Decoder::immediate(i.operands.at(0), "the count of groups"));
  return [pending](Warp& w, Mask m) {
    if (!converged(w, m)) return Next::blocked;
    Warpgroup& g = w.cta->extension<State>("wgmma").of(*w.run, w);
    const auto warp = static_cast<std::size_t>(w.index % 4);
    const std::uint32_t closed = g.open[warp] - 1;
    const std::uint32_t last = closed > pending ? closed - pending : 0;
    // What other warps have still to issue cannot be done either.
    const bool gathers = !g.gathering.empty() && g.gathering.begin()->second.parts[warp].here &&
                         g.gathering.begin()->second.parts[warp].group <= last;
    if (gathers || (!g.unfinished.empty() && g.unfinished.begin()->first <= last)) {
      w.current->wait =
          Wait{[&g, last, warp] {
                 const bool still = !g.gathering.empty() &&
                                    g.gathering.begin()->second.parts[warp].here &&
                                    g.gathering.begin()->second.parts[warp].group <= last;
                 return !still && (g.unfinished.empty() || g.unfinished.begin()->first > last);
               },
               "its groups of wgmma"};
      return Next::blocked;
    }
    for (auto owned = w.owned.begin(); owned != w.owned.end();) {
      if (owned->second.tile->group <= last) {
        const auto& values =
            owned->second.tile->values[static_cast<std::size_t>(owned->second.index)];
        std::copy_n(values.begin(), 32, w.reg(owned->first));
        owned = w.owned.erase(owned);
      } else {
        ++owned;
      }
    }
    for (Lane& lane : w.lanes) lane.knows.all.raise({g.component, last});
    return Next::step;
  };
}

}  // namespace

void add_wgmma(Meanings& all) {
  all.add("wgmma.mma_async", multiply);
  all.add("wgmma.fence", fence);
  all.add("wgmma.commit_group", commit);
  all.add("wgmma.wait_group", wait);
}

}  // namespace assay::model
