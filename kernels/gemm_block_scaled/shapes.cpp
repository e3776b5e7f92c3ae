// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/shapes.hpp"

namespace assay::kernels {
namespace {

// The sizes of layers follow from config.json of deepseek-ai/DeepSeek-V3 on huggingface.co:
// hidden_size 7168; 128 heads, in values of 128, in queries of 128 + 64; q_lora_rank 1536,
// kv_lora_rank 512 and 64 for the position; moe_intermediate_size 2048; intermediate_size 18432.
constexpr std::string_view kModel = "DeepSeek-V3";

constexpr GemmShape kShapes[] = {
    {4096, 7168, 16384, GemmSet::quick, kModel, "attention output"},
    {4096, 4096, 4096, GemmSet::full},
    {8192, 8192, 8192, GemmSet::full},
    {4096, 2112, 7168, GemmSet::full, kModel, "query and key-value down-projection"},
    {4096, 24576, 1536, GemmSet::full, kModel, "query up-projection"},
    {4096, 32768, 512, GemmSet::full, kModel, "key and value up-projection"},
    {4096, 4096, 7168, GemmSet::full, kModel, "expert's gate and up"},
    {4096, 7168, 2048, GemmSet::full, kModel, "expert's down"},
    {4096, 36864, 7168, GemmSet::full, kModel, "gate and up"},
    {4096, 7168, 18432, GemmSet::full, kModel, "down"},
    {128, 7168, 16384, GemmSet::full, kModel, "attention output"},
    {128, 24576, 1536, GemmSet::full, kModel, "query up-projection"},
    {64, 7168, 16384, GemmSet::full, kModel, "attention output"},
    {1000, 5000, 3008, GemmSet::full},  // nothing is a multiple of a tile
};

}  // namespace

std::span<const GemmShape> block_scaled_shapes() { return kShapes; }

}  // namespace assay::kernels
