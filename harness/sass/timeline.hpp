// SPDX-License-Identifier: Apache-2.0
// A picture of one iteration of a loop.
#pragma once
#include <string>

#include "harness/sass/analysis.hpp"

namespace assay::sass {

// An SVG document, complete in itself, in light and dark: for each role a lane for the issue slot
// and one for every pipe, the instructions of an iteration along the cycles of one warp alone, and
// arrows from what was waited for to who waited. What a pipe still does when the next iteration has
// begun is drawn at its beginning, where that of the iteration before is seen.
std::string timeline_svg(const KernelAnalysis& kernel, const LoopAnalysis& loop);

}  // namespace assay::sass
