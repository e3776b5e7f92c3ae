// SPDX-License-Identifier: Apache-2.0
// tcgen05.cp and tcgen05.shift, which are done in the order of issue among the MMAs. PTX ISA 9.0,
// 9.7.16.9 "Tensor Memory Data Movement Instructions".
#include "harness/model/tensor_memory/copy.hpp"

#include <cstring>

#include "harness/model/matrix/layout/shared_operand.hpp"
#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/tensor_memory/state.hpp"

namespace assay::model {
namespace {

// Sixteen bytes of shared memory, and the first of the four cells of each place that gets them.
struct Piece {
  std::uint32_t from;
  std::array<TensorCell, 4> to;
};

class Copy : public TensorOperation {
 public:
  Copy(TensorMemory& memory, std::uint32_t number, std::vector<Cta*> ctas,
       std::vector<Piece> pieces, int copies, std::optional<Decompression> format)
      : TensorOperation(memory, number),
        ctas_(std::move(ctas)),
        pieces_(std::move(pieces)),
        copies_(copies),
        format_(format) {
    what = "a tcgen05.cp";
  }
  void read() override {
    for (const Cta* cta : ctas_)
      for (const Piece& p : pieces_) {
        auto& bytes = bytes_.emplace_back();
        std::memcpy(bytes.data(), cta->shared.data() + p.from, 16);
        if (format_) bytes = decompress(*format_, bytes);
      }
  }
  void finish() override {
    std::size_t next = 0;
    for (Cta* cta : ctas_)
      for (const Piece& p : pieces_) {
        const auto words = std::bit_cast<std::array<std::uint32_t, 4>>(bytes_[next++]);
        for (int copy = 0; copy < copies_; ++copy) {
          const TensorCell to = p.to[static_cast<std::size_t>(copy)];
          for (int k = 0; k < 4; ++k)
            tensor_memory(*cta).at({to.lane, to.column + k}) = words[static_cast<std::size_t>(k)];
        }
      }
    ++memory_.done;
  }

 private:
  std::vector<Cta*> ctas_;
  std::vector<Piece> pieces_;
  int copies_;
  std::optional<Decompression> format_;
  std::vector<std::array<std::uint8_t, 16>> bytes_;
};

class Shift : public TensorOperation {
 public:
  Shift(TensorMemory& memory, std::uint32_t number, std::vector<Cta*> ctas, TensorCell first,
        bool upwards)
      : TensorOperation(memory, number), ctas_(std::move(ctas)), first_(first), upwards_(upwards) {
    what = "a tcgen05.shift";
  }
  void read() override {}
  void finish() override {
    for (Cta* cta : ctas_)
      for (int lane = first_.lane; lane < first_.lane + 32; ++lane)
        for (int column = first_.column; column < first_.column + kShiftColumns; ++column) {
          TensorMemory& memory = tensor_memory(*cta);
          // Lane by lane from the end that moves on: what is taken has not moved yet.
          const int to = upwards_ ? first_.lane + 31 - (lane - first_.lane) : lane;
          memory.at({to, column}) = memory.at({to - to % 32 + shift_source(to, upwards_), column});
        }
    ++memory_.done;
  }

 private:
  std::vector<Cta*> ctas_;
  TensorCell first_;
  bool upwards_;
};

TensorCopyShape shape_of(const Instruction& i) {
  if (i.has("128x256b")) return TensorCopyShape::s128x256b;
  if (i.has("4x256b")) return TensorCopyShape::s4x256b;
  if (i.has("128x128b")) return TensorCopyShape::s128x128b;
  if (i.has("64x128b") && i.has("warpx2::02_13")) return TensorCopyShape::s64x128b_02_13;
  if (i.has("64x128b") && i.has("warpx2::01_23")) return TensorCopyShape::s64x128b_01_23;
  if (i.has("32x128b") && i.has("warpx4")) return TensorCopyShape::s32x128b_warpx4;
  throw Violation("tcgen05.form", "it names no shape, or none with this multicast");
}

Action copy(Decoder& d, const Instruction& i) {
  const TensorCopyShape shape = shape_of(i);
  const int group = cta_group_of(i);
  std::optional<Decompression> format;
  if (i.has("b4x16_p64")) format = Decompression::b4x16_p64;
  if (i.has("b6x16_p32")) format = Decompression::b6x16_p32;
  const AddressOperand to = d.address(i.operands.at(0));
  const int from = d.source(i.operands.at(1), {Type::Kind::bits, 64});
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Run& run = *w.run;
      run.lane_now = l;
      const auto address = static_cast<std::uint32_t>(address_at(w, to, l));
      check_copy(shape, address);
      const matrix::SharedOperand o = matrix::tcgen05_operand(w.reg(from)[l]);
      const ptx::MatrixDescriptor source{o.start, o.leading, o.stride, o.swizzle, o.base_offset};
      const TensorCell first = tensor_cell(address);
      const TensorCopyExtent extent = extent_of(shape);
      std::vector<Piece> pieces;
      for (int row = 0; row < extent.rows; ++row)
        for (int chunk = 0; chunk < extent.columns / 4; ++chunk) {
          Piece p{copy_source(source, row, chunk), {}};
          for (int k = 0; k < extent.copies; ++k)
            p.to[static_cast<std::size_t>(k)] = {first.lane + lane_of_row(shape, row, k),
                                                 first.column + chunk * 4};
          pieces.push_back(p);
        }
      auto ctas = tensor_ctas(*w.cta, group);
      const auto [number, epoch] = next_operation(w, l);
      const Actor reader = run.issuer(w, l, epoch, "reads");
      TensorActor actor = tensor_actor(w, l, epoch, true);
      for (Cta* cta : ctas)
        for (const Piece& p : pieces) {
          const std::uint32_t rank = static_cast<std::uint32_t>(cta->rank) << kRankShift;
          run.check_read(run.resolve_shared(*w.cta, p.from | rank, 16, 16), 16, reader);
          for (int k = 0; k < extent.copies; ++k)
            for (int word = 0; word < 4; ++word) {
              const TensorCell c = p.to[static_cast<std::size_t>(k)];
              require_allocated(tensor_memory(*cta), {c.lane, c.column + word});
              check_cell(tensor_memory(*cta), {c.lane, c.column + word}, true, actor);
            }
        }
      run.issue(w, l,
                std::make_unique<Copy>(tensor_memory(*w.cta), number, std::move(ctas),
                                       std::move(pieces), extent.copies, format));
    });
    return Next::step;
  };
}

Action shift(Decoder& d, const Instruction& i) {
  const int group = cta_group_of(i);
  const AddressOperand at = d.address(i.operands.at(0));
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Run& run = *w.run;
      run.lane_now = l;
      const auto address = static_cast<std::uint32_t>(address_at(w, at, l));
      check_shift(address);
      const TensorCell first = tensor_cell(address);
      auto ctas = tensor_ctas(*w.cta, group);
      const auto [number, epoch] = next_operation(w, l);
      TensorActor actor = tensor_actor(w, l, epoch, true);
      for (Cta* cta : ctas)
        for (int lane = first.lane; lane < first.lane + 32; ++lane)
          for (int k = 0; k < kShiftColumns; ++k) {
            const TensorCell cell{lane, first.column + k};
            require_allocated(tensor_memory(*cta), cell);
            check_cell(tensor_memory(*cta), cell, false, actor);
            check_cell(tensor_memory(*cta), cell, true, actor);
          }
      run.issue(w, l,
                std::make_unique<Shift>(tensor_memory(*w.cta), number, std::move(ctas), first,
                                        run.takes_second(Reading::tcgen05_shift)));
    });
    return Next::step;
  };
}

}  // namespace

void add_tensor_copy(Meanings& all) {
  all.add("tcgen05.cp", copy);
  all.add("tcgen05.shift", shift);
}

}  // namespace assay::model
