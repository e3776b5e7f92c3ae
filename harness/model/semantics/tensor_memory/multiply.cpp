// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma: D in tensor memory, A there or in shared memory, B in shared memory, of one CTA or
// of a pair. PTX ISA 9.0, 9.7.16.10 "TensorCore 5th Generation Matrix Multiply and accumulate
// Operations". Not silicon: the sums are exact products rounded once (matrix/arithmetic.hpp).
//
// Collector buffers change no result: what they may be used for is checked. What is unspecified
// takes one reading or the other (machine/reading.hpp).
#include <cmath>
#include <optional>
#include <unordered_map>

#include "harness/model/matrix/mma_shape.hpp"
#include "harness/model/matrix/tcgen05_form.hpp"
#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/matrix/operand.hpp"
#include "harness/model/semantics/number.hpp"
#include "harness/model/semantics/tensor_memory/state.hpp"
#include "harness/model/tensor_memory/instruction.hpp"
#include "harness/model/tensor_memory/metadata.hpp"

namespace assay::model {
namespace {

using matrix::Word;

struct Form {
  std::vector<std::string_view> words;
  int cta_group = 1;
  bool ws = false, scaled = false, a_in_tensor = false, block16 = false, accumulate_negated = false;
  bool sparse = false, ashift = false;
  AddressOperand d, a, metadata, scale_a, scale_b;
  int a_descriptor = -1, b_descriptor = -1, instruction = -1, accumulate = -1, zero_columns = -1;
  std::string collector = "a";
  CollectorUse use = CollectorUse::discard;
  std::vector<int> disabled;  // lanes of D that are not written: 32 to a register
  int input_scale = 0;        // D counts 2^-input_scale of itself
  mutable std::unordered_map<std::uint32_t, matrix::Tcgen05Form> known;  // by descriptor
};

std::size_t size(int n) { return static_cast<std::size_t>(n); }

// One MMA, with the values of its operands' registers.
struct Multiplication {
  const Form* form = nullptr;
  const matrix::Tcgen05Form* mma = nullptr;
  MmaShape shape{};
  std::vector<Cta*> ctas;
  std::uint64_t a = 0, b = 0, zero_columns = 0;
  std::uint32_t d_address = 0, a_address = 0, scale_a = 0, scale_b = 0;
  ptx::ScaleVector vector = ptx::ScaleVector::x1;
  std::optional<TensorMetadata> metadata;
  bool accumulate = false, toward_zero = false, upwards = false, last_copy = false,
       moves_metadata = false;
  std::array<std::uint32_t, 8> disabled{};

  // The row that is in place of `row`.
  int shifted(int row) const {
    if (!form->ashift) return row;
    return upwards ? std::max(row - 1, 0) : std::min(row + 1, rows() - 1);
  }
  bool reads(int copy, int copies) const { return copy == (last_copy ? copies - 1 : 0); }

  int rows() const { return shape.m / shape.ctas; }  // of one CTA

  TensorCell d_at(int row, int column) const {
    const TensorCell first = tensor_cell(d_address);
    const MmaCell c = d_cell(shape, row, column);
    return {first.lane + c.lane, first.column + c.column};
  }
  bool writes(int cta, int lane) const {
    const auto word = size(cta * 4 + lane / 32);
    return (disabled[word] >> (lane % 32) & 1) == 0;
  }

  // Each row and k of a CTA's A in tensor memory: copies hold the same.
  template <class Each>
  void for_a(Each&& each) const {
    const int bits = tensor_memory_bits(mma->kind);
    const TensorCell first = tensor_cell(a_address);
    for (int copy = 0; copy < a_copies(shape); ++copy)
      for (int row = 0; row < rows(); ++row)
        for (int k = 0; k < mma->arithmetic.k; ++k) {
          const PackedCell p = a_cell(shape, shifted(row), k, bits, copy);
          each(row, k, copy, TensorCell{first.lane + p.cell.lane, first.column + p.cell.column},
               p.bit, bits);
        }
  }
  int scale_copies(bool of_a) const { return !of_a && data_path(shape) == DataPath::b ? 2 : 4; }
  // Each scale of a CTA: of its rows of A (`of_a`), or of all columns of D.
  template <class Each>
  void for_scales(bool of_a, Each&& each) const {
    const int lines = of_a ? rows() : shape.n;
    const int copies = scale_copies(of_a);
    const TensorCell first = scale_address(of_a ? scale_a : scale_b);
    for (int line = 0; line < lines; ++line)
      for (int k = 0; k < mma->arithmetic.scales(); ++k)
        for (int copy = 0; copy < copies; ++copy) {
          const int first_byte = of_a ? mma->scale_byte_a : mma->scale_byte_b;
          const PackedCell p = mma->k == 96 ? scale_cell_k96(lines, first_byte, line, k, copy)
                               : of_a       ? scale_cell(vector, first_byte, line, k, copy)
                                      : scale_b_cell(shape, vector, first_byte, line, k, copy);
          each(line, k, copy, TensorCell{first.lane + p.cell.lane, first.column + p.cell.column},
               p.bit);
        }
  }
};

class Multiply : public TensorOperation {
 public:
  Multiply(TensorMemory& memory, std::uint32_t number, Multiplication m)
      : TensorOperation(memory, number), m_(std::move(m)) {
    what = "a tcgen05.mma";
  }

  void read() override {
    const auto& f = *m_.mma;
    const auto& x = f.arithmetic;
    const std::size_t a_size = size(m_.rows()) * size(x.k),
                      b_size = size(x.n / m_.shape.ctas) * size(f.k);
    a_.resize(a_size * m_.ctas.size());
    b_.resize(b_size * m_.ctas.size());
    for (std::size_t c = 0; c < m_.ctas.size(); ++c) {
      const std::span<const std::uint8_t> shared = m_.ctas[c]->shared;
      const auto a = std::span(a_).subspan(c * a_size, a_size);
      if (m_.form->a_in_tensor) {
        TensorMemory& memory = tensor_memory(*m_.ctas[c]);
        m_.for_a([&](int row, int k, int copy, TensorCell cell, int bit, int bits) {
          const std::uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
          if (m_.reads(copy, a_copies(m_.shape)))
            a[size(row * x.k + k)] = memory.at(cell) >> bit & mask;
        });
      } else {
        matrix::gather(matrix::tcgen05_operand(m_.a), f.shape_of_a(), shared, a);
      }
      matrix::gather(matrix::tcgen05_operand(m_.b), f.shape_of_b(), shared,
                     std::span(b_).subspan(c * b_size, b_size));
      if (m_.metadata) {
        columns_.resize(a_.size());
        const auto rows = std::span(columns_).subspan(c * a_size, a_size);
        const int stored = x.k / m_.metadata->groups();
        m_.metadata->for_groups(m_.rows(), [&](int row, int g, int copy, TensorCell cell, int bit) {
          if (!m_.reads(copy, m_.metadata->copies)) return;
          const std::uint32_t nibble = tensor_memory(*m_.ctas[c]).at(cell) >> bit & 0xf;
          for (int to = 0; to < m_.rows(); ++to)
            if (row == (m_.moves_metadata ? m_.shifted(to) : to))
              m_.metadata->columns(g, nibble,
                                   rows.subspan(size(to * x.k + g * stored), size(stored)));
        });
      }
    }
    if (f.negate_a) matrix::negate(x.a, a_);
    if (f.negate_b) matrix::negate(x.b, b_);
    if (m_.form->zero_columns >= 0) {
      const auto zeros = zero_column_mask(m_.zero_columns, x.m, x.n);
      for (int column = 0; column < x.n; ++column)
        if (zeros[size(column)]) std::fill_n(b_.begin() + column * f.k, f.k, 0u);
    }
  }

  void finish() override {
    matrix::Arithmetic part = m_.mma->arithmetic;  // of one CTA's rows
    part.m = m_.rows();
    part.toward_zero = m_.toward_zero;
    const std::size_t a_size = a_.size() / m_.ctas.size();
    std::vector<Word> c, d(size(part.m) * size(part.n)), scale_a, scale_b;
    for (std::size_t r = 0; r < m_.ctas.size(); ++r) {
      TensorMemory& memory = tensor_memory(*m_.ctas[r]);
      const int cta = static_cast<int>(r), first = cta * part.m;
      const auto each = [&](auto&& act) {
        for (int row = 0; row < part.m; ++row)
          for (int column = 0; column < part.n; ++column)
            act(size(row * part.n + column), m_.d_at(first + row, column));
      };
      if (m_.accumulate) {
        c.resize(d.size());
        each([&](std::size_t at, TensorCell cell) { c[at] = input(memory.at(cell), part.c); });
      }
      if (m_.form->scaled) {
        scale_a.resize(size(part.m * part.scales()));
        scale_b.resize(size(part.n * part.scales()));
        const auto take = [&](bool of_a, std::vector<Word>& to) {
          m_.for_scales(of_a, [&](int line, int k, int copy, TensorCell cell, int bit) {
            if (m_.reads(copy, m_.scale_copies(of_a)))
              to[size(line * part.scales() + k)] = memory.at(cell) >> bit & 0xff;
          });
        };
        take(true, scale_a);
        take(false, scale_b);
      }
      matrix::multiply(part,
                       {.a = std::span<const Word>(a_).subspan(r * a_size, a_size),
                        .b = b_,
                        .c = c,
                        .scale_a = scale_a,
                        .scale_b = scale_b,
                        .columns = m_.metadata ? std::span<const std::uint8_t>(columns_).subspan(
                                                     r * a_size, a_size)
                                               : std::span<const std::uint8_t>{}},
                       d);
      each([&](std::size_t at, TensorCell cell) {
        if (m_.writes(cta, cell.lane)) memory.at(cell) = d[at];
      });
    }
    ++memory_.done;
  }

 private:
  Word input(std::uint32_t cell, matrix::Type type) const {
    const int scale = -m_.form->input_scale;
    if (type != matrix::Type::f16)
      return scale == 0 ? cell : std::bit_cast<Word>(std::ldexp(std::bit_cast<float>(cell), scale));
    if (scale == 0) return cell & 0xffff;
    // Unspecified: how what is no f16 any more is rounded. To the nearest.
    Number f16;
    parse_number("f16", f16);
    return static_cast<Word>(from_double(f16, std::ldexp(to_double(f16, cell & 0xffff), scale)));
  }

  Multiplication m_;
  std::vector<Word> a_, b_;
  std::vector<std::uint8_t> columns_;  // of a sparse A: where each of its elements belongs
};

// Everything that the operation will read and write, seen by the checker.
void check_operands(Warp& w, int l, const Multiplication& m, Epoch epoch) {
  Run& run = *w.run;
  const Actor reader = run.issuer(w, l, epoch, "reads");
  TensorActor actor = tensor_actor(w, l, epoch, true);
  const auto shared = [&](std::uint64_t descriptor, const matrix::OperandShape& shape, Cta* cta) {
    check_operand(run, *w.cta, *cta, matrix::tcgen05_operand(descriptor), shape, reader);
  };
  for (std::size_t r = 0; r < m.ctas.size(); ++r) {
    Cta* const cta = m.ctas[r];
    TensorMemory& memory = tensor_memory(*cta);
    shared(m.b, m.mma->shape_of_b(), cta);
    if (m.form->a_in_tensor) {
      m.for_a([&](int, int, int, TensorCell cell, int bit, int) {
        if (bit != 0) return;
        require_allocated(memory, cell);
        check_cell(memory, cell, false, actor);
      });
    } else {
      shared(m.a, m.mma->shape_of_a(), cta);
    }
    if (m.metadata)
      m.metadata->for_groups(m.rows(), [&](int, int, int, TensorCell cell, int) {
        require_allocated(memory, cell);
        check_cell(memory, cell, false, actor);
      });
    if (m.form->scaled)
      for (const bool of_a : {true, false})
        m.for_scales(of_a, [&](int, int, int, TensorCell cell, int) {
          require_allocated(memory, cell);
          check_cell(memory, cell, false, actor);
        });
    const int first = static_cast<int>(r) * m.rows();
    for (int row = first; row < first + m.rows(); ++row)
      for (int column = 0; column < m.shape.n; ++column) {
        const TensorCell cell = m.d_at(row, column);
        require_allocated(memory, cell);
        if (m.accumulate) check_cell(memory, cell, false, actor);
        if (m.writes(static_cast<int>(r), cell.lane)) check_cell(memory, cell, true, actor);
      }
  }
}

void issue(Warp& w, int l, const Form& f) {
  Run& run = *w.run;
  run.lane_now = l;
  const auto descriptor = static_cast<std::uint32_t>(w.reg(f.instruction)[l]);
  auto known = f.known.find(descriptor);
  if (known == f.known.end()) {
    const matrix::Tcgen05Form form = matrix::tcgen05_form(f.words, descriptor);
    check_shape(decode_instruction(form.kind, descriptor), f.cta_group, f.ws);
    known = f.known.emplace(descriptor, form).first;
  }
  Multiplication m;
  m.form = &f;
  m.mma = &known->second;
  const auto& x = m.mma->arithmetic;
  m.shape = {.m = x.m, .n = x.n, .ctas = f.cta_group, .sparse = f.sparse, .ws = f.ws};
  m.ctas = tensor_ctas(*w.cta, f.cta_group);
  const auto address = [&](const AddressOperand& a) {
    return static_cast<std::uint32_t>(address_at(w, a, l));
  };
  m.d_address = address(f.d);
  if (f.a_in_tensor)
    m.a_address = address(f.a);
  else
    m.a = w.reg(f.a_descriptor)[l];
  if (f.sparse)
    m.metadata = tensor_metadata(m.mma->kind, m.shape, m.mma->k, address(f.metadata),
                                 f.scaled ? 0 : m.mma->sparsity_selector);
  if (f.ashift && m.rows() != kTensorLanes)
    throw Violation("tcgen05.form",
                    ".ashift is for M = 128 of one CTA, or 256 of two; which row of M = 128 of two "
                    "CTAs is the last is unspecified");
  m.b = w.reg(f.b_descriptor)[l];
  tensor_memory(*w.cta).collectors[f.collector].access(f.use,
                                                       f.collector != "a" ? m.b
                                                       : f.a_in_tensor    ? m.a_address
                                                                          : m.a,
                                                       f.ashift);
  if (f.zero_columns >= 0) m.zero_columns = w.reg(f.zero_columns)[l];
  if (f.scaled) {
    m.scale_a = address(f.scale_a);
    m.scale_b = address(f.scale_b);
    m.vector = scale_vector(decode_instruction(m.mma->kind, descriptor), f.block16);
  }
  if (f.ashift) m.upwards = run.takes_second(Reading::tcgen05_shift);
  if (f.ashift && f.sparse) m.moves_metadata = run.takes_second(Reading::tcgen05_ashift_metadata);
  if (f.scaled || a_copies(m.shape) > 1) m.last_copy = run.takes_second(Reading::tcgen05_copies);
  if (x.certainty == matrix::Certainty::bounded)
    m.toward_zero = run.takes_second(Reading::tcgen05_rounding);
  m.accumulate = ((w.reg(f.accumulate)[l] & 1) != 0) != f.accumulate_negated;
  for (std::size_t k = 0; k < f.disabled.size(); ++k)
    m.disabled[k] = static_cast<std::uint32_t>(w.reg(f.disabled[k])[l]);
  const auto [number, epoch] = next_operation(w, l);
  check_operands(w, l, m, epoch);
  run.issue(w, l, std::make_unique<Multiply>(tensor_memory(*w.cta), number, std::move(m)));
}

// .collector::a::fill, of .ws .collector::b0::fill to b3.
void collect(const Instruction& i, Form& f) {
  if (f.ws) f.collector = "b0";
  for (const std::string_view part : i.parts) {
    if (!part.starts_with("collector::")) continue;
    const auto second = part.find("::", 11);
    f.collector = part.substr(11, second - 11);
    const std::string_view use = second == part.npos ? "" : part.substr(second + 2);
    const std::string_view buffers = f.ws ? "b0 b1 b2 b3" : "a";
    if (!matrix::lists(buffers, f.collector)) unknown_part(i, std::string(part));
    if (use == "fill")
      f.use = CollectorUse::fill;
    else if (use == "use")
      f.use = CollectorUse::use;
    else if (use == "lastuse")
      f.use = CollectorUse::last_use;
    else if (use != "discard")
      unknown_part(i, std::string(part));
  }
}

Action multiply(Decoder& d, const Instruction& i) {
  auto f = std::make_shared<Form>();
  f->words.assign(i.parts.begin(), i.parts.end());
  f->cta_group = cta_group_of(i);
  f->ws = i.has("ws");
  f->scaled = i.has("block_scale");
  f->sparse = i.has("sp");
  f->ashift = i.has("ashift");
  f->block16 = i.has("block16") || i.has("scale_vec::4X");
  const Type descriptor{Type::Kind::bits, 64};
  f->d = d.address(i.operands.at(0));
  f->a_in_tensor = i.operands.at(1).kind == Operand::Kind::memory;
  if (f->a_in_tensor)
    f->a = d.address(i.operands[1]);
  else
    f->a_descriptor = d.source(i.operands[1], descriptor);
  f->b_descriptor = d.source(i.operands.at(2), descriptor);
  if (f->ashift && (f->ws || f->scaled || !f->a_in_tensor))
    throw Violation("tcgen05.form",
                    ".ashift is for an A in tensor memory, with neither .ws nor block scales");
  collect(i, *f);
  std::size_t next = 3;
  if (f->sparse) f->metadata = d.address(i.operands.at(next++));
  f->instruction = d.source(i.operands.at(next++));
  if (f->scaled) {
    f->scale_a = d.address(i.operands.at(next++));
    f->scale_b = d.address(i.operands.at(next++));
  } else if (i.operands.at(next).kind == Operand::Kind::vector) {
    f->disabled = d.sources(i.operands[next++]);
    if (f->disabled.size() != size(4 * f->cta_group))
      throw Violation("tcgen05.form", "disable-output-lane takes four registers for each CTA");
  }
  f->accumulate_negated = i.operands.at(next).negated;
  f->accumulate = d.source(i.operands[next++]);
  if (next < i.operands.size() && f->ws)
    f->zero_columns = d.source(i.operands[next], descriptor);
  else if (next < i.operands.size())
    f->input_scale = static_cast<int>(Decoder::immediate(i.operands[next], "scale-input-d"));
  if (f->input_scale < 0 || f->input_scale > 15 ||
      (f->input_scale != 0 && !i.has("kind::f16") && !i.has("kind::tf32")))
    throw Violation("tcgen05.form", "scale-input-d is 0 to 15, of kind::f16 and kind::tf32");
  return [f](Warp& w, Mask m) {
    for_lanes(m, [&](int l) { issue(w, l, *f); });
    return Next::step;
  };
}

}  // namespace

void add_tensor_multiply(Meanings& all) { all.add("tcgen05.mma", multiply); }

}  // namespace assay::model
