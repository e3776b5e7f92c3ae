// SPDX-License-Identifier: Apache-2.0
// Which forms of the Hopper matrix product 16-bit types have.
#pragma once
#include "kernels/gemm/sm90/variants/make_variant_sm90.cuh"

namespace assay::kernels {

// What 16-bit types get for "nt": the first for all products, and again without what plain ones
// do not need; the others for plain ones alone. Those for all products are of a sweep on an H200
// (results/h200/2026-11-24-gemm-clusters), but for 128x160, which gained most beside them over 240
// shapes on an H100 (results/h100/2026-11-26-places, candidates). Those for plain products are, of
// 166 that were timed beside these over 350 shapes on H100s (results/h100/2026-11-26-forms and
// -deep), those whose best is nearest the best of all; 256x160, 256x192, 128x192, 128x200, 64x128
// and 64x16 were set, which large and memory-bound products take. Where each SM has one tile, the
// rate at which L2 gives operands is the limit: pairs of CTAs whose GPC reads together ask little
// of it, and so do clusters of four and eight. But clusters of four leave 12 of 132 SMs empty:
// where a layer of a model is 128 tiles, pairs are right. Eleven forms of pairs are of such
// layers (of 112 more over 220 shapes, results/h200/2026-11-27-pairs); six gave way, which those
// made needless. Six are of tiles that cuBLASLt has where ours were slow
// (results/h200/2026-11-29-layouts). Four, 128x80 by 1x4, 128x128 by 1x2 and, swapped, 256x136 and
// 192x112, are for products of one or two waves whose sizes are no layer's: of 50 that the model of
// time or the names of cuBLASLt's kernels proposed for 92 such, those that gained most
// (results/h200/2026-11-30-more-forms).
template <class Forms>
void add_wide_sm90(Forms& nt) {
  nt.template add<128, 256, 2>();
  nt.template add_pingpong<128, 176, 2>();
  nt.template add_pingpong<192, 112, 1, 2>();
  nt.template add_swapped_pingpong<64, 16, 2>();
  nt.template add_swapped_pingpong<64, 32, 4>();
  nt.template add_swapped_pingpong<64, 80, 4>();
  nt.template add_swapped_pingpong<64, 128, 4>();
  nt.template add_swapped_pingpong<128, 80, 1, 2>();
  nt.template add_swapped_pingpong<128, 112, 4, 2>();
  nt.template add_swapped_pingpong<128, 128, 2, 4>();
  nt.template add_swapped_pingpong<128, 160, 1, 2>();
  // Those whose want cost most: with them the best form for all products is, in the mean over 421
  // shapes, 0.6% slower than the best of the plain ones, by these ones' times, and 11% at worst; it
  // was 3.3% and 28% (results/h200/2026-11-28-cold-sweeps).
  nt.template add_pingpong<64, 128, 1, 2>();
  if constexpr (!Forms::kForPlain) nt.template add_pingpong<64, 192, 1, 2>();
  nt.template add_pingpong<128, 96, 2, 4>();
  nt.template add_pingpong<128, 112, 2>();
  nt.template add_pingpong<128, 144, 1, 2>();
  nt.template add_swapped<128, 208, 2>();
  nt.template add_swapped_pingpong<64, 16, 4>();
  nt.template add_swapped_pingpong<64, 32, 4, 2>();
  nt.template add_swapped_pingpong<64, 48, 2>();
  nt.template add_swapped_pingpong<64, 64, 1, 2>();
  nt.template add_swapped_pingpong<64, 96, 4>();
  nt.template add_swapped_pingpong<128, 112, 1, 2>();
  nt.template add<256, 160, 1, 2>();
  nt.template add<256, 192, 1, 2>();
  nt.template add_pingpong<128, 192, 2>();
  nt.template add_swapped_pingpong<64, 128, 1, 2>();
  nt.template add_swapped_pingpong<128, 128, 1, 2>();
}

// Beside these, for plain products alone.
template <class Forms>
void add_wide_plain_sm90(Forms& nt) {
  nt.template add_pingpong<64, 112, 1, 4>();
  nt.template add_pingpong<64, 160, 2>();
  nt.template add_pingpong<128, 80, 1, 4>();
  nt.template add_pingpong<128, 88, 1, 4>();
  nt.template add_pingpong<128, 96, 2>();
  nt.template add_pingpong<128, 112, 1, 2>();
  nt.template add_pingpong<128, 112, 1, 4>();
  nt.template add_pingpong<128, 128, 1, 4>();
  nt.template add_pingpong<128, 128, 1, 2>();
  nt.template add_pingpong<128, 160, 1, 2>();
  nt.template add_swapped_pingpong<64, 16>();
  nt.template add_swapped_pingpong<64, 32, 2>();
  nt.template add_swapped_pingpong<64, 48, 4, 2>();
  nt.template add_swapped_pingpong<64, 64, 4>();
  nt.template add_swapped_pingpong<64, 64, 4, 2>();
  nt.template add_swapped_pingpong<64, 96, 1, 2>();
  nt.template add_swapped_pingpong<64, 104, 4, 2, 1>();
  nt.template add_swapped_pingpong<64, 128, 4, 2>();
  nt.template add_swapped_pingpong<64, 136, 2, 4>();
  nt.template add_swapped_pingpong<64, 144, 4, 2, 1>();
  nt.template add_swapped_pingpong<64, 192, 1, 2>();
  nt.template add_swapped_pingpong<64, 192, 4>();
  nt.template add_swapped_pingpong<128, 64, 1, 2>();
  nt.template add_swapped_pingpong<128, 88, 2, 4>();
  nt.template add_swapped_pingpong<128, 96, 1, 2>();
  nt.template add_swapped_pingpong<128, 104, 2, 4>();
  nt.template add_swapped_pingpong<128, 144, 1, 2>();
  nt.template add_swapped_pingpong<128, 160, 4>();
  nt.template add_swapped_pingpong<128, 176, 2>();
  nt.template add_swapped_pingpong<128, 184, 4>();
  nt.template add_swapped<128, 192, 1, 2>();
  nt.template add_swapped<256, 136, 1, 2>();
  nt.template add_swapped_pingpong<128, 200, 2>();
  nt.template add_swapped_pingpong<192, 104, 1, 2>();
  nt.template add_swapped_pingpong<192, 104, 2, 4>();
  nt.template add_swapped_pingpong<192, 112, 1, 2>();
}

// The forms of 16-bit types for nn, tn and tt, those for all products. As rows of P, whole boxes
// of 64 cost nothing where the row runs fastest in memory; as columns of Q, those beyond the tile
// are loaded in vain. So forms are swapped where B is such an operand and A is not. The best of
// these is, in the mean over 114 shapes of each layout, 0.5, 0.5 and 0.8% slower than the best of
// the plain ones (results/h200/2026-11-28-cold-sweeps).
template <class Nn, class Tn, class Tt>
void add_layouts_sm90(Nn& nn, Tn& tn, Tt& tt) {
  nn.template add<128, 256, 2>();
  nn.template add_pingpong<128, 128, 2>();
  nn.template add_swapped<256, 160, 1, 2>();
  nn.template add_swapped<256, 168, 1, 2>();
  nn.template add_swapped_pingpong<64, 16, 1, 2>();
  nn.template add_swapped_pingpong<64, 32, 2>();
  nn.template add_swapped_pingpong<64, 64, 4>();
  nn.template add_swapped_pingpong<64, 128, 4>();
  nn.template add_swapped_pingpong<128, 64, 1, 2>();
  nn.template add_swapped_pingpong<128, 112, 4, 2>();
  nn.template add_swapped_pingpong<128, 128, 2>();
  nn.template add_swapped_pingpong<128, 192, 2>();
  nn.template add_swapped_pingpong<128, 200, 2>();
  nn.template add_swapped_pingpong<192, 96, 1, 2>();
  tn.template add<128, 256, 2>();
  tn.template add_pingpong<64, 64, 1, 4>();
  tn.template add_pingpong<128, 128, 1, 2>();
  tn.template add_pingpong<128, 128, 2>();
  tn.template add_pingpong<128, 192, 2>();
  tn.template add_pingpong<192, 128, 1, 2>();
  tn.template add_swapped_pingpong<64, 128, 1, 2>();
  tn.template add_swapped_pingpong<64, 128, 4>();
  tt.template add<128, 256, 2>();
  tt.template add<256, 160, 1, 2>();
  tt.template add_pingpong<64, 32, 1, 4>();
  tt.template add_pingpong<64, 64, 1, 4>();
  tt.template add_pingpong<64, 128, 1, 2>();
  tt.template add_pingpong<64, 128, 4>();
  tt.template add_pingpong<64, 136, 2>();
  tt.template add_pingpong<128, 128, 2>();
  tt.template add_pingpong<128, 160, 2>();
  tt.template add_pingpong<192, 128, 1, 2>();
  tt.template add_swapped_pingpong<128, 128, 2>();
}

// Those for plain products: of 58, 61 and 58 that were timed over 144 shapes of nn, tn and tt on
// three H200s, what is left when forms are taken away one by one as long as that costs less than
// 0.04%. Four more of tn are left out: the model of time takes one for no size, and the others for
// faster than they are. The best of these is 1.009, 1.003 and 1.004 times as fast as cuBLASLt's
// best on the shapes that it was done by, and 0.996, 0.994 and 0.998 on 26 to 30 others; of those
// before it was 0.992, 0.975 and 0.980, and 0.987, 0.988 and 0.986
// (results/h200/2026-11-29-layouts). 9, 10 and 11 came since for sizes that are no layer's, of 51,
// 56 and 56 proposed (256x160 of nn for the suite's 1000x5000x3000, where cuBLASLt has it): with
// them the best form of 32 products held out is 1.032, 1.027 and 1.012 times as fast as cuBLASLt's
// best, and was 1.023, 1.025 and 1.004 (results/h200/2026-11-30-more-forms). Clusters of eight are
// for operands whose rows begin within a line of L2. Each row of a box is two requests to L2 there,
// and what CTAs share is asked for once.
template <class Nn, class Tn, class Tt>
void add_plain_layouts_sm90(Nn& nn, Tn& tn, Tt& tt) {
  nn.template add<128, 256, 1, 2>();
  nn.template add<128, 256, 2>();
  nn.template add<256, 160, 1, 2>();
  nn.template add_pingpong<64, 192, 4>();
  nn.template add_pingpong<128, 128, 2>();
  nn.template add_pingpong<128, 160, 2, 2>();
  nn.template add_pingpong<128, 160, 1, 2>();
  nn.template add_pingpong<128, 176, 2>();
  nn.template add_pingpong<128, 192, 2>();
  nn.template add_swapped<128, 216, 2>();
  nn.template add_swapped<256, 120, 2>();
  nn.template add_swapped<256, 160, 1, 2>();
  nn.template add_swapped<256, 168, 1, 2>();
  nn.template add_swapped_pingpong<64, 16, 1, 2>();
  nn.template add_swapped_pingpong<64, 32, 1, 2>();
  nn.template add_swapped_pingpong<64, 32, 2>();
  nn.template add_swapped_pingpong<64, 48, 2, 2>();
  nn.template add_swapped_pingpong<64, 64, 4>();
  nn.template add_swapped_pingpong<64, 80, 4>();
  nn.template add_swapped_pingpong<64, 128, 1, 2>();
  nn.template add_swapped_pingpong<64, 128, 4>();
  nn.template add_swapped_pingpong<64, 128, 4, 2>();
  nn.template add_swapped_pingpong<64, 152, 2>();
  nn.template add_swapped_pingpong<64, 152, 4>();
  nn.template add_swapped_pingpong<64, 184, 4>();
  nn.template add_swapped_pingpong<64, 192, 4>();
  nn.template add_swapped_pingpong<128, 64, 1, 2>();
  nn.template add_swapped_pingpong<128, 80, 1, 2>();
  nn.template add_swapped_pingpong<128, 80, 4, 2>();
  nn.template add_swapped_pingpong<128, 112, 4, 2>();
  nn.template add_swapped_pingpong<128, 112, 1, 2>();
  nn.template add_swapped_pingpong<128, 128, 2>();
  nn.template add_swapped_pingpong<128, 136, 1, 2>();
  nn.template add_swapped_pingpong<128, 160>();
  nn.template add_swapped_pingpong<128, 160, 2, 4>();
  nn.template add_swapped_pingpong<128, 160, 1, 2>();
  nn.template add_swapped_pingpong<128, 176, 2>();
  nn.template add_swapped_pingpong<128, 192, 2>();
  nn.template add_swapped_pingpong<128, 200, 2>();
  nn.template add_swapped_pingpong<192, 64, 1, 2>();
  nn.template add_swapped_pingpong<192, 88, 2, 4>();
  nn.template add_swapped_pingpong<192, 96, 1, 2>();
  nn.template add_swapped_pingpong<192, 112, 1, 2>();
  tn.template add<128, 256, 2>();
  tn.template add<256, 160, 1, 2>();
  tn.template add_pingpong<64, 32, 1, 4>();
  tn.template add_pingpong<64, 64, 1, 4>();
  tn.template add_pingpong<64, 64, 4, 2>();
  tn.template add_pingpong<64, 128, 2, 4>();
  tn.template add_pingpong<64, 128, 4, 2>();
  tn.template add_pingpong<64, 192, 2>();
  tn.template add_pingpong<64, 192, 4>();
  tn.template add_pingpong<128, 128, 1, 2>();
  tn.template add_pingpong<128, 128, 2>();
  tn.template add_pingpong<128, 160, 2, 2>();
  tn.template add_pingpong<128, 160, 4, 2>();
  tn.template add_pingpong<128, 192, 2>();
  tn.template add_pingpong<192, 96, 1, 2>();
  tn.template add_pingpong<192, 104, 1, 4>();
  tn.template add_pingpong<192, 112, 2>();
  tn.template add_pingpong<192, 128, 1, 2>();
  tn.template add_swapped<128, 216, 2>();
  tn.template add_swapped<256, 128, 2>();
  tn.template add_swapped<256, 160, 1, 2>();
  tn.template add_swapped<256, 184, 1, 2>();
  tn.template add_swapped_pingpong<64, 16, 4>();
  tn.template add_swapped_pingpong<64, 32, 4>();
  tn.template add_swapped_pingpong<64, 128, 1, 2>();
  tn.template add_swapped_pingpong<64, 128, 4>();
  tn.template add_swapped_pingpong<64, 128, 2>();
  tn.template add_swapped_pingpong<64, 192, 4>();
  tn.template add_swapped_pingpong<128, 32, 4>();
  tn.template add_swapped_pingpong<128, 96, 2, 4>();
  tn.template add_swapped_pingpong<128, 160, 1, 2>();
  tn.template add_swapped_pingpong<128, 160, 4, 2>();
  tn.template add_swapped_pingpong<192, 112, 1, 2>();
  tt.template add<128, 256, 1, 2>();
  tt.template add<128, 256, 2>();
  tt.template add<256, 104, 2>();
  tt.template add<256, 160, 1, 2>();
  tt.template add_pingpong<64, 32, 1, 4>();
  tt.template add_pingpong<64, 64, 1, 4>();
  tt.template add_pingpong<64, 80, 1, 4>();
  tt.template add_pingpong<64, 80, 2, 2>();
  tt.template add_pingpong<64, 96, 1, 4>();
  tt.template add_pingpong<64, 96, 2, 4>();
  tt.template add_pingpong<64, 128, 1, 2>();
  tt.template add_pingpong<64, 128, 4>();
  tt.template add_pingpong<64, 136, 2>();
  tt.template add_pingpong<64, 144, 4>();
  tt.template add_pingpong<64, 152, 4>();
  tt.template add_pingpong<64, 168, 2, 4>();
  tt.template add_pingpong<128, 64, 1, 4>();
  tt.template add_pingpong<128, 80, 1, 2>();
  tt.template add_pingpong<128, 96, 1, 2>();
  tt.template add_pingpong<128, 112, 2>();
  tt.template add_pingpong<128, 112, 1, 4>();
  tt.template add_pingpong<128, 120, 1, 2>();
  tt.template add_pingpong<128, 128, 2, 4>();
  tt.template add_pingpong<128, 128, 2>();
  tt.template add_pingpong<128, 128, 1, 4>();
  tt.template add_pingpong<128, 136, 4, 2>();
  tt.template add_pingpong<128, 136, 1, 2>();
  tt.template add_pingpong<128, 144, 2>();
  tt.template add_pingpong<128, 160, 2>();
  tt.template add_pingpong<128, 160, 2, 2>();
  tt.template add_pingpong<128, 168, 4>();
  tt.template add_pingpong<128, 176, 2>();
  tt.template add_pingpong<128, 192, 2>();
  tt.template add_pingpong<128, 200, 1, 2>();
  tt.template add_pingpong<192, 96, 1, 2>();
  tt.template add_pingpong<192, 112, 1, 2>();
  tt.template add_pingpong<192, 112, 1, 4>();
  tt.template add_pingpong<192, 120, 1, 2>();
  tt.template add_pingpong<192, 128, 1, 2>();
  tt.template add_swapped<128, 216, 2>();
  tt.template add_swapped_pingpong<64, 64, 4>();
  tt.template add_swapped_pingpong<64, 80, 4>();
  tt.template add_swapped_pingpong<64, 128, 4>();
  tt.template add_swapped_pingpong<64, 192, 4>();
  tt.template add_swapped_pingpong<128, 32, 4>();
  tt.template add_swapped_pingpong<128, 96, 4>();
  tt.template add_swapped_pingpong<128, 128, 2>();
  tt.template add_swapped_pingpong<192, 112, 1, 2>();
}

}  // namespace assay::kernels
