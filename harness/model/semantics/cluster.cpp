// SPDX-License-Identifier: Apache-2.0
// Addresses of a cluster's CTAs and cluster launch control. PTX ISA 9.0, "mapa", "getctarank",
// "clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel".
#include <array>
#include <cstring>

#include <algorithm>

#include "harness/model/semantics/copy.hpp"
#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/mbarrier.hpp"

namespace assay::model {
namespace {

// mapa{.shared::cluster}.type d, a, rank. Of a CTA that is not there the address is wrong, and said
// so where it is used: compilers move the instruction before the test that keeps it from being
// used.
Action map_address(Decoder& d, const Instruction& i) {
  const Type t = type_of(i);
  const bool shared = i.has("shared::cluster");
  const int out = d.destination(i.operands.at(0)), a = d.source(i.operands.at(1), t),
            rank = d.source(i.operands.at(2));
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      const Address window = shared ? 0 : kSharedWindow;
      const Address address = w.reg(a)[l] - window;
      const Value r = std::min<Value>(low(w.reg(rank)[l], 32), 0xff);
      w.reg(out)[l] = ((address & ((1u << kRankShift) - 1)) | r << kRankShift) + window;
    });
    return Next::step;
  };
}

Action rank_of(Decoder& d, const Instruction& i) {
  const bool shared = i.has("shared::cluster");
  const int out = d.destination(i.operands.at(0)), a = d.source(i.operands.at(1), type_of(i));
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      w.reg(out)[l] = (w.reg(a)[l] - (shared ? 0 : kSharedWindow)) >> kRankShift;
    });
    return Next::step;
  };
}

// The 16 bytes of an answer are opaque; here: whether one was cancelled, and its first CTA.
struct Answer {
  std::uint32_t cancelled, x, y, z;
};

Action try_cancel(Decoder& d, const Instruction& i) {
  const AddressOperand to = d.address(i.operands.at(0)), barrier = d.address(i.operands.at(1));
  const bool all = i.has("multicast::cluster::all");
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Run& run = *w.run;
      run.lane_now = l;
      Lane& lane = w.lanes[static_cast<std::size_t>(l)];
      const int cluster = run.next_cluster_to_cancel();
      Answer answer{};
      if (cluster >= 0) {
        const auto& s = run.shape();
        const int per_x = s.grid[0] / s.cluster[0], per_y = s.grid[1] / s.cluster[1];
        answer = {1, static_cast<std::uint32_t>(cluster % per_x * s.cluster[0]),
                  static_cast<std::uint32_t>(cluster / per_x % per_y * s.cluster[1]),
                  static_cast<std::uint32_t>(cluster / per_x / per_y * s.cluster[2])};
      }
      std::vector<std::uint8_t> bytes(16);
      std::memcpy(bytes.data(), &answer, 16);
      const std::size_t count = all ? w.cta->cluster->ctas.size() : 1;
      for (std::size_t r = 0; r < count; ++r) {
        const auto in = [&](const AddressOperand& a) {
          auto address = static_cast<std::uint32_t>(address_at(w, a, l));
          if (all)
            address = (address & ((1u << kRankShift) - 1)) | static_cast<std::uint32_t>(r)
                                                                 << kRankShift;
          return address;
        };
        const Where where = run.resolve_shared(*w.cta, in(to), 16, 16);
        Cta* owner = nullptr;
        Mbarrier& b = mbarrier_at(run, *w.cta, in(barrier), nullptr, &owner);
        mbarrier_for_async(run, b, lane.knows);
        run.check_write(where, 16, run.issuer(w, l, mbarrier_epoch(b), "writes"));
        auto op =
            std::make_unique<Transfer>(run, std::vector<Chunk>{{nullptr, where.bytes, 16}}, bytes);
        op->what = "an answer of cluster launch control";
        op->completes_on(*owner, in(barrier), b.phase, 16);
        run.issue(w, l, std::move(op));
      }
    });
    return Next::step;
  };
}

Action query_cancel(Decoder& d, const Instruction& i) {
  const auto out = d.destinations(i.operands.at(0));
  const int answer = d.source(i.operands.at(1), {Type::Kind::bits, 128});
  const bool asks = i.has("is_canceled");
  std::size_t part = 3;
  for (const std::string& p : i.parts)
    if (p.starts_with("get_first_ctaid::")) part = static_cast<std::size_t>(p.back() - 'x');
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      const std::array<Value, 2> words = {w.reg(answer)[l], w.reg(answer + 1)[l]};
      const auto a = std::bit_cast<Answer>(words);
      if (asks) {
        w.reg(out[0])[l] = a.cancelled;
        return;
      }
      if (a.cancelled == 0) {
        w.run->lane_now = l;
        w.run->report("launch_control.not_cancelled",
                      "the first CTA of an answer is asked for although no cluster was cancelled");
      }
      const std::array<std::uint32_t, 3> first = {a.x, a.y, a.z};
      if (part < 3)
        w.reg(out[0])[l] = first[part];
      else
        for (std::size_t k = 0; k < out.size(); ++k) w.reg(out[k])[l] = k < 3 ? first[k] : 0;
    });
    return Next::step;
  };
}

}  // namespace

void add_clusters(Meanings& all) {
  all.add("mapa", map_address);
  all.add("getctarank", rank_of);
  all.add("clusterlaunchcontrol.try_cancel", try_cancel);
  all.add("clusterlaunchcontrol.query_cancel", query_cancel);
}

}  // namespace assay::model
