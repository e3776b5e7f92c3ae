// SPDX-License-Identifier: Apache-2.0
// PTX text of one mma.sync, and a run of it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model/model.hpp"
#include "harness/model/violation.hpp"

namespace assay::model {

using Words = std::vector<std::uint32_t>;

inline constexpr int kWords = 24;  // of a lane: A from 0, B from 4, C from 8 on, then these
inline constexpr int kMetadata = 16, kScaleA = 17, kScaleB = 18;

inline std::string registers(const char* name, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i ? ", %" : "%") + (name + std::to_string(i));
  return text + "}";
}

// A kernel of one warp that executes one mma. `operands` is what follows C.
inline std::string mma_kernel(const std::string& target, const std::string& opcode, int a, int b,
                              int d, const std::string& operands) {
  std::string text = ".version 9.0\n.target " + target +
                     "\n.address_size 64\n.visible .entry one(.param .u64 in, .param .u64 out)\n{\n"
                     ".reg .b64 %in, %out, %off;\n.reg .b32 %t;\n.reg .b32 %a<4>;\n.reg .b32 "
                     "%b<4>;\n.reg .b32 %c<8>;\n.reg .b32 %d<8>;\n.reg .b32 %x<3>;\n"
                     "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\n"
                     "mul.wide.u32 %off, %t, 96;\nadd.s64 %in, %in, %off;\n"
                     "mul.wide.u32 %off, %t, 32;\nadd.s64 %out, %out, %off;\n";
  const auto load = [&](const char* name, int count, int from) {
    for (int i = 0; i < count; ++i)
      text += std::string("ld.global.u32 %") + name + std::to_string(i) + ", [%in+" +
              std::to_string(4 * (from + i)) + "];\n";
  };
  load("a", 4, 0);
  load("b", 4, 4);
  load("c", 8, 8);
  load("x", 3, kMetadata);
  text += opcode + " " + registers("d", d) + ", " + registers("a", a) + ", " + registers("b", b) +
          ", " + registers("c", d) + operands + ";\n";
  for (int i = 0; i < d; ++i)
    text += "st.global.u32 [%out+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
  return text + "ret;\n}\n";
}

inline Words run(const std::string& ptx, const Words& input, Outcome& outcome) {
  Gpu gpu(ptx);
  const Address in = gpu.allocate("in", input.size() * 4), out = gpu.allocate("out", 32 * 32);
  gpu.write(in, input);
  gpu.write(out, Words(32 * 8));
  outcome = gpu.launch("one", {.block = {32, 1, 1}}, Arguments().push(in).push(out));
  return gpu.read<std::uint32_t>(out, 32 * 8);
}

// The rule of the first finding, or of the refusal.
inline std::string refusal(const std::string& ptx, const Words& input = Words(32 * kWords)) {
  try {
    Outcome outcome;
    run(ptx, input, outcome);
    return outcome.findings.empty() ? "" : outcome.findings[0].rule;
  } catch (const Violation& violation) {
    return violation.rule();
  }
}

}  // namespace assay::model
