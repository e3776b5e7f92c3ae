// SPDX-License-Identifier: Apache-2.0
// Tensor copies of sm_100a, executed. Model, not silicon: expectations are the manual's.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "harness/model/copy/tensor_map.hpp"
#include "harness/model/model.hpp"

namespace assay::model {
namespace {

constexpr const char* kStoreAndLoad = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 in, .param .align 128 .b8 map[128], .param .u64 out)
{
  .shared .align 128 .b8 data[128];
  .shared .align 128 .b8 back[128];
  .shared .align 8 .b64 bar;
  .reg .b64 %in, %out, %map, %d;
  .reg .b32 %w<4>, %at, %back, %bar, %zero, %i;
  .reg .pred %p;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.b64 %map, map;
  mov.u32 %at, data;
  mov.u32 %back, back;
  mov.u32 %bar, bar;
  mov.u32 %zero, 0;
  mov.u32 %i, 0;
FILL:
  ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%in];
  st.shared.v4.b32 [%at], {%w0, %w1, %w2, %w3};
  add.u64 %in, %in, 16;
  add.u32 %at, %at, 16;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 8;
  @%p bra FILL;
  mov.u32 %at, data;
  mbarrier.init.shared::cta.b64 [%bar], 1;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
  cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%map, {%zero}], [%at];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 96;
  cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes
      [%back], [%map, {%zero}], [%bar];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;
  @!%p bra WAIT;
  mov.u32 %i, 0;
SHOW:
  ld.shared.v2.b32 {%w0, %w1}, [%back];
  ld.shared.b32 %w2, [%back+8];
  st.global.b32 [%out], %w0;
  st.global.b32 [%out+4], %w1;
  st.global.b32 [%out+8], %w2;
  add.u64 %out, %out, 12;
  add.u32 %back, %back, 16;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 8;
  @%p bra SHOW;
  ret;
}
)";

// 5.5.1.1.1: of .b6p2x16 a store takes the lower 6 bits of each byte, 12 bytes for 16; a load of
// the same type, .b6x16_p32, brings these 12 bytes with 4 behind them that it leaves alone.
TEST(TensorCopyModel, StoresSixBitsOfEachByte) {
  Gpu gpu(kStoreAndLoad);
  std::mt19937 random(3);
  std::vector<std::uint8_t> bytes(128), packed(96);
  for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
  for (std::size_t bit = 0; bit < 768; ++bit)
    packed[bit / 8] |= static_cast<std::uint8_t>((bytes[bit / 6] >> bit % 6 & 1) << bit % 8);
  const Address in = gpu.allocate("in", 128), out = gpu.allocate("out", 96);
  TensorMap map{.type = MapElement::u6x16_padded};
  map.rank = 1;
  map.address = gpu.allocate("elements", 96);
  map.extents[0] = 128;
  map.box[0] = 128;
  const TensorMapBytes words = encode(map, MapTarget::sm100);
  gpu.write(in, bytes);
  Arguments arguments;
  arguments.push(in).push(&words, 128, 128).push(out);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Outcome outcome = gpu.launch("k", {}, arguments, {.seed = seed});
    EXPECT_TRUE(outcome.finished);
    for (const Finding& f : outcome.findings) ADD_FAILURE() << to_text(f);
    EXPECT_EQ(gpu.read<std::uint8_t>(map.address, 96), packed);
    EXPECT_EQ(gpu.read<std::uint8_t>(out, 96), packed);
  }
}

constexpr const char* kGatherAndScatter = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .align 128 .b8 from[128], .param .align 128 .b8 to[128])
{
  .shared .align 128 .b8 rows[256];
  .shared .align 8 .b64 bar;
  .reg .b64 %from, %to;
  .reg .b32 %rows, %bar;
  .reg .pred %p;
  mov.b64 %from, from;
  mov.b64 %to, to;
  mov.u32 %rows, rows;
  mov.u32 %bar, bar;
  mbarrier.init.shared::cta.b64 [%bar], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256;
  cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes
      [%rows], [%from, {4, 7, 2, 11, 5}], [%bar];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;
  @!%p bra WAIT;
  cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group
      [%to, {8, 1, 9, 10, 3}], [%rows];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
)";

// 5.5.3.4: four rows, wherever they are, lie one below another in shared memory; a row beyond the
// end is filled with zeros, and stored nowhere.
TEST(TensorCopyModel, GathersAndScattersFourRows) {
  constexpr std::size_t kRows = 10, kColumns = 32, kBox = 16;
  const int from_rows[] = {7, 2, 11, 5}, to_rows[] = {1, 9, 10, 3};
  Gpu gpu(kGatherAndScatter);
  std::vector<float> elements(kRows * kColumns), expected(kRows * kColumns, -1);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i + 1);
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t c = 0; c < kBox && to_rows[r] < static_cast<int>(kRows); ++c)
      expected[static_cast<std::size_t>(to_rows[r]) * kColumns + 8 + c] =
          from_rows[r] < static_cast<int>(kRows)
              ? elements[static_cast<std::size_t>(from_rows[r]) * kColumns + 4 + c]
              : 0;
  TensorMap map{.type = MapElement::f32};
  map.rank = 2;
  map.extents = {kColumns, kRows, 1, 1, 1};
  map.strides = {kColumns * 4};
  map.box = {kBox, 1, 1, 1, 1};
  const Address from = map.address = gpu.allocate("from", elements.size() * 4);
  const TensorMapBytes from_words = encode(map, MapTarget::sm100);
  const Address to = map.address = gpu.allocate("to", elements.size() * 4);
  const TensorMapBytes to_words = encode(map, MapTarget::sm100);
  gpu.write(from, elements);
  Arguments arguments;
  arguments.push(&from_words, 128, 128).push(&to_words, 128, 128);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    gpu.write(to, std::vector<float>(elements.size(), -1));
    const Outcome outcome = gpu.launch("k", {}, arguments, {.seed = seed});
    EXPECT_TRUE(outcome.finished);
    for (const Finding& f : outcome.findings) ADD_FAILURE() << to_text(f);
    EXPECT_EQ(gpu.read<float>(to, elements.size()), expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace assay::model
