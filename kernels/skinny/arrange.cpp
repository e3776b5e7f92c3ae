// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/arrange.hpp"
#include "kernels/frame/divide_up.hpp"

#include <algorithm>
#include <bit>

namespace assay::kernels {
namespace {

int power_of_two_up_to(int most) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(std::max(most, 1))));
}

struct Form {
  int warps, rows, chunks, tiles, pieces, piece_bytes, deep, shallow;
};
template <class S>
constexpr Form kFormOf{S::kWarps,  S::kRows,       S::kChunks, S::kTiles,
                       S::kPieces, S::kPieceBytes, S::kDeep,   S::kShallow};

Form form_of(int tokens) {
  const auto of = []<int kTokens>() { return kFormOf<SkinnyShape<kTokens>>; };
  switch (tokens) {
    case 1:
      return of.template operator()<1>();
    case 4:
      return of.template operator()<4>();
    case 8:
      return of.template operator()<8>();
    case 16:
      return of.template operator()<16>();
    case 32:
      return of.template operator()<32>();
    default:
      return of.template operator()<64>();
  }
}

}  // namespace

int skinny_tokens(int m) {
  return m == 1 ? 1 : static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(m, 4))));
}

SkinnyLayout arrange(SkinnyWeights weights, int m, int n, int k, const SkinnyRoom& room) {
  SkinnyLayout l;
  l.tokens = skinny_tokens(m);
  const Form f = form_of(l.tokens);
  SkinnyArguments& a = l.arguments;
  a.m = m, a.n = n, a.k = k;
  const int bits = weight_bits(weights);
  a.row_bytes = static_cast<int>(std::int64_t{k} * bits / 8);
  a.scale_row_bytes = scale_row_bytes(weights, k);
  a.scales_of_row_bytes = scales_of_row_bytes(weights, k);
  const int units = divide_up(a.row_bytes, f.piece_bytes);
  const int slots = divide_up(units, f.pieces);
  const int piece_token_bytes = f.piece_bytes * 8 / bits * 2;
  const auto padded = [](int bytes) { return divide_up(bytes, 128) * 128 + 64; };

  // More CTAs share k where tokens would else take as much of the way from L2 as weights.
  a.cluster = 1;
  const double weight_share = static_cast<double>(n) * a.row_bytes / room.ctas;
  while (a.cluster < room.most_cluster && 2.0 * m * k / a.cluster > weight_share) a.cluster *= 2;
  if (room.cluster > 0) a.cluster = room.cluster;
  a.cluster = std::min(a.cluster, power_of_two_up_to(slots));

  const int clusters = std::max(1, std::min(room.ctas / a.cluster, n));
  const int rows = divide_up(n, clusters), share = divide_up(slots, a.cluster) * f.pieces;
  a.rows_each = n / clusters, a.rows_rest = n % clusters;
  a.slots_each = slots / a.cluster, a.slots_rest = slots % a.cluster;
  // Warps share k or rows: as many k groups as leave each warp eight slots of a block of rows,
  // whose end costs as much as two slots, and as let all warps have rows. (Of 2 to 16, measured on
  // an H200 at 8192 squared, that is the best for one token.)
  a.k_groups = std::min(f.warps, power_of_two_up_to(share / f.pieces / 8));
  const int row_blocks = divide_up(rows, f.rows);
  const int row_groups = power_of_two_up_to(row_blocks);
  a.k_groups = std::max(a.k_groups, f.warps / std::min(f.warps, row_groups));
  // Many tokens have many sums, and each k group has its own: warps share rows first then.
  if (l.tokens >= 8)
    a.k_groups = f.warps / std::min(f.warps, static_cast<int>(std::bit_ceil(unsigned(row_blocks))));
  if (room.k_groups > 0) a.k_groups = std::min(room.k_groups, f.warps);
  a.k_groups = std::min(a.k_groups, power_of_two_up_to(share / f.pieces));
  a.log_k_groups = std::countr_zero(static_cast<unsigned>(a.k_groups));
  a.row_groups = f.warps / a.k_groups;

  const auto queue_bytes = [&] {
    return f.warps * (a.deep ? f.deep : f.shallow) * skinny_slot_bytes(weights, f.tiles, f.pieces);
  };
  const auto sums_bytes = [&] {
    return a.k_groups * f.chunks * m * (a.row_groups * a.blocks * f.rows + 4) * 4;
  };
  const int slot_token_bytes = f.pieces * piece_token_bytes, share_slots = share / f.pieces;
  const int blocks = divide_up(rows, a.row_groups * f.rows);
  int left = 0;  // for tokens and sums
  const auto make_queue = [&](bool deep) {
    a.deep = deep;
    a.tokens_offset = queue_bytes();
    left = room.shared_bytes - a.tokens_offset;
  };
  // As few passes as their sums let be, passes of equal height.
  const auto split = [&](int most_sums) {
    const int most_rows = most_sums / (a.k_groups * f.chunks * m * 4) - 4;
    const int passes = divide_up(blocks, std::max(1, most_rows / (a.row_groups * f.rows)));
    a.blocks = divide_up(blocks, passes);
    return passes;
  };
  // Tokens of a phase: of at most so many bytes each, in phases of whole rounds of the k groups.
  const auto stage = [&](int most_bytes) {
    const int most = (most_bytes - 64) / 128 * 128 / slot_token_bytes;
    const int round = most < a.k_groups ? 1 : a.k_groups;
    const int phases = divide_up(share_slots, std::max(1, most / round * round));
    a.phase_pieces =
        std::min(share_slots, divide_up(divide_up(share_slots, phases), round) * round) * f.pieces;
    a.token_stride = padded(a.phase_pieces * piece_token_bytes);
    return most;
  };
  const auto tokens = [&] { return (a.ahead ? 2 : 1) * m * a.token_stride; };

  // All tokens at once, if they fit beside the sums.
  const auto at_once = [&](bool deep) {
    make_queue(deep);
    a.phase_pieces = share;
    a.token_stride = padded(share * piece_token_bytes);
    split(left - tokens());
    return tokens() + sums_bytes() <= left;
  };
  // In phases, the tokens of the next coming during one. Sums of a block of rows, the last, may
  // take the place of tokens.
  const auto ahead = [&](bool deep) {
    make_queue(deep);
    const int passes = split(left / 3);
    a.ahead = true;
    a.sums_over_tokens = passes == 1 && a.blocks == 1;
    const int most = stage((a.sums_over_tokens ? left : left - sums_bytes()) / 2 / m);
    a.ahead = most >= a.k_groups && sums_bytes() <= left;
    return a.ahead;
  };
  if (!at_once(true) && !at_once(false) && !ahead(true) && !ahead(false)) {
    // In phases, one after the other. With several blocks in a pass their sums stay in shared
    // memory from phase to phase; else it is that of the tokens.
    const int least = m * padded(slot_token_bytes);
    const int passes = split(std::min(left / 3, left - least));
    a.sums_over_tokens = a.blocks == 1;
    stage((a.sums_over_tokens ? left : left - sums_bytes()) / m);
    a.restage = a.sums_over_tokens && passes > 1;
  }
  a.restage = a.restage || a.phase_pieces < share;
  // Phases end in barriers, at which queues run empty. More CTAs share k where that spares them.
  if (a.restage && room.cluster == 0 && a.cluster < room.most_cluster) {
    SkinnyRoom shared = room;
    shared.cluster = 2 * a.cluster;
    const SkinnyLayout wider = arrange(weights, m, n, k, shared);
    if (!wider.arguments.restage) return wider;
  }
  a.sums_offset = a.tokens_offset + (a.sums_over_tokens ? 0 : tokens());
  l.shared_bytes = std::max(a.tokens_offset + tokens(), a.sums_offset + sums_bytes());
  l.grid = clusters * a.cluster;
  l.threads = 32 * f.warps;
  return l;
}

}  // namespace assay::kernels
