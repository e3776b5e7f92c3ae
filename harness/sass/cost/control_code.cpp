// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/cost/control_code.hpp"

namespace assay::sass {

ControlCode control_code(const Instruction& instruction) {
  const auto bits = [&](int first, int count) {
    return static_cast<int>(instruction.words[1] >> (first - 64) & ((1u << count) - 1));
  };
  const auto barrier = [](int number) { return number < 6 ? number : -1; };  // 7 means none
  return {.stall = bits(105, 4),
          .yield = bits(109, 1) == 0,
          .write_barrier = barrier(bits(110, 3)),
          .read_barrier = barrier(bits(113, 3)),
          .wait_mask = static_cast<std::uint8_t>(bits(116, 6)),
          .reuse = static_cast<std::uint8_t>(bits(122, 4))};
}

std::string text_of(const ControlCode& control) {
  const auto digit = [](int number) { return static_cast<char>('0' + number); };
  std::string line = "B";
  for (int b = 0; b < 6; ++b) line += control.wait_mask >> b & 1 ? digit(b) : '-';
  line += " R";
  line += control.read_barrier < 0 ? '-' : digit(control.read_barrier);
  line += " W";
  line += control.write_barrier < 0 ? '-' : digit(control.write_barrier);
  line += control.yield ? " Y S" : " - S";
  line += digit(control.stall / 10);
  line += digit(control.stall % 10);
  return line;
}

}  // namespace assay::sass
