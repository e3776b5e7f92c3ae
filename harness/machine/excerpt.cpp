// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/excerpt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace assay {
namespace {

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
  // Controls (U+0080 to 9f), what fewer bytes can say, halves of pairs, beyond U+10ffff.
  const auto second = static_cast<unsigned char>(text[at + 1]);
  const bool none = (first == 0xc2 && second < 0xa0) || (first == 0xe0 && second < 0xa0) ||
                    (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
                    (first == 0xf4 && second > 0x8f);
  return none ? 0 : length;
}

std::string without_controls(std::string text, std::string_view kept) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text, i);
    if (length == 0 && kept.find(text[i]) == kept.npos) text[i] = '?';
    i += std::max<std::size_t>(length, 1);
  }
  return text;
}

}  // namespace

std::string excerpt(std::string_view text, std::size_t longest) {
  std::string result(text);
  if (text.size() > longest) {
    std::size_t begin = (longest - kGap.size()) / 2;
    std::size_t end = text.size() - begin;
    while (begin > 0 && continues_character(text[begin])) --begin;
    while (end < text.size() && continues_character(text[end])) ++end;
    result = std::string(text.substr(0, begin)).append(kGap).append(text.substr(end));
  }
  return without_controls(std::move(result), "");
}

std::string printable(std::string_view text) { return without_controls(std::string(text), "\n\t"); }

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,";
  if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

void show_on_stderr(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

void tell(std::string_view message) {
  show_on_stderr(fmt::format("assay: {}\n", printable(message)));
}

}  // namespace assay
