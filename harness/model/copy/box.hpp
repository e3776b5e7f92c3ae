// SPDX-License-Identifier: Apache-2.0
// What a tensor copy moves: the pieces of its box in the order of shared memory, each with its
// place in shared and in global memory. PTX ISA 9.0, 5.5 "Tensors", and 9.7.9.25.5 "Tensor copy";
// the documentation of cuTensorMapEncode* in the CUDA driver API 13.0.
//
// A box is rows one below another in shared memory: rows of dimension 0 in the tiled modes, the
// channels of a pixel in im2col's. Where the manuals leave room:
// - Unspecified: a box extent that the element stride does not divide. The driver API says that
//   ceil(box / stride) elements are loaded, and notes floor(box / stride) of them in the map.
//   TensorCopy::steps_round_down is the second reading.
// - Unspecified: rows shorter than the swizzle is wide. Here they start at multiples of the width,
//   as the CUDA programming guide asks memory for. TensorCopy::rows_packed is the other reading.
// - Unspecified: the dimensions of an interleaved map. Here dimension 0 counts slices of 16 or 32
//   bytes that lie one after another, and no dimension counts the channels within one: for this
//   speak that the driver compares im2col's corners with the dimensions from 0 on, and that
//   dimension 0 may then have an element stride. How im2col lays slices out is not said at all:
//   refused.
// - Unspecified: what im2col::w loads as halo. Here it is what follows the last pixel.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "harness/model/copy/tensor_map.hpp"

namespace assay::model {

enum class CopyMode : std::uint8_t { tile, gather4, scatter4, im2col, im2col_w, im2col_w_128 };
enum class CopyDirection : std::uint8_t { load, store };  // to shared memory, to global memory

struct TensorCopy {
  CopyMode mode = CopyMode::tile;
  CopyDirection direction = CopyDirection::load;  // a reduction is a store
  int dimensions = 1;                             // that the instruction names
  // Innermost first; of gather4 and scatter4 the column and four rows.
  std::array<std::int32_t, 5> coordinates{};
  // im2col: of columns, rows, depths. im2col::w: halo and offset.
  std::array<std::uint16_t, 3> offsets{};
  std::uint32_t shared = 0;  // address in the CTA's window
  bool steps_round_down = false, rows_packed = false;
};

enum class PieceKind : std::uint8_t {
  copy,     // bytes from one place to the other
  outside,  // a load fills them, a store leaves them out; no global address
  gap,      // of a padded type: a load leaves them undefined
  pack6     // a store of 16 bytes, of each the lower 6 bits: 12 bytes of global memory
};
struct Piece {
  std::uint32_t shared;  // address
  std::uint32_t bytes;   // of shared memory
  std::uint64_t global;  // address
  PieceKind kind;
  bool operator==(const Piece&) const = default;
};

// Throws Violation for what the manuals forbid of the map, the instruction and its operands.
void check(const TensorMap& map, const TensorCopy& copy);

// Bytes of a load that complete_tx counts: the whole box, what lies outside the tensor included.
// Whether the gaps of padded types count is unspecified; here they do not, as CUTLASS's kernels
// expect.
std::uint32_t transaction_bytes(const TensorMap& map, const TensorCopy& copy);

// What an element outside becomes, in its type's bits: zero, or the special NaN of
// FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA: 0x7ff7 in every 16 bits, as an H200 has it.
std::uint64_t fill_bits(const TensorMap& map);

// The bits of an address that a swizzle turns over: those of the mask where the bits `shift` above
// them are set.
struct SwizzleBits {
  std::uint32_t shift, mask;
};
constexpr SwizzleBits swizzle_bits(MapSwizzle swizzle) {
  constexpr SwizzleBits kBits[] = {{0, 0},    {3, 0x10}, {3, 0x30}, {3, 0x70},
                                   {2, 0x60}, {2, 0x60}, {1, 0x40}};
  return kBits[static_cast<int>(swizzle)];
}

// Where the byte at this address lies after the swizzle. The pattern is one of addresses, not of
// the box. Of bytes128_atoms32_flip8 the manual says that every alternate line of 128 bytes is
// flipped: here the odd ones.
constexpr std::uint32_t swizzle_address(MapSwizzle swizzle, std::uint32_t address) {
  const SwizzleBits bits = swizzle_bits(swizzle);
  const bool flips = swizzle == MapSwizzle::bytes128_atoms32_flip8;
  return address ^ (address >> bits.shift & bits.mask) ^ (flips ? address >> 4 & 0x08 : 0);
}

// A copy worked out: rows and what each holds.
struct BoxPlan {
  // Of a row: elements [first, first + count) of a dimension of `extent` elements.
  std::int64_t first, count, extent;
  std::uint32_t bits_global, bits_shared;  // of an element
  std::uint32_t pitch;                     // bytes between rows in shared memory
  // The other dimensions of the tiled modes, innermost first.
  struct Loop {
    std::int64_t first, step, count, extent;
    std::uint64_t stride;  // bytes
  };
  int loops;
  std::array<Loop, 5> loop;
};
BoxPlan plan(const TensorMap& map, const TensorCopy& copy);

// Calls row(inside, address of element 0 of the row) for each row in order.
template <class Row>
void for_each_tile_row(const TensorMap& map, const BoxPlan& plan, Row&& row) {
  std::array<std::int64_t, 5> index{};
  for (;;) {
    bool inside = true;
    std::uint64_t address = map.address;
    for (int i = 0; i < plan.loops; ++i) {
      const BoxPlan::Loop& loop = plan.loop[i];
      const std::int64_t at = loop.first + index[i] * loop.step;
      inside &= at >= 0 && at < loop.extent;
      address += static_cast<std::uint64_t>(at) * loop.stride;
    }
    row(inside, address);
    int i = 0;
    while (i < plan.loops && ++index[i] == plan.loop[i].count) index[i++] = 0;
    if (i == plan.loops) return;
  }
}

// gather4 and scatter4: the rows that the coordinates name.
template <class Row>
void for_each_named_row(const TensorMap& map, const TensorCopy& copy, Row&& row) {
  for (int i = 1; i <= 4; ++i) {
    const std::int64_t at = copy.coordinates[i];
    row(at >= 0 && at < static_cast<std::int64_t>(map.extents[1]),
        map.address + static_cast<std::uint64_t>(at) * map.strides[0]);
  }
}

// A pixel of im2col's walk: columns first, then rows, depths and images.
struct PixelWalk {
  const TensorMap* map;
  int dimensions;                           // that the walk steps through before the next image
  std::array<std::int64_t, 4> at;           // columns, rows, depths; images behind the last of them
  std::array<std::int64_t, 3> first, last;  // bounds of the walk
  std::array<std::int64_t, 3> offset;

  void next() {
    for (int i = 0; i < dimensions; ++i) {
      at[i] += map->steps[i + 1];
      if (at[i] <= last[i]) return;
      at[i] = first[i];
    }
    at[map->rank - 2] += 1;
  }
  template <class Row>
  void visit(Row&& row) const {
    bool inside = true;
    std::uint64_t address = map->address;
    for (int i = 0; i < map->rank - 1; ++i) {
      const std::int64_t place = at[i] + (i < map->rank - 2 ? offset[i] : 0);
      inside &= place >= 0 && place < static_cast<std::int64_t>(map->extents[i + 1]);
      address += static_cast<std::uint64_t>(place) * map->strides[i];
    }
    row(inside, address);
  }
};
PixelWalk pixel_walk(const TensorMap& map, const TensorCopy& copy);

template <class Row>
void for_each_pixel(const TensorMap& map, const TensorCopy& copy, Row&& row) {
  PixelWalk walk = pixel_walk(map, copy);
  const bool wide = copy.mode != CopyMode::im2col;
  const bool blocks = copy.mode == CopyMode::im2col_w_128;
  const std::uint32_t pixels = blocks ? 32 : map.pixels;
  const std::uint32_t halo = wide ? copy.offsets[0] : 0;
  for (int block = 0; block < (blocks ? 4 : 1); ++block) {
    for (std::uint32_t i = 0; i < pixels; ++i, walk.next()) walk.visit(row);
    PixelWalk beyond = walk;
    for (std::uint32_t i = 0; i < halo; ++i, beyond.next()) beyond.visit(row);
  }
}

// Calls visit(const Piece&) for every piece. Under a swizzle a piece is at most 16 bytes; without
// one it is as long as both memories go on together. check() first.
template <class Visit>
void for_each_piece(const TensorMap& map, const TensorCopy& copy, Visit&& visit) {
  const BoxPlan p = plan(map, copy);
  const bool swizzled = map.swizzle != MapSwizzle::none;
  const SwizzleBits bits = swizzle_bits(map.swizzle);
  const bool flips = map.swizzle == MapSwizzle::bytes128_atoms32_flip8;  // not stored: no pack6
  const std::uint32_t unit = flips ? 8 : 16, flip = flips ? 8 : 0;
  Piece pending{0, 0, 0, PieceKind::gap};
  const auto emit = [&](std::uint32_t at, std::uint32_t bytes, std::uint64_t global,
                        PieceKind kind) {
    if (!swizzled) {
      const bool goes_on = kind == pending.kind && kind != PieceKind::pack6 &&
                           at == pending.shared + pending.bytes &&
                           (kind != PieceKind::copy || global == pending.global + pending.bytes);
      if (goes_on) {
        pending.bytes += bytes;
        return;
      }
      if (pending.bytes != 0) visit(static_cast<const Piece&>(pending));
      pending = {at, bytes, global, kind};
      return;
    }
    while (bytes > 0) {
      const std::uint32_t part = std::min(bytes, unit - at % unit);
      visit(Piece{at ^ (at >> bits.shift & bits.mask) ^ (at >> 4 & flip), part, global, kind});
      at += part;
      bytes -= part;
      if (kind == PieceKind::copy) global += part;
    }
  };
  std::uint32_t at = copy.shared;
  const std::int64_t begin = std::clamp<std::int64_t>(-p.first, 0, p.count);
  const std::int64_t end = std::clamp<std::int64_t>(p.extent - p.first, begin, p.count);
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::uint32_t>(elements * p.bits_shared / 8);
  };
  const auto row = [&](bool inside, std::uint64_t address) {
    const std::int64_t from = inside ? begin : 0, to = inside ? end : 0;
    if (from > 0) emit(at, bytes(from), 0, PieceKind::outside);
    const std::uint64_t global =
        address + static_cast<std::uint64_t>((p.first + from) * p.bits_global / 8);
    if (to > from) {
      if (!is_padded(map.type)) {
        emit(at + bytes(from), bytes(to - from), global, PieceKind::copy);
      } else {
        const std::uint32_t data = 2 * p.bits_global;  // bytes of 16 elements
        for (std::uint32_t group = 0; group < bytes(to - from) / 16; ++group) {
          const std::uint32_t shared = at + bytes(from) + group * 16;
          const std::uint64_t source = global + std::uint64_t{group} * data;
          if (copy.direction == CopyDirection::store) {
            emit(shared, 16, source, PieceKind::pack6);
          } else {
            emit(shared, data, source, PieceKind::copy);
            emit(shared + data, 16 - data, 0, PieceKind::gap);
          }
        }
      }
    }
    if (to < p.count) emit(at + bytes(to), bytes(p.count - to), 0, PieceKind::outside);
    at += p.pitch;
  };
  if (copy.mode == CopyMode::tile) {
    for_each_tile_row(map, p, row);
  } else if (copy.mode == CopyMode::gather4 || copy.mode == CopyMode::scatter4) {
    for_each_named_row(map, copy, row);
  } else {
    for_each_pixel(map, copy, row);
  }
  if (pending.bytes != 0) visit(static_cast<const Piece&>(pending));
}

}  // namespace assay::model
