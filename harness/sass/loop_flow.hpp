// SPDX-License-Identifier: Apache-2.0
// The ways through one iteration of a loop.
#pragma once
#include <cstddef>
#include <vector>

#include "harness/code/control_flow.hpp"

namespace assay::sass {

// The instructions of a loop that some warps reach, each with those that may follow it.
class LoopFlow {
 public:
  // `reached`: of the loop's body, ascending.
  LoopFlow(const Function& function, const Loop& loop, const std::vector<std::size_t>& reached);

  // Indices into Function::code, ascending and without repetition; the header ends an iteration.
  const std::vector<std::size_t>& next(std::size_t i) const { return next_[i]; }

  // The fewest calls between instruction i and the end of the iteration. ptxas calls what it keeps
  // out of line, above all the slow paths of divisions and square roots: denormals, overflow. Of
  // two ways, the one with fewer calls is the likely one. kNoWay: an iteration does not end there.
  std::size_t calls_from(std::size_t i) const { return calls_[i]; }
  static constexpr std::size_t kNoWay = static_cast<std::size_t>(-1);

  // What every iteration executes, whichever way it takes, in order.
  std::vector<std::size_t> every_iteration() const;

 private:
  void count_calls();
  std::vector<std::size_t> shortest_way() const;

  const Function& function_;
  std::size_t header_;
  std::vector<std::size_t> reached_;
  std::vector<std::vector<std::size_t>> next_;
  std::vector<std::size_t> calls_;
};

// A call that comes back, not one that ptxas uses as a branch.
bool is_call(const Instruction& instruction);

}  // namespace assay::sass
