// SPDX-License-Identifier: Apache-2.0
// What of a text from outside may stand in a message of one line.
#pragma once
#include <string>
#include <string_view>

namespace assay {

// The text, cut in the middle where it is long, with '?' for what would move a terminal's cursor
// and for bytes that are no UTF-8.
std::string excerpt(std::string_view text);

}  // namespace assay
