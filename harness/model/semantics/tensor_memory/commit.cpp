// SPDX-License-Identifier: Apache-2.0
// tcgen05.commit: an arrival on mbarriers when what the thread issued before is done. PTX ISA 9.0,
// 9.7.16.6.4.1 "mbarrier based completion mechanism", 9.7.16.12 "tcgen05.commit".
#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/mbarrier.hpp"
#include "harness/model/semantics/tensor_memory/state.hpp"

namespace assay::model {
namespace {

class Commit : public Operation {
 public:
  Commit(Run& run, Cta& cta, std::vector<std::uint32_t> barriers, Clock knows)
      : run_(run),
        cta_(cta),
        memory_(tensor_memory(cta)),
        after_(memory_.issued),
        barriers_(std::move(barriers)),
        knows_(std::move(knows)) {
    what = "a tcgen05.commit";
  }
  // Unspecified: whether commits overtake each other. All operations that the CTA issued before are
  // done first, which they are in order.
  bool in_order() const override { return true; }
  bool may_proceed() const override { return memory_.done >= after_; }
  void read() override {}
  void finish() override {
    for (const std::uint32_t address : barriers_) {
      Mbarrier& b = mbarrier_at(run_, cta_, address, nullptr);
      b.gathering.all.join(knows_);
      mbarrier_arrive(run_, b, 1, 0);
    }
  }

 private:
  Run& run_;
  Cta& cta_;
  TensorMemory& memory_;
  std::uint32_t after_;
  std::vector<std::uint32_t> barriers_;
  Clock knows_;
};

Action commit(Decoder& d, const Instruction& i) {
  const AddressOperand at = d.address(i.operands.at(0));
  const bool multicast = i.has("multicast::cluster"), shared = i.has("shared::cluster");
  const int mask = multicast ? d.source(i.operands.at(1)) : -1, group = cta_group_of(i);
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Run& run = *w.run;
      run.lane_now = l;
      tensor_ctas(*w.cta, group);
      Address generic = address_at(w, at, l);
      if (!shared && generic - kSharedWindow >= kWindowBytes)
        throw Violation("mbarrier.address", "the address is not in shared memory");
      if (!shared) generic -= kSharedWindow;
      const auto address = static_cast<std::uint32_t>(generic);
      std::vector<std::uint32_t> barriers;
      if (multicast) {
        const auto ranks = static_cast<std::uint32_t>(w.reg(mask)[l] & 0xffff);
        if (ranks == 0) throw Violation("multicast.mask", "the mask of a multicast names no CTA");
        for (std::uint32_t r = 0; r < 16; ++r)
          if ((ranks >> r & 1) != 0)
            barriers.push_back((address & ((1u << kRankShift) - 1)) | r << kRankShift);
      } else {
        barriers.push_back(address);
      }
      const Knowledge& knows = w.lanes[static_cast<std::size_t>(l)].knows;
      for (const std::uint32_t b : barriers) {
        const bool own = b >> kRankShift == static_cast<std::uint32_t>(w.cta->rank);
        mbarrier_for_async(run, mbarrier_at(run, *w.cta, b, own ? &knows : nullptr), knows);
      }
      // What comes with the arrival: all that the operations had to know, and that they are done.
      Clock all = knows.all;
      const TensorLane& lane = tensor_lane(w, l);
      all.join(lane.own);
      if (lane.issued != 0) all.raise({lane.strand, lane.issued});
      run.issue(w, l, std::make_unique<Commit>(run, *w.cta, std::move(barriers), std::move(all)));
    });
    return Next::step;
  };
}

}  // namespace

void add_tensor_commit(Meanings& all) { all.add("tcgen05.commit", commit); }

}  // namespace assay::model
