// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor: boxes of a tensor, by the 128 bytes of its
// map. PTX ISA 9.0, "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor", "tensormap.replace".
#include <cstring>

#include "harness/model/copy/box.hpp"
#include "harness/model/semantics/copy.hpp"
#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/matrix/operand.hpp"
#include "harness/model/semantics/mbarrier.hpp"

namespace assay::model {
namespace {

CopyMode mode_of(const Instruction& i) {
  if (i.has("tile::gather4")) return CopyMode::gather4;
  if (i.has("tile::scatter4")) return CopyMode::scatter4;
  if (i.has("im2col::w::128")) return CopyMode::im2col_w_128;
  if (i.has("im2col::w")) return CopyMode::im2col_w;
  if (i.has("im2col") || i.has("im2col_no_offs")) return CopyMode::im2col;
  return CopyMode::tile;
}

// Slots of an operand `[map, {c0, c1, ...}]`.
struct MapOperand {
  AddressOperand map;
  std::vector<int> coordinates;
};
MapOperand map_operand(Decoder& d, const Operand& o) {
  if (o.elements.empty()) throw Violation("ptx.operand", "the tensor's coordinates are missing");
  return {d.address(o), d.sources(o.elements[0])};
}

struct TensorForm {
  CopyMode mode = CopyMode::tile;
  bool loads = true, multicast = false, reduces = false;
  int dimensions = 1, pair = 1;
  MapOperand map;
  AddressOperand shared, barrier;
  std::vector<int> offsets;
  int mask = -1;
  Merge merge;
};

// What loads do to tf32, as an H200 does it: rounded to nearest even, and NaN made canonical by the
// type called ftz, which keeps subnormal numbers all the same. So does f32_ftz.
std::uint32_t round_tf32(std::uint32_t x) {
  const bool finite = (x & 0x7f800000u) != 0x7f800000u;
  return (finite ? x + 0xfff + (x >> 13 & 1) : x) & 0xffffe000u;
}
std::uint32_t round_tf32_ftz(std::uint32_t x) {
  return (x & 0x7fffffffu) > 0x7f800000u ? 0x7fffe000u : round_tf32(x);
}

TensorMap read_map(Run& run, Warp& w, int l, const Where& where, Epoch epoch) {
  TensorMapBytes bytes;
  std::memcpy(bytes.data(), where.bytes, bytes.size());
  // A map that the kernel may write must have been fenced, and stays as it is until the copy is
  // done.
  Actor reader = run.issuer(w, l, epoch, "reads the tensor map");
  reader.reads_map = true;
  if (where.array != nullptr && where.array->writable) run.check_read(where, 128, reader);
  return decode(bytes);
}

void start(Warp& w, int l, const TensorForm& f) {
  Run& run = *w.run;
  run.lane_now = l;
  Lane& lane = w.lanes[static_cast<std::size_t>(l)];
  TensorCopy copy;
  copy.mode = f.mode;
  copy.direction = f.loads ? CopyDirection::load : CopyDirection::store;
  copy.dimensions = f.dimensions;
  for (std::size_t k = 0; k < f.map.coordinates.size() && k < 5; ++k)
    copy.coordinates[k] = static_cast<std::int32_t>(w.reg(f.map.coordinates[k])[l]);
  for (std::size_t k = 0; k < f.offsets.size() && k < 3; ++k)
    copy.offsets[k] = static_cast<std::uint16_t>(w.reg(f.offsets[k])[l]);
  const auto shared = static_cast<std::uint32_t>(address_at(w, f.shared, l));
  constexpr std::uint32_t kOffset = (1u << kRankShift) - 1;
  copy.shared = shared & kOffset;
  const Where map_at = run.resolve(w, l, Space::generic, address_at(w, f.map.map, l), 128, 64);
  if (map_at.array == nullptr)
    throw Violation("tensor_map.space",
                    std::string("the tensor map lies in ") + (map_at.shared ? "shared" : "local") +
                        " memory: it must be a __grid_constant__ parameter, a constant or in global"
                        " memory");

  const auto send = [&](std::uint32_t to) {  // an address of the cluster
    Epoch read, written;
    Cta* owner = nullptr;
    std::uint32_t barrier = 0, phase = 0;
    if (f.loads) {
      barrier = static_cast<std::uint32_t>(address_at(w, f.barrier, l));
      if (f.multicast) barrier = (barrier & kOffset) | (to & ~kOffset);
      Mbarrier& b = mbarrier_at(run, *w.cta, barrier, &lane.knows, &owner);
      mbarrier_for_async(run, b, lane.knows);
      phase = b.phase;
      read = written = mbarrier_epoch(b);
    } else {
      open_groups(run, lane.bulk);
      read = {lane.bulk.reads, lane.bulk.open};
      written = {lane.bulk.writes, lane.bulk.open};
    }
    const TensorMap map = read_map(run, w, l, map_at, read);
    check(map, copy);
    // Undocumented; an H100 and an H200 stop with an illegal instruction.
    if (copy.coordinates[0] * static_cast<std::int64_t>(global_bits(map.type)) % 128 != 0)
      throw Violation(
          "tensor_copy.coordinate",
          "the first coordinate, " + std::to_string(copy.coordinates[0]) +
              ", is not on 16 bytes of its row: silicon stops at an illegal instruction");
    std::vector<Chunk> chunks;
    const Actor reader = run.issuer(w, l, read, "reads");
    Actor writer = run.issuer(w, l, written, "writes");
    if (f.reduces) writer.strong = Scope::gpu;
    for_each_piece(map, copy, [&](const Piece& p) {
      if (p.kind == PieceKind::gap || (p.kind == PieceKind::outside && !f.loads)) return;
      const Where here = run.resolve_shared(*w.cta, p.shared | (to & ~kOffset), p.bytes, 1);
      if (f.loads) {
        Chunk c{nullptr, here.bytes, p.bytes};
        if (p.kind == PieceKind::copy) {
          const Where there = run.resolve_global(p.global, p.bytes, 1);
          run.check_read(there, p.bytes, reader);
          c.from = there.bytes;
        }
        run.check_write(here, p.bytes, writer);
        note_swizzle(here, p.bytes, map.swizzle, writer);
        chunks.push_back(c);
      } else {
        const bool packs = p.kind == PieceKind::pack6;
        const std::uint32_t bytes = packs ? p.bytes / 4 * 3 : p.bytes;
        const Where there = run.resolve_global(p.global, bytes, 1);
        run.check_read(here, p.bytes, reader);
        run.check_write(there, bytes, writer);
        chunks.push_back({here.bytes, there.bytes, p.bytes, packs});
      }
    });
    const std::uint64_t fill = fill_bits(map);
    std::vector<std::uint8_t> pattern(8);
    const std::uint32_t width = std::max(8u, shared_bits(map.type)) / 8;
    pattern.resize(width);
    std::memcpy(pattern.data(), &fill, width);
    auto op = std::make_unique<Transfer>(run, std::move(chunks), std::move(pattern));
    op->what = std::string("a tensor copy ") + (f.loads ? "to shared memory" : "to global memory");
    if (f.loads)
      op->completes_on(*owner, barrier, phase, transaction_bytes(map, copy));
    else
      op->belongs_to(lane.bulk);
    if (f.loads && map.type == MapElement::tf32) op->converts(round_tf32);
    if (f.loads && map.type == MapElement::tf32_ftz) op->converts(round_tf32_ftz);
    if (f.merge) op->merges(f.merge);
    run.issue(w, l, std::move(op));
  };
  if (!f.multicast) return send(shared);
  const auto ranks = static_cast<std::uint32_t>(w.reg(f.mask)[l] & 0xffff);
  if (ranks == 0) throw Violation("multicast.mask", "the mask of a multicast names no CTA");
  for (std::uint32_t r = 0; r < 16; ++r)
    if ((ranks >> r & 1) != 0) {
      if (r >= w.cta->cluster->ctas.size())
        throw Violation("multicast.mask", "the mask of a multicast names CTA " + std::to_string(r) +
                                              ", but the cluster has " +
                                              std::to_string(w.cta->cluster->ctas.size()));
      send((shared & kOffset) | r << kRankShift);
    }
}

Meaning tensor_copy(bool reduces) {
  return [reduces](Decoder& d, const Instruction& i) -> Action {
    TensorForm f;
    f.reduces = reduces;
    f.mode = mode_of(i);
    f.multicast = i.has("multicast::cluster");
    for (const std::string& p : i.parts)
      if (p.size() == 2 && p[1] == 'd' && p[0] >= '1' && p[0] <= '5') f.dimensions = p[0] - '0';
    // Of the two spaces the destination's comes first.
    const auto first = std::find_if(i.parts.begin(), i.parts.end(), [](const std::string& p) {
      return p == "global" || p.starts_with("shared");
    });
    f.loads = first != i.parts.end() && *first != "global";
    if (f.loads) {
      f.shared = d.address(i.operands.at(0));
      f.map = map_operand(d, i.operands.at(1));
      f.barrier = d.address(i.operands.at(2));
      std::size_t next = 3;
      const bool has_offsets = f.mode == CopyMode::im2col || f.mode == CopyMode::im2col_w ||
                               f.mode == CopyMode::im2col_w_128;
      if (has_offsets) f.offsets = d.sources(i.operands.at(next++));
      if (f.multicast) f.mask = d.source(i.operands.at(next++));
    } else {
      f.map = map_operand(d, i.operands.at(0));
      f.shared = d.address(i.operands.at(1));
      if (reduces) f.merge = Merge{};
    }
    const bool merges = reduces;
    const Instruction* source = &i;
    return [=, f = std::move(f)](Warp& w, Mask m) {
      for_lanes(m, [&](int l) {
        if (!merges) return start(w, l, f);
        // The element's type is the map's.
        TensorForm with = f;
        const Where at = w.run->resolve(w, l, Space::generic, address_at(w, f.map.map, l), 128, 64);
        TensorMapBytes bytes;
        std::memcpy(bytes.data(), at.bytes, 128);
        static constexpr const char* kNames[] = {"u8",  "u16", "u32",  "s32", "u64", "s64", "f16",
                                                 "f32", "f64", "bf16", "f32", "f32", "f32"};
        const auto type = static_cast<std::size_t>(decode(bytes).type);
        if (type >= std::size(kNames))
          throw Violation("tensor_map.type", "this type cannot be reduced");
        Instruction typed = *source;
        typed.parts.emplace_back(kNames[type]);
        with.merge = merge_of(typed);
        start(w, l, with);
      });
      return Next::step;
    };
  };
}

// tensormap.replace.tile.field.space.b1024.type [map], [ordinal,] value
Action replace_field(Decoder& d, const Instruction& i) {
  static constexpr std::pair<const char*, MapField> kFields[] = {
      {"global_address", MapField::global_address},
      {"rank", MapField::rank},
      {"box_dim", MapField::box_dim},
      {"global_dim", MapField::global_dim},
      {"global_stride", MapField::global_stride},
      {"element_stride", MapField::element_stride},
      {"elemtype", MapField::elemtype},
      {"interleave_layout", MapField::interleave_layout},
      {"swizzle_mode", MapField::swizzle_mode},
      {"fill_mode", MapField::fill_mode},
      {"swizzle_atomicity", MapField::swizzle_atomicity}};
  const auto* field = std::find_if(std::begin(kFields), std::end(kFields),
                                   [&](const auto& f) { return f.first == i.parts.at(3); });
  if (i.parts.at(2) != "tile") unknown_part(i, i.parts.at(2));
  if (field == std::end(kFields)) unknown_part(i, i.parts.at(3));
  const AddressOperand at = d.address(i.operands.at(0));
  const bool ordered = i.operands.size() > 2;
  const int ordinal =
      ordered ? static_cast<int>(Decoder::immediate(i.operands[1], "the dimension")) : 0;
  const int value = d.source(i.operands.at(ordered ? 2 : 1), type_of(i));
  const Space space = i.has("shared::cta") ? Space::shared : Space::generic;
  return [=, which = field->second](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Run& run = *w.run;
      run.lane_now = l;
      const Where where = run.resolve(w, l, space, address_at(w, at, l), 128, 128);
      run.check_write(where, 128, run.actor(w, l));
      replace(std::span<std::byte, 128>(reinterpret_cast<std::byte*>(where.bytes), 128), which,
              ordinal, w.reg(value)[l]);
    });
    return Next::step;
  };
}

}  // namespace

void add_tensor_copies(Meanings& all) {
  all.add("cp.async.bulk.tensor", tensor_copy(false));
  all.add("cp.reduce.async.bulk.tensor", tensor_copy(true));
  all.add("cp.async.bulk.prefetch.tensor", [](Decoder&, const Instruction&) -> Action {
    return [](Warp&, Mask) { return Next::step; };
  });
  all.add("tensormap.replace", replace_field);
}

}  // namespace assay::model
