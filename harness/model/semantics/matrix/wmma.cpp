// SPDX-License-Identifier: Apache-2.0
// The old instructions of a warp's matrices: wmma.load, wmma.store, wmma.mma. PTX ISA 9.0, 9.7.14.4
// "Matrix multiply-accumulate operation using wmma instructions".
//
// Unspecified: which thread holds which element of a fragment (9.7.14.4.1 "Matrix Fragments for
// WMMA"), so that only what is done to all elements alike has a meaning. Here it depends on the
// matrix, on the layout that load and mma name, and on the seed: who counts on one chip's places,
// or names another layout to the mma than to the load, has a wrong result.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/model/matrix/mma_shape.hpp"
#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/matrix/target.hpp"

namespace assay::model {
namespace {

using matrix::Type;

std::size_t size(int n) { return static_cast<std::size_t>(n); }

// The types of A and B, those of C and D, and the shapes.
struct Row {
  const char *multiplied, *accumulated, *shapes;
};
constexpr Row kRows[] = {
    {"f16", "f16 f32", "m16n16k16 m8n32k16 m32n8k16"},
    {"bf16", "f32", "m16n16k16 m8n32k16 m32n8k16"},
    {"tf32", "f32", "m16n16k8"},
    {"f64", "f64", "m8n8k4"},
    {"s8 u8", "s32", "m16n16k16 m8n32k16 m32n8k16"},
    {"s4 u4", "s32", "m8n8k32"},
    {"b1", "s32", "m8n8k128"},
};

struct Words {
  std::string all, shape;
  std::vector<bool> column_major;
  std::vector<Type> types;
  bool saturate = false, popc = false;
  matrix::BitOperation bit_operation = matrix::BitOperation::bit_xor;
};

[[noreturn]] void refuse(const Words& w, const std::string& why) {
  throw Violation("matrix.form", w.all + ": " + why);
}

// From the word at `from` on.
Words sorted(const Instruction& i, std::size_t from) {
  Words w;
  w.all = i.opcode;
  for (std::size_t at = from; at < i.parts.size(); ++at) {
    const std::string_view word = i.parts[at];
    if (word == "sync" || word == "aligned" || word == "rn" || word == "global" ||
        word.starts_with("shared"))
      continue;
    if (word == "row" || word == "col")
      w.column_major.push_back(word == "col");
    else if (word == "satfinite")
      w.saturate = true;
    else if (word == "popc")
      w.popc = true;
    else if (word == "xor" || word == "and")
      w.bit_operation =
          word == "and" ? matrix::BitOperation::bit_and : matrix::BitOperation::bit_xor;
    else if (matrix::is_shape(word))
      w.shape = word;
    else if (const std::optional<Type> type = matrix::find_type(word))
      w.types.push_back(*type);
    else
      unknown_part(i, std::string(word));
  }
  if (!i.has("sync") || !i.has("aligned")) refuse(w, "wmma is always .sync.aligned");
  return w;
}

const Row& row_of(const Words& w, bool accumulator, Type type) {
  for (const Row& row : kRows)
    if (matrix::lists(accumulator ? row.accumulated : row.multiplied, matrix::name(type)) &&
        matrix::lists(row.shapes, w.shape))
      return row;
  refuse(w, "there is no such matrix of this type and shape");
}

// A matrix in the registers of a warp: A as [m][k], B as [n][k], C and D as [m][n].
struct Fragment {
  char which;  // 'a', 'b', 'c' or 'd'
  Type type;
  int rows, columns;
  bool column_major;  // in memory; of B, where row and column change places, too

  int bits() const { return matrix::bits_of(type); }
  int register_bits() const { return type == Type::f64 ? 64 : 32; }
  int per_register() const { return register_bits() / bits(); }
  int per_thread() const { return rows * columns / 32; }
  int needed() const { return per_thread() / per_register(); }
  // A and B of f16 have eight registers whatever the shape: what they hold is there again.
  int registers() const {
    return type == Type::f16 && (which == 'a' || which == 'b') ? 8 : needed();
  }
  // Whether elements along a row follow each other in memory.
  bool along_rows() const { return column_major == (which == 'b'); }
  int line() const { return along_rows() ? columns : rows; }

  // Of register `r` of a thread of the fragment, its first element.
  int first(int thread, int r) const { return thread * per_thread() + r * per_register(); }
  // The lane that is this thread. C and D of an mma name no layout of memory.
  int lane(const Warp& w, int thread) const {
    const bool turned = column_major && (which == 'a' || which == 'b');
    return (thread + static_cast<int>(w.run->options().seed % 32) + (turned ? 7 : 0)) % 32;
  }

  void check_registers(std::size_t count) const {
    if (count != size(registers()))
      throw Violation("matrix.registers", std::string("the fragment of ") + which + " has " +
                                              std::to_string(registers()) + " registers, not " +
                                              std::to_string(count));
  }

  template <class Element>
  std::vector<Element> gather(Warp& w, const std::vector<int>& slots) const {
    std::vector<Element> elements(size(rows * columns));
    for (int thread = 0; thread < 32; ++thread)
      for (int r = 0; r < needed(); ++r) {
        const Value v = w.reg(slots[size(r)])[lane(w, thread)];
        for (int e = 0; e < per_register(); ++e)
          elements[size(first(thread, r) + e)] =
              static_cast<Element>(low(v >> (e * bits()), bits()));
      }
    return elements;
  }

  template <class Element>
  void scatter(Warp& w, const std::vector<int>& slots, const std::vector<Element>& from) const {
    for (int thread = 0; thread < 32; ++thread)
      for (int r = 0; r < registers(); ++r) {
        Value v = 0;
        for (int e = 0; e < per_register(); ++e)
          v |= static_cast<Value>(from[size(first(thread, r % needed()) + e)]) << (e * bits());
        w.reg(slots[size(r)])[lane(w, thread)] = v;
      }
  }
};

Fragment fragment_of(const Words& w, char which, Type type, bool column_major) {
  const matrix::Shape s = matrix::shape_of(w.shape);
  const int rows = which == 'b' ? s.n : s.m, columns = which == 'a' || which == 'b' ? s.k : s.n;
  row_of(w, which == 'c' || which == 'd', type);
  const Fragment f{which, type, rows, columns, column_major};
  if (f.bits() < 8 && !f.along_rows())
    refuse(w, "elements of less than a byte follow each other along K: A is .row, B is .col");
  return f;
}

// Where a fragment lies: address and, optionally, the stride between its lines in elements.
struct MatrixPlace {
  AddressOperand at;
  int stride = -1;
  Space space = Space::generic;
};

MatrixPlace place_of(Decoder& d, const Instruction& i, std::size_t address, std::size_t stride) {
  MatrixPlace p{.at = d.address(i.operands.at(address))};
  if (i.operands.size() > stride) p.stride = d.source(i.operands[stride]);
  for (const std::string& part : i.parts) {
    if (part == "global") p.space = Space::global;
    if (part.starts_with("shared")) p.space = Space::shared;
  }
  return p;
}

// Calls act(lane, register, element of it, address, bytes) for what each lane has in memory: an
// element, or the whole of a register where elements are less than a byte.
template <class Act>
void each_place(Warp& w, const Fragment& f, const MatrixPlace& p, const Act& act) {
  const Address base = address_at(w, p.at, 0);
  const auto stride = p.stride < 0 ? static_cast<Address>(f.line()) : low(w.reg(p.stride)[0], 32);
  for (int l = 1; l < 32; ++l)
    if (address_at(w, p.at, l) != base || (p.stride >= 0 && low(w.reg(p.stride)[l], 32) != stride))
      throw Violation("matrix.operands", "lanes of a warp give different addresses or strides");
  if (stride < static_cast<Address>(f.line()))
    throw Violation("matrix.operands", "the stride is " + std::to_string(stride) +
                                           ", less than the " + std::to_string(f.line()) +
                                           " elements of a row or column");
  // 9.7.14.4.2 "Matrix Storage for WMMA": each line begins at a multiple of the fragment's size.
  const auto aligned = static_cast<Address>(f.registers() * f.register_bits() / 8);
  const Address line_bytes = stride * static_cast<Address>(f.bits()) / 8;
  if (base % aligned != 0 || line_bytes % aligned != 0)
    throw Violation("memory.alignment",
                    "address and stride of this wmma are multiples of " + std::to_string(aligned) +
                        " bytes, the size of its fragment; they are " + std::to_string(base) +
                        " and " + std::to_string(line_bytes) + " bytes");
  const int step = f.bits() < 8 ? f.per_register() : 1;
  for (int thread = 0; thread < 32; ++thread)
    for (int r = 0; r < f.needed(); ++r)
      for (int e = 0; e < f.per_register(); e += step) {
        const int element = f.first(thread, r) + e;
        const auto row = static_cast<Address>(element / f.columns),
                   column = static_cast<Address>(element % f.columns);
        const Address at = f.along_rows() ? row * stride + column : column * stride + row;
        act(f.lane(w, thread), r, e, base + at * static_cast<Address>(f.bits()) / 8,
            size(f.bits() * step / 8));
      }
}

// wmma.load.{a,b,c} r, [p]{, stride}
Action load(Decoder& d, const Instruction& i) {
  const char which = i.parts.at(2)[0];
  const Words words = sorted(i, 3);
  if (words.types.size() != 1 || words.column_major.size() != 1 || which < 'a' || which > 'c')
    refuse(words, "it is of a, b or c, with one layout and one type");
  const Fragment f = fragment_of(words, which, words.types[0], words.column_major[0]);
  const auto out = d.destinations(i.operands.at(0));
  f.check_registers(out.size());
  const MatrixPlace p = place_of(d, i, 1, 2);
  return [=](Warp& w, Mask m) {
    if (!whole_warp(w, m)) return Next::blocked;
    std::vector<std::array<Value, 32>> values(size(f.needed()));
    each_place(w, f, p, [&](int lane, int r, int e, Address at, std::size_t bytes) {
      Value v = 0;
      w.run->load(w, lane, p.space, at, &v, bytes);
      values[size(r)][size(lane)] |= v << (e * f.bits());
    });
    for (int r = 0; r < f.registers(); ++r)
      for (std::size_t l = 0; l < 32; ++l) w.reg(out[size(r)])[l] = values[size(r % f.needed())][l];
    return Next::step;
  };
}

// wmma.store.d [p], r{, stride}
Action store(Decoder& d, const Instruction& i) {
  const Words words = sorted(i, 3);
  if (words.types.size() != 1 || words.column_major.size() != 1 || i.parts.at(2) != "d")
    refuse(words, "it is of d, with one layout and one type");
  const Fragment f = fragment_of(words, 'd', words.types[0], words.column_major[0]);
  const auto in = d.sources(i.operands.at(1));
  f.check_registers(in.size());
  const MatrixPlace p = place_of(d, i, 0, 2);
  return [=](Warp& w, Mask m) {
    if (!whole_warp(w, m)) return Next::blocked;
    each_place(w, f, p, [&](int lane, int r, int e, Address at, std::size_t bytes) {
      const Value v = w.reg(in[size(r)])[lane] >> (e * f.bits());
      w.run->store(w, lane, p.space, at, &v, bytes);
    });
    return Next::step;
  };
}

struct Mma {
  Fragment a, b, c, d;
  matrix::Arithmetic arithmetic;
  std::vector<int> a_slots, b_slots, c_slots, d_slots;
};

template <class Element, class Product>
void multiply(Warp& w, const Mma& x, const Product& product) {
  const auto a = x.a.gather<Element>(w, x.a_slots), b = x.b.gather<Element>(w, x.b_slots),
             c = x.c.gather<Element>(w, x.c_slots);
  std::vector<Element> d(c.size());
  product(a, b, c, d);
  x.d.scatter(w, x.d_slots, d);
}

// wmma.mma d, a, b, c: of f16 the types of D and C, of others those of D, A, B and C.
Action mma(Decoder& d, const Instruction& i) {
  const Words words = sorted(i, 2);
  if (words.column_major.size() != 2) refuse(words, "it needs the layouts of A and B");
  std::array<Type, 4> types{};  // D, A, B, C
  if (words.types.size() == 2)
    types = {words.types[0], Type::f16, Type::f16, words.types[1]};
  else if (words.types.size() == 4)
    types = {words.types[0], words.types[1], words.types[2], words.types[3]};
  else
    refuse(words, "it needs the types of D and C, or of all four");
  const bool integers = matrix::is_integer(types[1]);
  const Row& row = row_of(words, false, types[1]);
  for (const int at : {0, 3})
    if (!matrix::lists(row.accumulated, matrix::name(types[size(at)])))
      refuse(words, std::string("it adds in ") + row.accumulated);
  if (&row_of(words, false, types[2]) != &row || (integers && types[1] != types[2]))
    refuse(words, "A and B are of the same type");
  if (words.saturate && (!integers || types[1] == Type::b1))
    refuse(words, ".satfinite is for integers");
  if (words.popc != (types[1] == Type::b1)) refuse(words, ".popc is for b1");
  const matrix::Shape s = matrix::shape_of(words.shape);
  auto x = std::make_shared<Mma>(
      Mma{fragment_of(words, 'a', types[1], words.column_major[0]),
          fragment_of(words, 'b', types[2], words.column_major[1]),
          fragment_of(words, 'c', types[3], false), fragment_of(words, 'd', types[0], false),
          matrix::arithmetic_of({machine_of(d), matrix::Unit::mma_sync, types[1], types[2],
                                 types[3], types[0], s.m, s.n, s.k}),
          d.sources(i.operands.at(1)), d.sources(i.operands.at(2)), d.sources(i.operands.at(3)),
          d.destinations(i.operands.at(0))});
  x->a.check_registers(x->a_slots.size());
  x->b.check_registers(x->b_slots.size());
  x->c.check_registers(x->c_slots.size());
  x->d.check_registers(x->d_slots.size());
  // On Hopper two instructions of K = 4, the second of which adds to what the first has left: the
  // machine code of sm_90a shows it, HMMA.1684.
  if (types[1] == Type::tf32)
    for (std::size_t at = 0; at < x->arithmetic.model.stage.size(); ++at)
      x->arithmetic.model.stage[at] = static_cast<int>(at / 4);
  x->arithmetic.saturate = words.saturate;
  x->arithmetic.bit_operation = words.bit_operation;
  return [x](Warp& w, Mask m) {
    if (!whole_warp(w, m)) return Next::blocked;
    if (x->a.type == Type::f64)
      multiply<std::uint64_t>(w, *x, [&](auto& a, auto& b, auto& c, auto& result) {
        matrix::multiply_f64(x->arithmetic, a, b, c, result);
      });
    else
      multiply<matrix::Word>(w, *x, [&](auto& a, auto& b, auto& c, auto& result) {
        matrix::multiply(x->arithmetic, {.a = a, .b = b, .c = c}, result);
      });
    return Next::step;
  };
}

}  // namespace

void add_wmma(Meanings& all) {
  all.add("wmma.load", load);
  all.add("wmma.store", store);
  all.add("wmma.mma", mma);
}

}  // namespace assay::model
