// SPDX-License-Identifier: Apache-2.0
// tcgen05.ld, tcgen05.st and the waits for them. PTX ISA 9.0, 9.7.16.8 "Tensor Memory and Register
// Load/Store Instructions".
//
// The registers of a load belong to it until the wait; a store takes its registers' values when it
// is issued.
#include "harness/model/tensor_memory/load_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/tensor_memory/state.hpp"

namespace assay::model {
namespace {

struct Form {
  TensorAccess access;
  bool loads = true;
  AddressOperand address;
  std::vector<int> registers;
};

using Values = std::vector<std::array<Value, 32>>;

template <class Each>
void for_cells(const TensorAccess& access, Each&& each) {
  const int registers = registers_of(access.shape, access.repeat);
  for (int r = 0; r < registers; ++r)
    for (int t = 0; t < 32; ++t) each(r, t, register_cell(access, t, r));
}

TensorCell right_of(TensorCell cell) { return {cell.lane, cell.column + 1}; }

class Move : public Operation {
 public:
  Move(TensorMemory& memory, TensorAccesses& accesses, const TensorAccess& access, bool loads,
       std::shared_ptr<Tile> tile)
      : memory_(memory),
        accesses_(accesses),
        access_(access),
        loads_(loads),
        tile_(std::move(tile)) {
    what = loads ? "a tcgen05.ld" : "a tcgen05.st";
  }
  void read() override {}
  void finish() override {
    for_cells(access_, [&](int r, int t, TensorCell cell) {
      Value& value = tile_->values[static_cast<std::size_t>(r)][static_cast<std::size_t>(t)];
      std::uint32_t& first = memory_.at(cell);
      if (!access_.pack) {
        if (loads_)
          value = first;
        else
          first = static_cast<std::uint32_t>(value);
        return;
      }
      std::uint32_t& second = memory_.at(right_of(cell));
      if (loads_) {
        value = (first & 0xffff) | second << 16;
      } else {
        first = static_cast<std::uint32_t>(value & 0xffff);
        second = static_cast<std::uint32_t>(value >> 16 & 0xffff);
      }
    });
    --accesses_.unfinished;
  }

 private:
  TensorMemory& memory_;
  TensorAccesses& accesses_;
  TensorAccess access_;
  bool loads_;
  std::shared_ptr<Tile> tile_;
};

Next start(Warp& w, Mask m, const Form& f) {
  if (!converged(w, m)) return Next::blocked;
  Run& run = *w.run;
  TensorMemory& memory = tensor_memory(*w.cta);
  TensorAccesses& accesses = f.loads ? tensor_warp(run, w).loads : tensor_warp(run, w).stores;
  TensorAccess access = f.access;
  access.address = static_cast<std::uint32_t>(address_at(w, f.address, 0));
  for (int lane = 1; lane < 32; ++lane)
    if (static_cast<std::uint32_t>(address_at(w, f.address, lane)) != access.address)
      throw Violation("tensor_memory.uniform", "the lanes of the warp give different addresses");
  check(access, w.index % 4);
  TensorActor actor = tensor_actor(w, 0, {accesses.strand, ++accesses.issued}, false);
  for_cells(access, [&](int, int, TensorCell cell) {
    require_allocated(memory, cell);
    check_cell(memory, cell, !f.loads, actor);
    if (!access.pack) return;
    require_allocated(memory, right_of(cell));
    check_cell(memory, right_of(cell), !f.loads, actor);
  });
  auto tile = std::make_shared<Tile>();
  tile->values.resize(f.registers.size());
  for (std::size_t r = 0; r < f.registers.size(); ++r) {
    if (f.loads)
      w.owned[f.registers[r]] = {tile, static_cast<int>(r)};
    else
      std::copy_n(w.reg(f.registers[r]), 32, tile->values[r].begin());
  }
  ++accesses.unfinished;
  run.issue(w, 0, std::make_unique<Move>(memory, accesses, access, f.loads, std::move(tile)));
  return Next::step;
}

TensorShape shape_of(const Instruction& i) {
  if (i.has("32x32b")) return TensorShape::s32x32b;
  if (i.has("16x64b")) return TensorShape::s16x64b;
  if (i.has("16x128b")) return TensorShape::s16x128b;
  if (i.has("16x256b")) return TensorShape::s16x256b;
  if (i.has("16x32bx2")) return TensorShape::s16x32bx2;
  throw Violation("tcgen05.form", "it names no shape");
}

Meaning move(bool loads) {
  return [loads](Decoder& d, const Instruction& i) -> Action {
    if (i.has("red")) unknown_part(i, "red");
    Form f;
    f.loads = loads;
    f.access.shape = shape_of(i);
    f.access.pack = i.has("pack::16b") || i.has("unpack::16b");
    for (const std::string& p : i.parts)
      if (p.size() > 1 && p[0] == 'x')
        std::from_chars(p.data() + 1, p.data() + p.size(), f.access.repeat);
    const bool split = f.access.shape == TensorShape::s16x32bx2;
    const std::size_t registers = loads ? 0 : split ? 2 : 1, address = loads ? 1 : 0;
    f.address = d.address(i.operands.at(address));
    if (split)
      f.access.half_split =
          static_cast<int>(Decoder::immediate(i.operands.at(address + 1), "immHalfSplitoff"));
    f.registers =
        loads ? d.destinations(i.operands.at(registers)) : d.sources(i.operands.at(registers));
    const int wanted = registers_of(f.access.shape, f.access.repeat);
    if (static_cast<int>(f.registers.size()) != wanted)
      throw Violation("tcgen05.form",
                      fmt::format("it takes {} registers, not {}", wanted, f.registers.size()));
    return [f](Warp& w, Mask m) { return start(w, m, f); };
  };
}

Meaning wait(bool loads) {
  return [loads](Decoder&, const Instruction&) -> Action {
    return [loads](Warp& w, Mask m) {
      if (!converged(w, m)) return Next::blocked;
      TensorAccesses& a = loads ? tensor_warp(*w.run, w).loads : tensor_warp(*w.run, w).stores;
      if (a.unfinished > 0) {
        w.current->wait =
            Wait{[&a] { return a.unfinished == 0; }, loads ? "its tcgen05.ld" : "its tcgen05.st"};
        return Next::blocked;
      }
      if (loads) {
        for (const auto& [slot, owned] : w.owned)
          std::copy_n(owned.tile->values[static_cast<std::size_t>(owned.index)].begin(), 32,
                      w.reg(slot));
        w.owned.clear();
      }
      for (int l = 0; l < 32; ++l) {
        tensor_lane(w, l).own.raise({a.strand, a.issued});
        w.lanes[static_cast<std::size_t>(l)].knows.all.raise({a.strand + 1, a.issued});
      }
      return Next::step;
    };
  };
}

}  // namespace

void add_tensor_load_store(Meanings& all) {
  all.add("tcgen05.ld", move(true));
  all.add("tcgen05.st", move(false));
  all.add("tcgen05.wait::ld", wait(true));
  all.add("tcgen05.wait::st", wait(false));
}

}  // namespace assay::model
