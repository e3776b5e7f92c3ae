// SPDX-License-Identifier: Apache-2.0
// What a launch says when nothing can go on, or it goes on for ever.
#include <algorithm>
#include <bit>
#include <set>

#include "harness/model/machine/run.hpp"
#include "harness/model/violation.hpp"

namespace assay::model {

// Where nothing can go on, waits with a time limit end without what they wait for, as on silicon,
// unless nothing has happened since they last did. Whether any did.
bool Run::end_waits_in_vain() {
  bool any = false;
  for (Warp* warp : warps_)
    for (Group& g : warp->groups) {
      if (!g.wait || !g.wait->may_end_in_vain || g.last_in_vain == changes_) continue;
      g.last_in_vain = changes_;
      g.in_vain = any = true;
      g.wait->ready = [] { return true; };
    }
  if (any) idle_steps_ = 0;
  return any;
}

void Run::deadlock() {
  std::string text = "nothing can go on: ";
  std::set<std::string> seen;
  Place at;
  bool first = true;
  int more = 0;
  for (Warp* warp : warps_)
    for (const Group& g : warp->groups) {
      const int lane = std::countr_zero(g.mask);
      const auto& op = program_.code[std::min<std::size_t>(static_cast<std::size_t>(g.pc),
                                                           program_.code.size() - 1)];
      const Place here =
          place_of(warp->cta->thread_base + static_cast<Component>(warp->thread(lane)), op.site);
      std::string line = "CTA " + std::to_string(warp->cta->index) + " warp " +
                         std::to_string(warp->index) + " (" +
                         std::to_string(std::popcount(g.mask)) + " lanes, line " +
                         std::to_string(here.line ? here.line : here.ptx_line) + ") " +
                         (g.wait ? "waits for " + g.wait->what : "asks again and again");
      if (first) at = here;
      if (seen.size() < 12 && seen.insert(line).second) {
        text += (first ? "" : "; ") + line;
      } else {
        ++more;
      }
      first = false;
    }
  if (more > 0) text += "; and " + std::to_string(more) + " more";
  report("deadlock", text, at, nullptr);
  explain_deadlock();
  throw Stop{};
}

void Run::stop_endless(const Warp& warp) {
  const std::size_t pc =
      warp.groups.empty() ? program_.code.size() : static_cast<std::size_t>(warp.groups.front().pc);
  const std::string text = "the kernel has not ended after " + std::to_string(options_.most_steps) +
                           " instructions of a warp";
  if (pc >= program_.code.size()) throw Violation("launch.steps", text);
  const int lane = std::countr_zero(warp.groups.front().mask);
  report("launch.steps", text,
         place_of(warp.cta->thread_base + static_cast<std::uint32_t>(warp.thread(lane)),
                  program_.code[pc].site),
         nullptr, "see whether the loop around this ends");
  throw Stop{};
}

// What may lie behind it.
void Run::explain_deadlock() {
  for (Warp* warp : warps_)
    for (const Group& g : warp->groups) {
      if (!g.wait || g.wait->rule.empty()) continue;
      const auto& op = program_.code[static_cast<std::size_t>(g.pc)];
      report(g.wait->rule,
             op.instruction->opcode + " is for all lanes together, and waits for " + g.wait->what,
             place_of(warp->cta->thread_base +
                          static_cast<Component>(warp->thread(std::countr_zero(g.mask))),
                      op.site),
             nullptr, "let all lanes of the warp come to it together");
    }
  for (const auto& cta : ctas_) {
    if (!cta) continue;
    report_bytes_left(*cta);
    report_arrivals(*cta);
  }
}

// A thread that came to a named barrier again before the others had come once.
void Run::report_arrivals(const Cta& cta) {
  for (std::size_t number = 0; number < cta.barriers.size(); ++number) {
    const auto& all = cta.barriers[number].arrivals;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) {
        if (all[i].thread != all[k].thread) continue;
        const Place first = place_of(all[k].thread, all[k].site);
        report("barrier.arrived_twice",
               "a warp arrives at barrier " + std::to_string(number) +
                   " again before the others have come once",
               place_of(all[i].thread, all[i].site), &first,
               "wait (bar.sync) where the warp may come around again before the round is over");
      }
  }
}

void Run::report_bytes_left(const Cta& cta) {
  for (const auto& [offset, b] : cta.mbarriers) {
    if (b.bytes == 0) continue;
    Place at{.kernel = program_.function->name, .cta = cta.at, .cta_rank = cta.rank};
    if (b.announced) at = place_of(b.expect_thread, b.expect_site);
    report("mbarrier.tx_left",
           b.bytes > 0
               ? std::to_string(b.bytes) + " bytes that the mbarrier was told to expect never came"
               : std::to_string(-b.bytes) + " bytes came that the mbarrier was not told to expect",
           at, nullptr, "let expect_tx announce the bytes of all copies of the phase");
  }
}

}  // namespace assay::model
