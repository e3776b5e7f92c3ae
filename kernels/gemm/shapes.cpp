// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/shapes.hpp"

namespace assay::kernels {
namespace {

// The sizes of layers follow from config.json of each model (meta-llama/Meta-Llama-3-8B and -70B,
// deepseek-ai/DeepSeek-V3 on huggingface.co):
//   Llama-3: hidden_size 4096 (8B), 8192 (70B); 8 key-value heads of 128; intermediate_size 14336,
//     28672. Query, key and value are one product, and so are gate and up.
//   DeepSeek-V3: hidden_size 7168; 128 heads, in values of 128, in queries of 128 + 64;
//     q_lora_rank 1536.
constexpr std::string_view kLlama8 = "Llama-3 8B", kLlama70 = "Llama-3 70B",
                           kDeepSeek = "DeepSeek-V3";

constexpr GemmShape kShapes[] = {
    {4096, 4096, 4096, Suite::quick},
    {8192, 8192, 8192, Suite::quick},
    {2048, 2048, 2048, Suite::full},
    {4096, 6144, 4096, Suite::full, kLlama8, "query, key and value"},
    {4096, 28672, 4096, Suite::full, kLlama8, "gate and up"},
    {4096, 4096, 14336, Suite::full, kLlama8, "down"},
    {8192, 10240, 8192, Suite::full, kLlama70, "query, key and value"},
    {8192, 8192, 28672, Suite::full, kLlama70, "down"},
    {4096, 7168, 16384, Suite::full, kDeepSeek, "attention output"},
    {4096, 24576, 1536, Suite::full, kDeepSeek, "query up-projection"},
    {512, 8192, 8192, Suite::full, kLlama70, "attention output"},  // a small batch
    {1000, 5000, 3000, Suite::full},  // nothing is a multiple of a tile
};

}  // namespace

std::span<const GemmShape> gemm_shapes() { return kShapes; }

}  // namespace assay::kernels
