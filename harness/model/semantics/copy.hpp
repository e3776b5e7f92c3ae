// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies under way, and the groups that a thread waits for.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "harness/model/machine/run.hpp"

namespace assay::model {

// Bytes to move; `from` null: they become `fill`, repeated.
struct Chunk {
  const std::uint8_t* from = nullptr;
  std::uint8_t* to = nullptr;
  std::uint32_t bytes = 0;
  bool packs = false;  // of each byte the lower 6 bits: three bytes are written for four
};

// Combines what is there with what comes: of reductions.
using Merge = std::function<void(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes)>;

class Transfer : public Operation {
 public:
  Transfer(Run& run, std::vector<Chunk> chunks, std::vector<std::uint8_t> fill = {0});
  // Writes to global memory that have read their source go on alone, and what comes from registers
  // to another CTA.
  bool needs_cta() const override {
    return !from_registers_to_other_ && (groups_ == nullptr || !has_read);
  }
  void read() override;
  void finish() override;

  // On completion, these bytes count on the mbarrier at this address of `cta`, in this phase.
  void completes_on(Cta& cta, std::uint32_t barrier, std::uint32_t phase, std::int64_t bytes);
  // It belongs to the open group of `groups`.
  void belongs_to(CommitGroups& groups);
  void merges(Merge merge) { merge_ = std::move(merge); }
  void comes_from_registers_to_other() { from_registers_to_other_ = true; }
  // Changes each word of 32 bits on its way; what is filled stays as it is.
  void converts(std::uint32_t (*convert)(std::uint32_t)) { convert_ = convert; }

 private:
  Run& run_;
  std::vector<Chunk> chunks_;
  std::vector<std::uint8_t> fill_, buffer_;
  Merge merge_;
  std::uint32_t (*convert_)(std::uint32_t) = nullptr;
  Cta* cta_ = nullptr;
  std::uint32_t barrier_ = 0, phase_ = 0;
  std::int64_t bytes_ = 0;
  CommitGroups* groups_ = nullptr;
  std::uint32_t group_ = 0;
  bool from_registers_to_other_ = false;
};

// The strands of a thread's groups, made when first used; `generic`: of cp.async.
void open_groups(Run& run, CommitGroups& groups, bool generic = false);

// cp.async[.bulk].commit_group and wait_group over `groups` of a lane.
Action commit_action(CommitGroups Lane::*groups);
Action wait_action(CommitGroups Lane::*groups, std::uint32_t most_pending, bool reads_only,
                   bool uncommitted_too);

// add, min, max, inc, dec, and, or, xor on elements of this type.
Merge merge_of(const Instruction& instruction);

}  // namespace assay::model
