// SPDX-License-Identifier: Apache-2.0
// Which warps of a CTA run which part of a kernel: the roles of a warp-specialized one.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "harness/code/disassembly.hpp"

namespace assay::sass {

using WarpSet = std::uint32_t;  // bit w: warp w of a CTA, whose threads are numbered along x

// For each instruction, the warps of `warps` that may reach it. Follows each warp from the entry
// with its own thread indices (constant propagation over intervals, per warp), and takes both ways
// of a branch unless its condition is known: what it leaves out, that warp never runs.
std::vector<WarpSet> reaching_warps(const Function& function, int warps);

std::string text_of(WarpSet warps);  // "4-11", "0 8-11", "none"

}  // namespace assay::sass
