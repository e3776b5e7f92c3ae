// SPDX-License-Identifier: Apache-2.0
// What one instruction costs, from what was measured.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "harness/code/disassembly.hpp"
#include "harness/sass/cost/pipe.hpp"

namespace assay::sass {

// Where a number comes from, best first.
enum class Basis : std::uint8_t {
  measured,    // this very opcode
  related,     // the same instruction with other modifiers, width or shape
  pipe,        // another instruction of the same pipe
  documented,  // NVIDIA's throughput table
  unchecked,   // a rate of its pipe that was not found there
  assumed      // nothing is known: kAssumedCycles, or kAssumedLatency
};
std::string_view name(Basis basis);

inline constexpr double kAssumedCycles = 1;    // of a scheduler, an issue slot: least of all
inline constexpr double kAssumedLatency = 20;  // near that of MUFU and of shared memory

struct Cost {
  const Pipe* pipe;
  double
      cycles;  // that a warp's instruction keeps its scheduler's pipe busy, or the SM's if shared
  Basis basis;
  std::string source;  // "sass/ffma/f32", "IADD3 in sass/iadd3/s32"
};

struct Latency {
  double cycles;  // from issue until the result can be used
  Basis basis;
  std::string source;
};

// M x N x K of a matrix instruction, if its opcode says: "HMMA.16816.F32", "HGMMA.64x256x16.F32".
struct MatrixShape {
  int m, n, k;
  double flop() const { return 2.0 * m * n * k; }
};
std::optional<MatrixShape> matrix_shape(std::string_view opcode);

// Bytes that a warp's load or store moves, by the width in its opcode.
double bytes_of_warp(std::string_view opcode);

// Costs derived from the measurements of one run.json: a loop of copies of one instruction takes
// 4 * 32 / (ops per clock and SM) cycles of a scheduler per copy, and so on for FLOP and bytes.
class CostTable {
 public:
  // Throws Error(usage) if the file is no assay.run/1 or says nothing about instructions.
  static CostTable read(const std::filesystem::path& run);
  // The committed result for this architecture that knows the most opcodes, the newest of those;
  // without one, documented rates. Results lie beside the sources the executable was built from, or
  // where it was installed.
  static CostTable newest(std::string_view arch);

  Cost cost(const Instruction& instruction) const;
  Latency latency(const Instruction& instruction) const;
  // What the instruction takes of its pipe in any case, for bounds: what this very opcode was
  // measured to take, without the loop around it (rounded down to quarters of a cycle); 0 if it was
  // not measured or may be predicated off. Moves take a cycle: they may be narrower than their
  // width says where lanes share addresses.
  double least_cycles(const Instruction& instruction) const;

  const std::filesystem::path& file() const { return file_; }  // empty: documented rates alone
  const std::string& arch() const { return arch_; }            // "sm_90"
  std::string description(std::string_view arch) const;        // for people, about such a kernel

 private:
  struct Row {
    std::optional<double> cycles, latency;
    std::string cycles_source, latency_source;
  };
  friend class CostTableReader;

  const std::pair<const std::string, Row>* related(const std::string& opcode,
                                                   std::optional<double> Row::*field) const;
  std::optional<Cost> memory_cost(const Instruction& instruction, const Pipe& pipe) const;
  std::optional<Cost> warpgroup_cost(const Instruction& instruction, const Pipe& pipe) const;
  const Pipe& pipe_of(const std::string& opcode) const;

  std::filesystem::path file_;
  std::string arch_, gpu_, started_;
  std::map<std::string, Row> rows_;           // by opcode
  std::map<std::string, const Pipe*> pipes_;  // measured; by opcode, with or without modifiers
};

}  // namespace assay::sass
