// SPDX-License-Identifier: Apache-2.0
// Fat binaries: the container that nvcc puts device code into.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "harness/callable.hpp"

namespace assay {

bool is_fatbin(std::span<const char> bytes);

// Whether for_each_cubin() can unpack all there is: code compressed with Zstandard needs libzstd.
bool can_unpack(std::span<const char> bytes);

// Calls `take` with every cubin in the containers of `bytes`, unpacked; with `architecture`, a
// number such as 90, only with those of it, which are sm_90's and sm_90a's. Throws Error(usage) if
// an entry reaches outside its container, does not unpack to the size it states, or states one that
// no cubin has.
void for_each_cubin(std::span<const char> bytes, const Callable<void(std::vector<char>)>& take,
                    int architecture = 0);

// Calls `take` with every PTX text that is not compressed. Throws like for_each_cubin().
void for_each_ptx(std::span<const char> bytes, const Callable<void(std::string_view)>& take);

// A block of LZ4 (lz4_Block_format.md of the LZ4 project), which must become exactly `size` bytes.
// Throws Error(usage) if it does not.
std::vector<char> unpack_lz4(std::span<const char> packed, std::size_t size);

}  // namespace assay
