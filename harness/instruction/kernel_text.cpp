// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction/kernel_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace assay {

std::string module_header(std::string_view architecture) {
  return fmt::format(".version 9.0\n.target {}\n.address_size 64\n", architecture);
}

std::string entry_text(const PtxEntry& entry) {
  std::string text =
      fmt::format(".visible .entry {}({})\n", entry.name, fmt::join(entry.parameters, ", "));
  if (entry.threads > 0) text += fmt::format(".maxntid {}\n", entry.threads);
  for (const std::string& directive : entry.directives) text += directive + "\n";
  return text + "{\n" + entry.body + "  ret;\n}\n";
}

int bits_of(std::string_view type) {
  const std::size_t digits = type.find_first_of("0123456789");
  if (type == "pred" || digits == type.npos) return 32;
  const std::string width(type.substr(digits));  // "16x2"
  const std::size_t times = width.find('x');
  return std::stoi(width) * (times == width.npos ? 1 : std::stoi(width.substr(times + 1)));
}

std::string load_text(const PtxRegister& reg, std::string_view space, const std::string& address,
                      const std::string& scratch) {
  if (reg.type == "pred")
    return fmt::format("  ld.{}.b32 {}, [{}];\n  setp.ne.b32 {}, {}, 0;\n", space, scratch, address,
                       reg.name, scratch);
  if (bits_of(reg.type) == 128)
    return fmt::format(
        "  ld.{0}.v2.b64 {{{1}_low, {1}_high}}, [{2}];\n  mov.b128 {3}, {{{1}_low, {1}_high}};\n",
        space, scratch, address, reg.name);
  return fmt::format("  ld.{}.b{} {}, [{}];\n", space, bits_of(reg.type), reg.name, address);
}

std::string store_text(const PtxRegister& reg, std::string_view space, const std::string& address,
                       const std::string& scratch, const std::string& guard) {
  const std::string when = guard.empty() ? "" : "@" + guard + " ";
  if (reg.type == "pred")
    return fmt::format("  selp.b32 {0}, 1, 0, {1};\n  {2}st.{3}.b32 [{4}], {0};\n", scratch,
                       reg.name, when, space, address);
  if (bits_of(reg.type) == 128)
    return fmt::format(
        "  mov.b128 {{{0}_low, {0}_high}}, {1};\n  {2}st.{3}.v2.b64 [{4}], {{{0}_low, "
        "{0}_high}};\n",
        scratch, reg.name, when, space, address);
  return fmt::format("  {}st.{}.b{} [{}], {};\n", when, space, bits_of(reg.type), address,
                     reg.name);
}

}  // namespace assay
