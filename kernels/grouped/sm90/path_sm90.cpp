// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "kernels/grouped/grouped.hpp"
#include "kernels/grouped/sm90/plan_sm90.hpp"

namespace assay::kernels {
namespace {

const GroupedPaths::Registration path{
    grouped_paths(),
    {.name = "sm90",
     .targets = {Target::sm_90a},
     .refusal = [](const GroupedProblem&) { return std::string(); },
     .plan =
         [](const GroupedProblem& problem, const GroupedOperands& operands) {
           return problem.type == "bf16"
                      ? plan_grouped_bf16_sm90(problem, operands, choose_grouped_here_sm90(problem))
                      : plan_grouped_e4m3_sm90(problem, operands,
                                               choose_grouped_e4m3_sm90(problem));
         },
     .kernels =
         [](const GroupedProblem& problem) {
           return problem.type == "bf16" ? grouped_bf16_kernels_sm90(problem)
                                         : grouped_e4m3_kernels_sm90(problem);
         }}};

}  // namespace
}  // namespace assay::kernels
