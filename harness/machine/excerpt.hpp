// SPDX-License-Identifier: Apache-2.0
// What of a text from outside may stand in a message.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

inline constexpr std::size_t kLongName = 160;  // bytes: of a case, or a path

// The text, cut in the middle where it is longer than `longest` bytes, with '?' for what would move
// a terminal's cursor and for bytes that are no UTF-8.
std::string excerpt(std::string_view text, std::size_t longest = kLongName);

// The same of a message of several lines: whole, and with its line ends and tabs.
std::string printable(std::string_view text);

// As a shell takes it for one word: what a message tells to type.
std::string shell_word(std::string_view text);

// "assay: MESSAGE" as a line on standard error, printable.
void tell(std::string_view message);

// Text as it is, at once. Where standard error is full or closed nothing is lost but the words: no
// exception ends what they are about.
void show_on_stderr(std::string_view text);

}  // namespace assay
