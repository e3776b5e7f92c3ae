// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4): names cubins in results and in the assembler's cache.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace assay {

// 64 lower-case hexadecimal digits.
std::string sha256(std::span<const char> bytes);
inline std::string sha256(std::string_view text) {
  return sha256(std::span<const char>(text.data(), text.size()));
}

}  // namespace assay
