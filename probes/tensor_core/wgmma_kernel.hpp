// SPDX-License-Identifier: Apache-2.0
// Generated kernels of wgmma, and their launches by one warpgroup or several.
#pragma once
#include <string>

#include "harness/instruction/generated_kernel.hpp"
#include "probes/tensor_core/wgmma_form.hpp"
#include "probes/tensor_core/wgmma_operands.hpp"

namespace assay {

// One round of the loop: `groups` of `mmas` instructions, each committed and then waited for until
// `pending` groups are left. With chains, instructions take turns on as many accumulators.
struct WgmmaKernel {
  WgmmaForm form;
  std::string entry;
  int warpgroups = 2;  // at most; fewer may be launched
  int chains = 1;
  int groups = 1, mmas = 32, pending = 1;

  int threads() const { return warpgroups * WgmmaForm::kWarpgroup; }
  int instructions() const { return groups * mmas; }  // of one warpgroup in one round
  double flop(int warpgroups) const { return form.flop() * instructions() * warpgroups; }
  // For Probe::kernels.
  KernelUse use(Target target) const;

  // Words: what WgmmaOperands::words() gives, then the word each chain's accumulators start as.
  std::size_t in_words() const;
  // Accumulators, [chain][register][thread].
  std::size_t out_words() const;

 private:
  std::string setup() const;
  std::string loop() const;
};

// Loads the case's kernel and checks every accumulator against the product computed by the CPU.
GeneratedKernel load_wgmma(State& s, const WgmmaKernel& kernel);
// What it multiplies while it is timed; accumulators start as 1.
void set_operands(const GeneratedKernel& loaded, const WgmmaKernel& kernel,
                  const WgmmaOperands& operands);

}  // namespace assay
