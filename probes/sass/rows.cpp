// SPDX-License-Identifier: Apache-2.0
#include "probes/sass/rows.hpp"

#include <cmath>
#include <limits>

#include "harness/element.hpp"

namespace assay::scalar {

Operand named(const char* name, Operand kind) {
  kind.name = name;
  return kind;
}

Operand uniform(const char* name, Operand kind) {
  kind.uniform = true;
  return named(name, std::move(kind));
}

InstructionRow row(const std::string& name, const std::string& ptx, const Operand& chain,
                   std::vector<Operand> inputs, StepBits step, Sass sass, Values values) {
  return {.name = name,
          .ptx = ptx,
          .chain = chain,
          .inputs = std::move(inputs),
          .step_bits = std::move(step),
          .d0 = values.d0,
          .a = values.a,
          .b = values.b,
          .sass = std::move(sass)};
}

InstructionRow row(const std::string& name, const std::string& ptx, const Operand& kind,
                   StepBits step, Sass sass, Values values) {
  std::vector<Operand> inputs;
  const bool has_b = ptx.find("<b>") != std::string::npos;
  if (has_b || ptx.find("<a>") != std::string::npos) inputs.push_back(named("a", kind));
  if (has_b) inputs.push_back(named("b", kind));
  return row(name, ptx, kind, std::move(inputs), std::move(step), std::move(sass), values);
}

std::vector<InstructionRow> only_with(Feature feature, std::vector<InstructionRow> rows) {
  for (InstructionRow& row : rows) row.targets = targets_with(feature);
  return rows;
}

std::vector<InstructionRow> joined(std::initializer_list<std::vector<InstructionRow>> parts) {
  std::vector<InstructionRow> all;
  for (const auto& rows : parts) all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

InstructionRow per_step(const std::string& instructions, InstructionRow row) {
  row.params["per_step"] = instructions;
  return row;
}

InstructionRow in_a_row(int count, InstructionRow row) {
  row.in_a_row = count;
  return row;
}

Sass one(const std::string& opcode) { return each_of({{opcode, 1}}); }

Sass each_of(std::vector<std::pair<std::string, int>> opcodes) {
  return [opcodes = std::move(opcodes)](Target) {
    std::vector<SassRule> rules;
    for (const auto& [opcode, count] : opcodes) rules.push_back({opcode, count, count});
    return rules;
  };
}

Sass by_feature(Feature feature, Sass there, Sass elsewhere) {
  return [=](Target target) { return has(target, feature) ? there(target) : elsewhere(target); };
}

StepBits elements(const std::string& type, double (*step)(double d, double a, double b)) {
  return [type, step](Bits d, Bits a, Bits b, int) {
    const int bits = element_bits(type);
    int at = -bits;
    return pack(type, 64, [&] {
      at += bits;
      return step(unpack(type, d >> at), unpack(type, a >> at), unpack(type, b >> at));
    });
  };
}

float toward_zero(double value) {
  const auto nearest = static_cast<float>(value);
  return std::abs(nearest) > std::abs(value) ? std::nextafter(nearest, 0.0f) : nearest;
}

float downward(double value) {
  const auto nearest = static_cast<float>(value);
  return nearest > value ? std::nextafter(nearest, -std::numeric_limits<float>::infinity())
                         : nearest;
}

}  // namespace assay::scalar
