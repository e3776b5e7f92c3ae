// SPDX-License-Identifier: Apache-2.0
// The stages of a software pipeline: where matrix products and copies are issued, where they are
// waited for, and what runs between; and who signals whom in a warp-specialized kernel.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/sass/schedule.hpp"
#include "harness/sass/warp/warp_roles.hpp"

namespace assay::sass {

using Counts = std::map<std::string, int>;

enum class StageKind : std::uint8_t {
  work,       // issues instructions, matrix products and copies among them
  wait,       // stops until a group of MMAs or copies, or an mbarrier's phase, is done
  signal,     // arrives at an mbarrier, or tells that it will once copies or MMAs are done
  rendezvous  // BAR: the CTA, or a named barrier
};
std::string_view name(StageKind kind);

struct Stage {
  StageKind kind = StageKind::work;
  std::size_t first = 0, last = 0;  // steps of the schedule
  double begin = 0, end = 0;        // cycles: of the first step, and of what follows the last
  double waited = 0;                // of those, for scoreboards, busy pipes and groups
  Counts matrix, copies;            // by opcode: matrix products; asynchronous copies
  Counts pipes;                     // other instructions, by pipe
  std::string what;                 // for anything but work: "mbarrier [UR12+0x38000]"
  // For a wait: the step that closed the group waited for, and what has been issued since, by pipe.
  std::optional<Producer> awaited = {};
  Counts since = {};
};

// The stages of the iteration that `schedule` shows, in order.
std::vector<Stage> stages_of(const Function& function, const Schedule& schedule,
                             const CostTable& table);

// One synchronization object and who does what with it, as far as addresses show: an offset from a
// base in shared memory, or the number of a named barrier.
struct Handshake {
  std::string object;  // "mbarrier +0x38000", "named barrier 0x1"
  struct Use {
    std::string does;       // "waits", "arrives", "arms", "bulk copies signal"
    std::uint32_t address;  // of the instruction
    WarpSet who;
  };
  std::vector<Use> uses;
};

// Objects that different warps use differently; `reach` as reaching_warps() gives it.
std::vector<Handshake> handshakes(const Function& function, const std::vector<WarpSet>& reach);

}  // namespace assay::sass
