// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/shapes.hpp"

#include <algorithm>
#include <vector>

namespace assay::kernels {
namespace {

// The sizes of layers follow from config.json of each model on huggingface.co. Products that read
// the same input are one: query, key and value; gate and up.
//   meta-llama/Meta-Llama-3-8B, -70B, Llama-3.1-405B: hidden_size 4096, 8192, 16384;
//     num_attention_heads 32, 64, 128 and num_key_value_heads 8, of 128 each; intermediate_size
//     14336, 28672, 53248.
//   deepseek-ai/DeepSeek-V3: hidden_size 7168; q_lora_rank 1536; kv_lora_rank 512 and
//     qk_rope_head_dim 64, which come of one product with the query's 1536; 128 heads, in queries
//     of 128 + 64, in keys and values of 128 + 128; v_head_dim 128; moe_intermediate_size 2048;
//     intermediate_size 18432.
//   Qwen/Qwen3-235B-A22B: hidden_size 4096; num_attention_heads 64 and num_key_value_heads 4, of
//     128 each; moe_intermediate_size 1536.
constexpr std::string_view kLlama8 = "Llama-3 8B", kLlama70 = "Llama-3 70B",
                           kLlama405 = "Llama-3.1 405B", kDeepSeek = "DeepSeek-V3",
                           kQwen = "Qwen3-235B-A22B";
constexpr std::string_view kQkv = "query, key and value", kOut = "attention output",
                           kUp = "gate and up", kDown = "down", kExpertUp = "gate and up, expert",
                           kExpertDown = "down, expert";

constexpr GemmLayer kLayers[] = {
    {kLlama8, kQkv, 6144, 4096, true},
    {kLlama8, kOut, 4096, 4096},
    {kLlama8, kUp, 28672, 4096},
    {kLlama8, kDown, 4096, 14336, true},
    {kLlama70, kQkv, 10240, 8192, true},
    {kLlama70, kOut, 8192, 8192, true},
    {kLlama70, kUp, 57344, 8192, true},
    {kLlama70, kDown, 8192, 28672, true},
    {kLlama405, kQkv, 18432, 16384},
    {kLlama405, kOut, 16384, 16384},
    {kLlama405, kUp, 106496, 16384},
    {kLlama405, kDown, 16384, 53248},
    {kDeepSeek, "query and key-value down-projection", 2112, 7168},
    {kDeepSeek, "query up-projection", 24576, 1536},
    {kDeepSeek, "key-value up-projection", 32768, 512},
    {kDeepSeek, kOut, 7168, 16384, true},
    {kDeepSeek, kUp, 36864, 7168},
    {kDeepSeek, kDown, 7168, 18432},
    {kDeepSeek, kExpertUp, 4096, 7168, true},
    {kDeepSeek, kExpertDown, 7168, 2048, true},
    {kQwen, kQkv, 9216, 4096},
    {kQwen, kOut, 4096, 8192},
    {kQwen, kExpertUp, 3072, 4096},
    {kQwen, kExpertDown, 4096, 1536},
};

// The suite's. What is of a layer is named by make_shapes().
constexpr GemmShape kSuite[] = {
    {4096, 4096, 4096, GemmSet::quick},
    {8192, 8192, 8192, GemmSet::quick},
    {16, 8192, 8192, GemmSet::quick},
    {512, 512, 512, GemmSet::full},
    {2048, 2048, 2048, GemmSet::full},
    {16384, 16384, 16384, GemmSet::full},
    // Prompts.
    {4096, 6144, 4096, GemmSet::full},
    {4096, 28672, 4096, GemmSet::full},
    {4096, 4096, 14336, GemmSet::full},
    {8192, 10240, 8192, GemmSet::full},
    {8192, 8192, 28672, GemmSet::full},
    {2048, 18432, 16384, GemmSet::full},
    {4096, 7168, 16384, GemmSet::full},
    {4096, 24576, 1536, GemmSet::full},
    {16384, 3072, 4096, GemmSet::full},
    // Batches of tokens that are generated, and of an expert.
    {1, 6144, 4096, GemmSet::full},
    {64, 57344, 8192, GemmSet::full},
    {128, 7168, 2048, GemmSet::full},
    {256, 4096, 4096, GemmSet::full},
    {512, 8192, 8192, GemmSet::full},
    {32, 16384, 53248, GemmSet::full},
    // Tensor parallel: a half of the gate and up of Llama-3 70B.
    {64, 28672, 8192, GemmSet::full},
    // Nothing is a multiple of a tile, or one of them is not.
    {777, 8192, 4096, GemmSet::full},
    {1000, 5000, 3000, GemmSet::full},
    {3000, 3000, 3000, GemmSet::full},
    {1536, 12288, 5120, GemmSet::full},
    {4097, 4104, 4104, GemmSet::full},
    // Little and much to sum up.
    {8192, 8192, 64, GemmSet::full},
    {256, 256, 65536, GemmSet::full},
    {384, 640, 20000, GemmSet::full},
    {512, 512, 32768, GemmSet::full},
};

// A survey's product takes no longer than 50 ms at 800 TFLOP/s.
constexpr double kMostFlop = 4e13;

constexpr int kTokens[] = {1,   2,   4,   8,   16,  24,   32,   48,   64,   96,
                           128, 192, 256, 384, 512, 1024, 2048, 4096, 8192, 16384};

std::vector<GemmShape> make_shapes() {
  std::vector<GemmShape> all;
  const auto add = [&](GemmShape shape) {
    const auto same = [&](const GemmShape& other) {
      return other.m == shape.m && other.n == shape.n && other.k == shape.k;
    };
    if (std::ranges::any_of(all, same)) return;
    for (const GemmLayer& layer : kLayers) {
      // Squares are of no model, though 8192 of 8192 tokens is one of its layers.
      if (layer.n != shape.n || layer.k != shape.k || (shape.m == shape.n && shape.n == shape.k))
        continue;
      shape.model = layer.model;
      shape.layer = layer.layer;
    }
    all.push_back(shape);
  };
  for (const GemmShape& shape : kSuite) add(shape);
  add({1024, 1024, 1024, GemmSet::survey});
  // M of every sort: one row and one row less around each multiple of what a tile or a warp has.
  for (const int m : {1, 7, 9, 63, 65, 100, 127, 129, 191, 193, 255, 257, 320, 1023, 1025, 2111})
    add({m, 4096, 4096, GemmSet::survey});
  // N and K as odd multiples of 8.
  for (const int odd : {1032, 3080, 4104, 6152}) {
    add({1024, odd, 4096, GemmSet::survey});
    add({1024, 4096, odd, GemmSet::survey});
    add({odd, odd, odd, GemmSet::survey});
  }
  for (const int k : {16, 64, 128, 256, 512, 32768, 131072}) add({512, 2048, k, GemmSet::survey});
  for (const GemmLayer& layer : kLayers)
    for (const int m : kTokens)
      if (2.0 * m * layer.n * layer.k <= kMostFlop) add({m, layer.n, layer.k, GemmSet::survey});
  return all;
}

}  // namespace

std::span<const GemmLayer> gemm_layers() { return kLayers; }

std::span<const GemmShape> gemm_shapes() {
  static const std::vector<GemmShape> shapes = make_shapes();
  return shapes;
}

}  // namespace assay::kernels
