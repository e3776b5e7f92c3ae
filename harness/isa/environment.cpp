// SPDX-License-Identifier: Apache-2.0
#include "harness/isa/environment.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::isa {
namespace {

struct Numbered {
  std::string_view prefix, type, holds;
};
constexpr Numbered kNumbered[] = {
    {"%p", "pred", "predicates"},    {"%h", "b16", "16-bit integers and floats"},
    {"%rs", "b16", "the same"},      {"%r", "b32", "32-bit integers, packed narrower types"},
    {"%f", "f32", "32-bit floats"},  {"%rd", "b64", "64-bit integers, packed f32x2"},
    {"%fd", "f64", "64-bit floats"}, {"%q", "b128", "128-bit values"},
};

struct Named {
  std::string_view name, type;
  bool uniform;
  std::string_view holds;
};
constexpr Named kNamed[] = {
    {"%gmem", "b64", false, "address in global memory, each thread's own"},
    {"%smem", "b32", false, "address in shared memory, each thread's own"},
    {"%dsmem", "b32", false, "address in another CTA's shared memory (shared::cluster)"},
    {"%dbar", "b32", false, "mbarrier in another CTA's shared memory"},
    {"%generic", "b64", false, "generic address"},
    {"%ugeneric", "b64", true, "generic address"},
    {"%ugmem", "b64", true, "address in global memory, for bulk and tensor copies"},
    {"%usmem", "b32", true, "address in shared memory, for bulk and tensor copies"},
    {"%usmem2", "b32", true, "another"},
    {"%udsmem", "b32", true, "address in another CTA's shared memory"},
    {"%bar", "b32", true, "mbarrier in shared memory"},
    {"%udbar", "b32", true, "mbarrier in another CTA's shared memory"},
    {"%map", "b64", true, "tensor map"},
    {"%zero", "b32", true, "0, though the assembler does not know"},
    {"%bytes", "b32", true, "number of bytes"},
    {"%count", "b32", true, "number of threads or of arrivals"},
    {"%x", "b32", true, "coordinates in a tensor: %x, %y, %z, %u, %v"},
    {"%y", "b32", true, ""},
    {"%z", "b32", true, ""},
    {"%u", "b32", true, ""},
    {"%v", "b32", true, ""},
    {"%o", "b16", true, "offsets of im2col: %o, %o2, %o3"},
    {"%o2", "b16", true, ""},
    {"%o3", "b16", true, ""},
    {"%ctas", "b16", true, "mask of CTAs of a cluster"},
    {"%bytemask", "b16", true, "mask of bytes of 16"},
    {"%rank", "b32", true, "CTA in a cluster"},
    {"%policy", "b64", true, "L2 cache policy"},
    {"%adesc", "b64", true, "matrix descriptors: %adesc, %bdesc"},
    {"%bdesc", "b64", true, ""},
    {"%idesc", "b32", true, "instruction descriptor of tcgen05.mma"},
    {"%tmem", "b32", true, "addresses in tensor memory: %tmem, %atmem, %mtmem, %sfa, %sfb"},
    {"%atmem", "b32", true, ""},
    {"%mtmem", "b32", true, ""},
    {"%sfa", "b32", true, ""},
    {"%sfb", "b32", true, ""},
    {"%enable", "pred", true, "predicate: the same in all threads"},
};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace

std::optional<Register> environment_register(std::string_view name) {
  if (const auto named = std::ranges::find(kNamed, name, &Named::name); named != std::end(kNamed))
    return Register{std::string(name), std::string(named->type), named->uniform};
  for (const Numbered& numbered : kNumbered)
    if (name.starts_with(numbered.prefix) && is_number(name.substr(numbered.prefix.size())))
      return Register{std::string(name), std::string(numbered.type)};
  return std::nullopt;
}

std::string environment_text() {
  std::string text;
  for (const Numbered& n : kNumbered)
    text += fmt::format("  {:<10} {:<5} {}\n", std::string(n.prefix) + "0 ...", n.type, n.holds);
  for (const Named& n : kNamed)
    if (!n.holds.empty())
      text += fmt::format("  {:<10} {:<5} {}{}\n", n.name, n.type, n.holds,
                          n.uniform && n.type != "pred" ? "; uniform" : "");
  return text;
}

}  // namespace assay::isa
