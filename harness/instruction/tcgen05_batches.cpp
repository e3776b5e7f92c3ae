// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction/tcgen05_batches.hpp"

#include <fmt/format.h>

namespace assay {
namespace {

// For the phase of this parity to end.
std::string wait(const std::string& label, int barrier, const std::string& parity) {
  return fmt::format(
      "{0}:\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar{1}], {2};\n"
      "  @!%done bra {0};\n",
      label, barrier, parity);
}

}  // namespace

std::string Tcgen05Batches::declarations() const {
  return "  .reg .pred %done, %elected;\n"
         "  .reg .b16 %both;\n"
         "  .reg .b32 %bar0, %bar1, %parity, %before;\n";
}

std::string Tcgen05Batches::setup(const std::string& at, int offset) const {
  return fmt::format(
      "  add.u32 %bar0, {0}, {1};\n"
      "  add.u32 %bar1, {0}, {1} + 8;\n"
      "  @%lead mbarrier.init.shared::cta.b64 [%bar0], 1;\n"
      "  @%lead mbarrier.init.shared::cta.b64 [%bar1], 1;\n"
      "  fence.mbarrier_init.release.cluster;\n"
      "  mov.u32 %parity, 0;\n"
      "  mov.u16 %both, 3;\n",
      at, offset);
}

// Operations from number `first` on, and their commit, of which both CTAs learn.
std::string Tcgen05Batches::issue(int first, int count, int barrier) const {
  const std::string label = fmt::format("follow{}", first);
  std::string text = ctas == 2 ? "  @%peer bra " + label + ";\n" : "";
  for (int i = first; i < first + count; ++i) text += operation(i);
  text += fmt::format(
      "  @%elected tcgen05.commit.cta_group::{}.mbarrier::arrive::one.shared::cluster{}.b64 "
      "[%bar{}]{};\n",
      ctas, ctas == 2 ? ".multicast::cluster" : "", barrier, ctas == 2 ? ", %both" : "");
  return text + (ctas == 2 ? label + ":\n" : "");
}

std::string Tcgen05Batches::loop() const {
  // ptxas sees that the elected lane of one warp issues, and needs no loop over lanes.
  std::string text = "  @%idle bra issued;\n  elect.sync _|%elected, 0xffffffff;\n";
  if (latency) {
    for (int i = 0; i < kAlone; ++i)
      text += issue(i, 1, 0) + wait(fmt::format("wait{}", i), 0, "%parity") +
              "  xor.b32 %parity, %parity, 1;\n";
    return text + "issued:\n";
  }
  // The wait for barrier 1 is for the round before: in the first one for the phase before all.
  text += issue(0, kBatch, 0) + "  xor.b32 %before, %parity, 1;\n" + wait("wait1", 1, "%before");
  text +=
      issue(kBatch, kBatch, 1) + wait("wait0", 0, "%parity") + "  xor.b32 %parity, %parity, 1;\n";
  return text + "issued:\n";
}

std::string Tcgen05Batches::drain() const {
  if (latency) return "";
  return "  xor.b32 %before, %parity, 1;\n  @%idle bra drained;\n" + wait("drain", 1, "%before") +
         "drained:\n";
}

}  // namespace assay
