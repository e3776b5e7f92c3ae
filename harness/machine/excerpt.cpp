// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/excerpt.hpp"

#include <algorithm>

namespace assay {
namespace {

constexpr std::size_t kLongest = 160;  // bytes: a long name of a case, or a path
constexpr std::string_view kGap = "...";

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Of the printable character that begins at `at`; 0 if none does.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return first >= ' ' && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || length > text.size() - at) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!continues_character(text[at + i])) return 0;
  return length;
}

}  // namespace

std::string excerpt(std::string_view text) {
  std::string result(text);
  if (text.size() > kLongest) {
    std::size_t begin = (kLongest - kGap.size()) / 2;
    std::size_t end = text.size() - begin;
    while (begin > 0 && continues_character(text[begin])) --begin;
    while (end < text.size() && continues_character(text[end])) ++end;
    result = std::string(text.substr(0, begin)).append(kGap).append(text.substr(end));
  }
  for (std::size_t i = 0; i < result.size();) {
    const std::size_t length = character_length(result, i);
    if (length == 0) result[i] = '?';
    i += std::max<std::size_t>(length, 1);
  }
  return result;
}

}  // namespace assay
