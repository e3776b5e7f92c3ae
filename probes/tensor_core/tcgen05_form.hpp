// SPDX-License-Identifier: Apache-2.0
// The forms of tcgen05.mma: what can be multiplied, how it is spelled and what it becomes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "harness/limits.hpp"
#include "harness/probe.hpp"
#include "harness/ptx/descriptor/tcgen05_descriptor.hpp"

namespace assay::tcgen05 {

struct Type {
  const char* name;   // of the case
  const char *a, *b;  // elements: harness/element.hpp
  const char* kind;   // and its qualifiers
  const char* scale;  // element of the block scales; empty: there are none
  const char* limit;  // harness/limits.hpp
  int k;              // of one dense MMA
  ptx::tcgen05::Kind code;
  ptx::tcgen05::Element a_code, b_code;

  bool scaled() const { return scale[0] != '\0'; }
  bool integer() const { return code == ptx::tcgen05::Kind::i8; }
  bool fp4() const;          // packed, two in a byte
  bool whole_bytes() const;  // or larger: as tensor memory holds an A
};

// Every type, in the order of the page of probes.
const std::vector<Type>& types();

// Registers: addresses of tensor memory (d, of A too where it is there, metadata, scales), matrix
// descriptors, the instruction's descriptor, and the predicate that says whether to add.
struct Operands {
  std::string d, a, b, metadata, descriptor, scale_a, scale_b, add;
};

// One instruction. Of two CTAs (cta_group::2), each has half of the rows of A and of the columns of
// B in its shared memory.
struct Form {
  const Type* type = nullptr;
  int m, n;
  int ctas = 1;
  bool a_in_tensor_memory = false;
  bool sparse = false;             // A with half of its elements zero, k counting them
  bool weight_stationary = false;  // .ws: B stays in the tensor core, M may be 32
  bool f16_sum = false;

  int k() const { return type->k * (sparse ? 2 : 1); }
  // Of one CTA.
  int rows_of_a() const { return m / ctas; }
  int rows_of_b() const { return n / ctas; }
  // Bytes along K that one MMA takes from each row.
  int bytes_of_a() const { return type->k == 96 ? 48 : 32; }
  int bytes_of_b() const { return bytes_of_a() * (sparse ? 2 : 1); }
  // Columns of tensor memory that its accumulators take: where M is smaller than the lanes, half or
  // a quarter of the matrix's columns lie beside each other.
  int columns() const;
  // Whether a lane of tensor memory holds accumulators: with M = 64 half of each warp's do.
  bool in_use(int lane) const;

  // "bf16/m256n256/ss/cta2".
  std::string name() const;
  std::string ptx(const Operands& operands) const;
  std::string opcode(Target target) const;
  std::uint32_t descriptor() const;
  Limit limit(Target target) const;
  std::vector<Target> targets() const;
  const char* accumulator() const;
};

}  // namespace assay::tcgen05
