// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/shapes.hpp"

namespace assay::kernels {
namespace {

// The sizes of layers follow from config.json of deepseek-ai/DeepSeek-V3 on huggingface.co:
// hidden_size 7168; 128 heads, in values of 128, in queries of 128 + 64; q_lora_rank 1536,
// kv_lora_rank 512 and 64 for the position; moe_intermediate_size 2048; intermediate_size 18432.
constexpr std::string_view kModel = "DeepSeek-V3";

constexpr BlockScaledShape kShapes[] = {
    {4096, 7168, 16384, Suite::quick, kModel, "attention output"},
    {4096, 4096, 4096, Suite::full},
    {8192, 8192, 8192, Suite::full},
    {4096, 2112, 7168, Suite::full, kModel, "query and key-value down-projection"},
    {4096, 24576, 1536, Suite::full, kModel, "query up-projection"},
    {4096, 32768, 512, Suite::full, kModel, "key and value up-projection"},
    {4096, 4096, 7168, Suite::full, kModel, "expert's gate and up"},
    {4096, 7168, 2048, Suite::full, kModel, "expert's down"},
    {4096, 36864, 7168, Suite::full, kModel, "gate and up"},
    {4096, 7168, 18432, Suite::full, kModel, "down"},
    {128, 7168, 16384, Suite::full, kModel, "attention output"},
    {128, 24576, 1536, Suite::full, kModel, "query up-projection"},
    {64, 7168, 16384, Suite::full, kModel, "attention output"},
    {1000, 5000, 3008, Suite::full},  // nothing is a multiple of a tile
};

}  // namespace

std::span<const BlockScaledShape> block_scaled_shapes() { return kShapes; }

}  // namespace assay::kernels
