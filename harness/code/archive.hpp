// SPDX-License-Identifier: Apache-2.0
// The members of a static library (.a).
#pragma once
#include <span>
#include <vector>

namespace assay {

bool is_archive(std::span<const char> bytes);

// The contents of every member but the symbol and name tables, in the file's order; views into
// `bytes`. Throws Error(usage) if a member reaches past the end, or if the archive is a thin one,
// whose members are other files.
std::vector<std::span<const char>> archive_members(std::span<const char> bytes);

}  // namespace assay
