// SPDX-License-Identifier: Apache-2.0
// One mma.sync, wgmma or tcgen05.mma instruction: its shape, where its elements lie, its PTX and
// its opcode.
#pragma once
#include <string>
#include <vector>

#include "harness/probe.hpp"

namespace assay::numerics {

enum class Family : std::uint8_t { mma_sync, wgmma, tcgen05 };
enum class Operand : std::uint8_t { a, b, d };  // C lies as D does

// Where an element is: which of a thread's registers, and which element of that.
struct Slot {
  int thread, reg, element;
};
struct Position {
  int row, column;  // of the operand's matrix: A is M x K, B is K x N, D is M x N
  bool operator==(const Position&) const = default;
};

// The registers of one operand in one thread.
struct Fragment {
  int registers, elements;  // elements in each register
};

struct MmaInstruction {
  Family family;
  std::string element, accumulator;  // as in harness/element.hpp
  int m, n, k;
  // wgmma may take A from shared memory, and tcgen05 here does; both always take B from there. The
  // accumulators of tcgen05 are in tensor memory, and come from registers and return there, 32 bits
  // of a lane for each of a warp's threads.
  bool a_in_registers = true;

  bool asynchronous() const { return family != Family::mma_sync; }
  bool fp8() const { return element == "e4m3" || element == "e5m2"; }
  int threads() const { return asynchronous() ? 128 : 32; }
  int register_bytes() const { return element == "f64" ? 8 : 4; }
  const std::string& type_of(Operand operand) const;
  int rows(Operand operand) const { return operand == Operand::b ? k : m; }
  int columns(Operand operand) const { return operand == Operand::a ? k : n; }
  bool in_registers(Operand operand) const;
  Fragment fragment(Operand operand) const;
  std::vector<Slot> slots(Operand operand) const;  // [register][thread][element]
  std::string shape() const;                       // "m16n8k16"
  std::string family_name() const;
  // "wgmma/e4m3", "mma_sync/f16/acc_f16"
  std::string type_name() const;
};

// The place that the PTX ISA documents: PTX ISA 9.0, 9.7.14.5 "Matrix Fragments for mma.m*n*k*" and
// 9.7.15.5 "Register Fragments" of wgmma, as harness/model/matrix/layout/fragment.hpp has them.
Position documented_position(const MmaInstruction& instruction, Operand operand, Slot slot);

// Elements of A and B in shared memory for wgmma and tcgen05, in bytes from the tile's begin: rows
// of 32 bytes along K, the whole extent of one instruction, under the 32-byte swizzle.
int tile_bytes(const MmaInstruction& instruction);
int tile_offset(const MmaInstruction& instruction, Operand operand, Position position);

// PTX of kernels with the interface of harness/instruction/ptx_text.hpp. The operands of one
// instruction lie in one block of memory: the tile, then [register of A, B, D][thread].
struct MmaPtx {
  const MmaInstruction& instruction;

  int block_bytes() const;    // all operands, C among them
  int operand_bytes() const;  // A and B alone
  int result_bytes() const;   // D
  std::string declarations() const;
  std::string setup() const;
  std::string load_operands() const;  // A and B from the block at %in and %mine
  std::string load_c() const;
  std::string zero_c() const;
  std::string multiply() const;                                   // %d += A B, and waits
  std::string store_d(const std::string& registers = "d") const;  // to %result
  std::string finish() const;                                     // of the kernel
  // To the next block of `bytes`, or the next result.
  std::string next_block(int bytes) const;
  std::string next_result() const;
};

// What the instruction becomes on a target, `copies` times in the loop.
std::vector<SassRule> sass_rules(const MmaInstruction& instruction, Target target, int copies);
bool emulated(const MmaInstruction& instruction, Target target);
std::vector<Target> targets_of(const MmaInstruction& instruction);

}  // namespace assay::numerics
