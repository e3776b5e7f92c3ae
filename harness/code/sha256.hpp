// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4): names cubins in results and in the assembler's cache.
#pragma once
#include <span>
#include <string>

namespace assay {

// 64 lower-case hexadecimal digits.
std::string sha256(std::span<const char> bytes);

}  // namespace assay
