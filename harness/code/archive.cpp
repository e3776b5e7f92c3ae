// SPDX-License-Identifier: Apache-2.0
#include "harness/code/archive.hpp"

#include <ar.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "harness/error.hpp"

namespace assay {
namespace {

constexpr std::string_view kThinMagic = "!<thin>\n";

bool starts_with(std::span<const char> bytes, std::string_view magic) {
  return std::string_view(bytes.data(), bytes.size()).starts_with(magic);
}

[[noreturn]] void damaged(const char* what) {
  throw Error(ExitCode::usage,
              std::string("damaged archive: ") + what + "; build or copy the file again");
}

}  // namespace

bool is_archive(std::span<const char> bytes) {
  return starts_with(bytes, ARMAG) || starts_with(bytes, kThinMagic);
}

std::vector<std::span<const char>> archive_members(std::span<const char> bytes) {
  if (starts_with(bytes, kThinMagic))
    throw Error(ExitCode::usage,
                "a thin archive, which only names its members; give one of those objects");
  std::vector<std::span<const char>> members;
  for (std::size_t at = SARMAG; at < bytes.size();) {
    ar_hdr header;
    if (bytes.size() - at < sizeof header) damaged("it ends within a member's header");
    std::memcpy(&header, bytes.data() + at, sizeof header);
    at += sizeof header;
    if (std::memcmp(header.ar_fmag, ARFMAG, sizeof header.ar_fmag) != 0)
      damaged("a member without a header");
    std::size_t size = 0;
    const auto digits = std::from_chars(header.ar_size, std::end(header.ar_size), size);
    if (digits.ec != std::errc{}) damaged("a member without a size");
    if (size > bytes.size() - at) damaged("a member reaches past the end of the file");
    // "/" and "/SYM64/" are symbol tables, "//" holds long names; "/12" is a member with one.
    const std::string_view name(header.ar_name, sizeof header.ar_name);
    if (!name.starts_with("/ ") && !name.starts_with("//") && !name.starts_with("/SYM64/"))
      members.push_back(bytes.subspan(at, size));
    at += size + size % 2;  // members start at even offsets
  }
  return members;
}

}  // namespace assay
