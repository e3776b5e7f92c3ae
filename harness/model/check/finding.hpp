// SPDX-License-Identifier: Apache-2.0
// What the checker has to say.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::model {

// A place in a kernel: which thread, at which line.
struct Place {
  std::string kernel;
  std::array<int, 3> cta = {0, 0, 0};
  int cta_rank = 0;  // in its cluster
  int warp = 0, lane = 0, thread = 0;
  std::string file;  // of the source, "" if the PTX does not say
  int line = 0;
  struct Call {
    std::string file;
    int line = 0;
  };
  std::vector<Call> callers;  // of inlined code: innermost first
  int ptx_line = 0;
  std::string instruction;
};

// One bug: what rule is broken, where, and the other side of it where there are two.
struct Finding {
  std::string rule;  // stable: "race.shared", "mbarrier.overrun"
  std::string text;  // one sentence
  Place at;
  bool has_other = false;
  Place other;
  std::string mend;  // what would put it right, where that is known
  int times = 1;     // how often this rule broke between these two lines
};

}  // namespace assay::model
