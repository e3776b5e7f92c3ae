// SPDX-License-Identifier: Apache-2.0
// Where attention's 2^x takes longer than its matrix math, from the rates of both.
//
// A tile of M queries and N keys of head dimension d: S = Q K^T is 2 M N d FLOP at the rate of MMAs
// as wide as the tile of keys, O = P V as many at that of MMAs as wide as the head dimension; one
// 2^x for each of the M N scores. M N cancels, so the tile matters only by the rate of its MMAs.
#pragma once

namespace assay::imbalance {

// Time of 2^x over time of the MMAs: above 1, 2^x bounds. Rates per clock and SM (or per second,
// all three): FLOP of S = Q K^T, FLOP of O = P V, results of 2^x.
constexpr double exp_to_mma_time(double scores_flop, double output_flop, double exps,
                                 double head_dim) {
  return 1 / exps / (2 * head_dim * (1 / scores_flop + 1 / output_flop));
}

// The head dimension at which both take as long, below which 2^x bounds, with MMAs of one rate.
constexpr double balance_head_dim(double flop, double exps) { return flop / (4 * exps); }

}  // namespace assay::imbalance
