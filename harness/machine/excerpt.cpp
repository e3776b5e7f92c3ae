// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/excerpt.hpp"

#include <algorithm>

namespace assay {
namespace {

constexpr std::size_t kLongest = 160;  // bytes: a long name of a case, or a path
constexpr std::string_view kGap = "...";

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

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
  std::ranges::replace_if(
      result, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return result;
}

}  // namespace assay
