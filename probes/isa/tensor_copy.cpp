// SPDX-License-Identifier: Apache-2.0
// Forms of TMA: copies of tiles and of im2col columns between global and shared memory, gather,
// scatter, reduction, prefetch, and tensor maps made on the device. PTX ISA 9.0, "Tensor copy".
#include <fmt/format.h>

#include <array>

#include "harness/instruction/notation.hpp"
#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

std::string coordinates(int dimensions) {
  constexpr std::array kNames = {"%x", "%y", "%z", "%u", "%v"};
  std::string text = kNames[0];
  for (int i = 1; i < dimensions; ++i)
    text += std::string(", ") + kNames[static_cast<std::size_t>(i)];
  return "{" + text + "}";
}

// One offset for each dimension but channels and images.
std::string offsets(int dimensions) {
  return dimensions == 3 ? "{%o}" : dimensions == 4 ? "{%o, %o2}" : "{%o, %o2, %o3}";
}

constexpr const char* kArrive = "mbarrier::complete_tx::bytes";

const InstructionForms load{"TMA load", [] {
                              std::string lines;
                              for (int d = 1; d <= 5; ++d) {
                                const std::string from =
                                    fmt::format("[%usmem], [%map, {}], [%bar]", coordinates(d));
                                lines += fmt::format(R"(
      cp.async.bulk.tensor.{0}d.shared::(cluster|cta).global(|.tile).{2} {1};
      cp.async.bulk.tensor.{0}d.shared::(cluster|cta).global.tile.{2}.L2::cache_hint {1}, %policy;
      cp.async.bulk.tensor.{0}d.shared::cluster.global.tile.{2}.multicast::cluster {1}, %ctas;
      cp.async.bulk.tensor.{0}d.shared::cluster.global.tile.{2}.multicast::cluster.L2::cache_hint {1}, %ctas, %policy;
      cp.async.bulk.tensor.{0}d.shared::cluster.global.tile.{2}.cta_group::(1|2) {1};
    )",
                                                     d, from, kArrive);
                              }
                              lines += fmt::format(R"(
    cp.async.bulk.tensor.2d.shared::cta.global.tile.{0}.cta_group::(1|2) [%usmem], [%map, {{%x, %y}}], [%bar];
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.{0}.multicast::cluster.cta_group::(1|2) [%usmem], [%map, {{%x, %y}}], [%bar], %ctas;
  )",
                                                   kArrive);
                              return notation::rows_of(lines);
                            }()};

const InstructionForms im2col{"TMA im2col", [] {
                                std::string lines;
                                for (int d = 3; d <= 5; ++d) {
                                  const std::string from =
                                      fmt::format("[%usmem], [%map, {}], [%bar]", coordinates(d));
                                  lines += fmt::format(R"(
      cp.async.bulk.tensor.{0}d.shared::(cluster|cta).global.im2col.{3} {1}, {2};
      cp.async.bulk.tensor.{0}d.shared::cluster.global.im2col.{3}.L2::cache_hint {1}, {2}, %policy;
      cp.async.bulk.tensor.{0}d.shared::cluster.global.im2col.{3}.multicast::cluster {1}, {2}, %ctas;
      cp.async.bulk.tensor.{0}d.shared::cluster.global.im2col.{3}.cta_group::(1|2) {1}, {2};
      cp.async.bulk.tensor.{0}d.shared::(cluster|cta).global.im2col::w(|::128).{3} {1}, {{%o, %o2}};
      cp.async.bulk.tensor.{0}d.shared::cluster.global.im2col::w(|::128).{3}.multicast::cluster {1}, {{%o, %o2}}, %ctas;
      cp.async.bulk.tensor.{0}d.shared::cluster.global.im2col::w(|::128).{3}.cta_group::(1|2) {1}, {{%o, %o2}};
    )",
                                                       d, from, offsets(d), kArrive);
                                }
                                return notation::rows_of(lines);
                              }()};

const InstructionForms gather{"TMA gather scatter",
                              notation::rows_of(fmt::format(R"(
    cp.async.bulk.tensor.2d.shared::(cluster|cta).global.tile::gather4.{0} [%usmem], [%map, {1}], [%bar];
    cp.async.bulk.tensor.2d.shared::(cluster|cta).global.tile::gather4.{0}.L2::cache_hint [%usmem], [%map, {1}], [%bar], %policy;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.{0}.multicast::cluster [%usmem], [%map, {1}], [%bar], %ctas;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.{0}.cta_group::(1|2) [%usmem], [%map, {1}], [%bar];
    cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%map, {1}], [%usmem];
    cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group.L2::cache_hint [%map, {1}], [%usmem], %policy;
    cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%map, {1}];
    cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile::scatter4.bulk_group [%map, {1}], [%usmem];
)",
                                                            kArrive, "{%x, %y, %z, %u, %v}"))};

const InstructionForms store{"TMA store reduce prefetch", [] {
                               std::string lines;
                               for (int d = 1; d <= 5; ++d)
                                 lines += fmt::format(R"(
      cp.async.bulk.tensor.{0}d.global.shared::cta(|.tile).bulk_group [%map, {1}], [%usmem];
      cp.async.bulk.tensor.{0}d.global.shared::cta.tile.bulk_group.L2::cache_hint [%map, {1}], [%usmem], %policy;
      cp.reduce.async.bulk.tensor.{0}d.global.shared::cta.(add|min|max|inc|dec|and|or|xor).tile.bulk_group [%map, {1}], [%usmem];
      cp.async.bulk.prefetch.tensor.{0}d.L2.global.tile [%map, {1}];
    )",
                                                      d, coordinates(d));
                               for (int d = 3; d <= 5; ++d)
                                 lines += fmt::format(R"(
      cp.async.bulk.tensor.{0}d.global.shared::cta.im2col_no_offs.bulk_group [%map, {1}], [%usmem];
      cp.reduce.async.bulk.tensor.{0}d.global.shared::cta.add.im2col_no_offs.bulk_group [%map, {1}], [%usmem];
      cp.async.bulk.prefetch.tensor.{0}d.L2.global.im2col [%map, {1}], {2};
      cp.async.bulk.prefetch.tensor.{0}d.L2.global.im2col::w(|::128) [%map, {1}], {{%o, %o2}};
    )",
                                                      d, coordinates(d), offsets(d));
                               lines += R"(
    cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group.L2::cache_hint [%map, {%x, %y}], [%usmem], %policy;
    cp.async.bulk.prefetch.tensor.2d.L2.global.tile.L2::cache_hint [%map, {%x, %y}], %policy;
    prefetch.tensormap [%generic];
    prefetch.(param|const).tensormap [%generic];
  )";
                               return notation::rows_of(lines);
                             }()};

const InstructionForms maps{"tensormap", notation::rows_of(R"(
    tensormap.replace.tile.global_address(|.global|.shared::cta).b1024.b64 [%generic], %rd0;
    tensormap.replace.tile.rank.global.b1024.b32 [%gmem], %r0;
    tensormap.replace.tile.(box_dim|global_dim|element_stride).global.b1024.b32 [%gmem], 1, %r0;
    tensormap.replace.tile.global_stride.global.b1024.b64 [%gmem], 1, %rd0;
    tensormap.replace.tile.elemtype.global.b1024.b32 [%gmem], 6;
    tensormap.replace.tile.elemtype.global.b1024.b32 [%gmem], 13; # b4x16
    tensormap.replace.tile.elemtype.global.b1024.b32 [%gmem], 14; # b4x16_p64
    tensormap.replace.tile.elemtype.global.b1024.b32 [%gmem], 15; # b6x16_p32
    tensormap.replace.tile.interleave_layout.global.b1024.b32 [%gmem], 0;
    tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%gmem], 3;
    tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%gmem], 4; # 96B
    tensormap.replace.tile.fill_mode.global.b1024.b32 [%gmem], 1;
    tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%gmem], 1;
    tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%smem], %rd0; # 32-bit address
    tensormap.replace.tile.rank.shared::cta.b1024.b32 [%smem], %r0;
    tensormap.replace.tile.(box_dim|global_dim|element_stride).shared::cta.b1024.b32 [%smem], 1, %r0;
    tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%smem], 1, %rd0;
    tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%smem], 6;
    tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%smem], 13; # b4x16
    tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%smem], 14; # b4x16_p64
    tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%smem], 15; # b6x16_p32
    tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%smem], 0;
    tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%smem], 2; # 32B
    tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%smem], 3;
    tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%smem], 4; # 96B
    tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%smem], 1;
    tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 [%smem], 1;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%gmem], [%smem], 128;
    fence.proxy.tensormap::generic.release.(cta|cluster|gpu|sys);
    fence.proxy.tensormap::generic.acquire.(cta|cluster|gpu|sys) [%gmem], 128;
)")};

}  // namespace
