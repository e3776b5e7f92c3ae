// SPDX-License-Identifier: Apache-2.0
// The forms of wgmma, Hopper's warpgroup-level matrix multiply-accumulate: D += A * B with 64 rows.
//
// B, and A unless it is in registers (RS, not SS), lie in shared memory as TMA would leave them:
// K-major rows of 128 bytes under the 128-byte swizzle. One instruction takes 32 bytes of every
// row of A and of B along K, whatever the type; when A is sparse, the 32 bytes hold the half of A
// that is not zero, and 64 bytes of B meet them. So four instructions, sparse two, walk along one
// tile. PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operation".
#pragma once
#include <string>

#include "harness/limits.hpp"
#include "harness/probe.hpp"

namespace assay {

struct WgmmaForm {
  static constexpr int kRows = 64;        // of A and of D
  static constexpr int kRowBytes = 128;   // of A and of B in shared memory
  static constexpr int kFragment = 4;     // registers of A, 32 bytes of 16 rows over a warp
  static constexpr int kWarpgroup = 128;  // threads

  std::string a, b;         // elements: "bf16 f16 tf32 e4m3 e5m2 s8 u8 b1"; b1 is and.popc
  std::string accumulator;  // "f32", "f16" or "s32"
  int n;
  bool in_registers = false;  // A, each thread's fragment of it
  bool sparse = false;        // two of four elements of A are zero, of tf32 one of two

  int k() const;          // of one instruction, zeros of a sparse A included
  int steps() const;      // instructions along one tile
  int registers() const;  // of accumulators, each thread's
  int tile_bytes() const { return (in_registers ? 0 : kRows * kRowBytes) + n * kRowBytes; }
  // Of one instruction. A sparse one counts as the dense product that it stands for.
  double flop() const { return 2.0 * kRows * n * k(); }
  Limit limit(Target target) const;
  // Clocks in which shared memory delivers what one instruction reads.
  double shared_memory_cycles() const;

  std::string source() const;  // "ss", "rs", "sparse_ss" or "sparse_rs"
  std::string name() const;    // "e4m3_e5m2/m64n256/rs/acc_f16"
  Params params() const;
  static WgmmaForm of(const Case& c);  // from the params

  // The instruction: `d` its accumulators, `a` a descriptor or four registers, `metadata` a
  // register if sparse; %add is a predicate that holds.
  std::string ptx(const std::string& d, const std::string& a, const std::string& b,
                  const std::string& metadata) const;
  std::string opcode() const;
};

}  // namespace assay
