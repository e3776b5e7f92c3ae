// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/register_reads.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "harness/sass/cost/pipe.hpp"

namespace assay::sass {
namespace {

bool is_any(const Instruction& instruction, std::initializer_list<std::string_view> opcodes) {
  return std::ranges::any_of(opcodes, [&](auto opcode) { return instruction.is(opcode); });
}

// How many operands are written, not read.
std::size_t results(const Instruction& instruction) {
  if (is_any(instruction, {"ST", "STG", "STS", "STL", "STSM", "RED", "REDG", "BRA", "BRX", "EXIT",
                           "RET", "CALL", "BAR", "BSSY", "BSYNC", "WARPSYNC", "DEPBAR"}))
    return 0;
  if (is_any(instruction, {"ISETP", "FSETP", "DSETP", "HSETP2", "PLOP3"})) return 2;
  return 1;
}

// Registers of 32 lanes behind operand `text`, the `position`-th that is read.
int width(const Instruction& instruction, std::string_view text, std::size_t position) {
  const bool is_address = text.find('[') != text.npos;
  if (is_address) return text.find(".64") != text.npos ? 2 : 1;
  if (is_any(instruction, {"DADD", "DMUL", "DFMA", "DSETP"})) return 2;
  if (instruction.is("IMAD.WIDE") && position == 2) return 2;
  if (results(instruction) > 0) return 1;
  return instruction.opcode.find(".128") != std::string::npos  ? 4
         : instruction.opcode.find(".64") != std::string::npos ? 2
                                                               : 1;
}

struct Source {
  unsigned number;
  int width;
  std::size_t position;
  bool latched;  // for the next instruction

  auto operator<=>(const Source&) const = default;
};

// "R4", "-R4.reuse", "|R4|", "desc[UR4][R2.64+0x10]"; RZ and uniform registers are none.
std::vector<Source> sources(const Instruction& instruction) {
  std::vector<Source> found;
  std::string_view rest = instruction.operands;
  const std::size_t written = results(instruction);
  for (std::size_t index = 0; !rest.empty(); ++index) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    const std::string_view operand = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 2, rest.size()));
    if (index < written) continue;
    for (std::size_t at = operand.find('R'); at != operand.npos; at = operand.find('R', at + 1)) {
      const bool begins =
          at == 0 || std::string_view("-~|[+").find(operand[at - 1]) != std::string_view::npos;
      unsigned number = 0;
      const char* digits = operand.data() + at + 1;
      const auto [last, error] = std::from_chars(digits, operand.data() + operand.size(), number);
      if (!begins || error != std::errc{}) continue;
      const std::string_view behind(last, operand.data() + operand.size());
      found.push_back({number, width(instruction, operand, index - written), index - written,
                       behind.starts_with(".reuse")});
    }
  }
  return found;
}

}  // namespace

std::array<int, 2> register_reads(const Instruction& instruction, const Instruction* before) {
  std::array<int, 2> reads = {};
  if (is_matrix(instruction) || instruction.never_executes()) return reads;
  const std::vector<Source> latched = before ? sources(*before) : std::vector<Source>{};
  std::set<unsigned> read;
  for (const Source& source : sources(instruction)) {
    const bool kept = std::ranges::any_of(latched, [&](const Source& other) {
      return other.latched && other.number == source.number && other.position == source.position;
    });
    for (int part = 0; part < source.width && !kept; ++part)
      if (const unsigned number = source.number + static_cast<unsigned>(part);
          read.insert(number).second)
        ++reads[number % 2];
  }
  return reads;
}

double register_cycles(const Function& function, const std::vector<std::size_t>& path) {
  // "sm_90a": up to Hopper.
  int number = 0;
  if (function.arch.size() > 3)
    std::from_chars(function.arch.data() + 3, function.arch.data() + function.arch.size(), number);
  if (number >= 100 || path.empty()) return 0;
  std::vector<std::array<int, 2>> reads;
  for (std::size_t i = 0; i < path.size(); ++i)
    reads.push_back(
        register_reads(function.code[path[i]], i == 0 ? nullptr : &function.code[path[i - 1]]));
  int cycles = 0;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const std::array<int, 2>& next = reads[(i + 1) % reads.size()];
    cycles += std::max({2, reads[i][0] + next[0], reads[i][1] + next[1]});
  }
  return cycles / 2.0;
}

}  // namespace assay::sass
