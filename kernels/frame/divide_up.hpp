// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay::kernels {

// How many times b, the last time perhaps in part. Neither is negative.
constexpr int divide_up(int a, int b) { return a / b + (a % b != 0); }

}  // namespace assay::kernels
