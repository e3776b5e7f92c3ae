// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/shapes.hpp"

namespace assay::kernels {
namespace {

// The sizes of layers follow from config.json of each model (meta-llama/Meta-Llama-3-8B, -70B and
// Llama-3.1-405B, deepseek-ai/DeepSeek-V3, Qwen/Qwen3-235B-A22B on huggingface.co):
//   Llama-3: hidden_size 4096 (8B), 8192 (70B), 16384 (405B); 8 key-value heads of 128;
//     intermediate_size 14336, 28672, 53248; vocab_size 128256. Query, key and value are one
//     product, and so are gate and up.
//   DeepSeek-V3: hidden_size 7168; 128 heads, in values of 128, in queries of 128 + 64;
//     q_lora_rank 1536, kv_lora_rank 512 and 64 more for positions, both in one product;
//     moe_intermediate_size 2048.
//   Qwen3: hidden_size 4096; 64 heads and 4 key-value heads of 128; moe_intermediate_size 1536.
constexpr std::string_view kLlama8 = "Llama-3 8B", kLlama70 = "Llama-3 70B",
                           kLlama405 = "Llama-3.1 405B", kDeepSeek = "DeepSeek-V3",
                           kQwen = "Qwen3-235B-A22B";

constexpr SkinnyLayer kLayers[] = {
    {8192, 8192, Suite::quick},
    {6144, 4096, Suite::full, kLlama8, "query, key and value"},
    {4096, 4096, Suite::full, kLlama8, "attention output"},
    {28672, 4096, Suite::full, kLlama8, "gate and up"},
    {4096, 14336, Suite::full, kLlama8, "down"},
    {128256, 4096, Suite::full, kLlama8, "output"},
    {10240, 8192, Suite::full, kLlama70, "query, key and value"},
    {57344, 8192, Suite::full, kLlama70, "gate and up"},
    {8192, 28672, Suite::full, kLlama70, "down"},
    {18432, 16384, Suite::full, kLlama405, "query, key and value"},
    {16384, 16384, Suite::full, kLlama405, "attention output"},
    {106496, 16384, Suite::full, kLlama405, "gate and up"},
    {16384, 53248, Suite::full, kLlama405, "down"},
    {2112, 7168, Suite::full, kDeepSeek, "query and key-value down-projections"},
    {24576, 1536, Suite::full, kDeepSeek, "query up-projection"},
    {32768, 512, Suite::full, kDeepSeek, "key-value up-projection"},
    {7168, 16384, Suite::full, kDeepSeek, "attention output"},
    {4096, 7168, Suite::full, kDeepSeek, "gate and up of an expert"},
    {7168, 2048, Suite::full, kDeepSeek, "down of an expert"},
    {9216, 4096, Suite::full, kQwen, "query, key and value"},
    {4096, 8192, Suite::full, kQwen, "attention output"},
    {3072, 4096, Suite::full, kQwen, "gate and up of an expert"},
    {4096, 1536, Suite::full, kQwen, "down of an expert"},
};

}  // namespace

std::span<const SkinnyLayer> skinny_layers() { return kLayers; }

}  // namespace assay::kernels
