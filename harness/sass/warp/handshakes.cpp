// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "harness/sass/stages.hpp"

namespace assay::sass {
namespace {

// "UR12" of "[UR12+0x38000]" with 0x38000, which is 0 if there is none.
struct Address {
  std::string base;
  std::uint32_t offset = 0;
};

std::optional<std::uint32_t> hex(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::optional<Address> address_in(const Instruction& instruction) {
  const std::size_t begin = instruction.operands.find('[');
  if (begin == std::string::npos) return std::nullopt;
  const std::size_t end = instruction.operands.find(']', begin);
  if (end == std::string::npos) return std::nullopt;
  std::string_view inside =
      std::string_view(instruction.operands).substr(begin + 1, end - begin - 1);
  Address address;
  while (!inside.empty()) {
    const std::size_t plus = std::min(inside.find('+'), inside.size());
    const std::string_view part = inside.substr(0, plus);
    if (const auto number = hex(part))
      address.offset = *number;
    else if (address.base.empty())
      address.base = part;
    inside.remove_prefix(std::min(plus + 1, inside.size()));
  }
  return address;
}

// Offsets are often added beforehand: looks back for "VIADD R5, R5, 0x38020", through copies of the
// register and the PRMT that makes the address another CTA's.
std::uint32_t added_offset(const Function& function, std::size_t i, std::string base) {
  constexpr std::size_t kFarthest = 64;  // instructions
  for (std::size_t back = 1; back <= std::min(i, kFarthest); ++back) {
    const Instruction& earlier = function.code[i - back];
    if (!earlier.operands.starts_with(base + ",")) continue;
    if (earlier.is("MOV") || earlier.is("UMOV") || earlier.is("R2UR") || earlier.is("PRMT")) {
      base = earlier.operands.substr(earlier.operands.rfind(' ') + 1);
      base.resize(std::min(base.find('.'), base.size()));  // ".reuse"
      continue;
    }
    if (!(earlier.is("VIADD") || earlier.is("IADD3") || earlier.is("UIADD3") ||
          earlier.is("UVIADD")))
      continue;
    std::string_view rest = earlier.operands;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(", "), rest.size());
      const auto number = hex(rest.substr(0, end));
      if (number && *number % 8 == 0) return *number;  // mbarriers are 8 bytes
      rest.remove_prefix(std::min(end + 2, rest.size()));
    }
  }
  return 0;
}

std::string mbarrier_at(const Function& function, std::size_t i, const Address& address) {
  const std::uint32_t offset =
      address.offset ? address.offset : added_offset(function, i, address.base);
  char text[32];
  std::snprintf(text, sizeof text, "mbarrier +0x%x", offset);
  return text;
}

struct Seen {
  std::string object, does;
};

std::optional<Seen> use_of(const Function& function, std::size_t i) {
  const Instruction& instruction = function.code[i];
  if (instruction.is("BAR.SYNC") || instruction.is("BAR.ARV") || instruction.is("BAR.RED")) {
    const std::string number = instruction.operands.substr(0, instruction.operands.find(','));
    return Seen{"named barrier " + (number.empty() ? "0x0" : number),
                instruction.is("BAR.ARV") ? "arrives" : "waits"};
  }
  const auto address = address_in(instruction);
  if (!address) return std::nullopt;
  if (instruction.is("SYNCS.PHASECHK")) return Seen{mbarrier_at(function, i, *address), "waits"};
  if (instruction.is("SYNCS.ARRIVE"))  // A1T0: one arrival, no bytes
    return Seen{mbarrier_at(function, i, *address),
                instruction.opcode.ends_with("A1T0") ? "arrives" : "arms it for bytes"};
  if (instruction.is("UTCBAR")) return Seen{mbarrier_at(function, i, *address), "MMAs signal"};
  if (instruction.is("UTMALDG") || instruction.is("UBLKCP.S.G")) {
    // The mbarrier's address is in the uniform register behind that of the destination's.
    int number = 0;
    if (!address->base.starts_with("UR") ||
        std::from_chars(address->base.data() + 2, address->base.data() + address->base.size(),
                        number)
                .ec != std::errc{})
      return std::nullopt;
    return Seen{mbarrier_at(function, i, {.base = "UR" + std::to_string(number + 1)}),
                "bulk copies signal"};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Handshake> handshakes(const Function& function, const std::vector<WarpSet>& reach) {
  std::map<std::string, Handshake> by_object;
  for (std::size_t i = 0; i < function.code.size(); ++i) {
    if (function.code[i].never_executes() || reach[i] == 0) continue;
    const auto seen = use_of(function, i);
    if (!seen) continue;
    Handshake& handshake = by_object[seen->object];
    handshake.object = seen->object;
    const auto same = std::ranges::find_if(handshake.uses, [&](const Handshake::Use& use) {
      return use.does == seen->does && use.who == reach[i];
    });
    if (same == handshake.uses.end())
      handshake.uses.push_back({seen->does, function.code[i].address, reach[i]});
  }
  std::vector<Handshake> between_roles;
  for (auto& [object, handshake] : by_object) {
    const auto differs = [&](const Handshake::Use& use) {
      return use.who != handshake.uses.front().who;
    };
    if (std::ranges::any_of(handshake.uses, differs)) between_roles.push_back(std::move(handshake));
  }
  return between_roles;
}

}  // namespace assay::sass
