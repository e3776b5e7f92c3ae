// SPDX-License-Identifier: Apache-2.0
// cp.async, cp.async.bulk, cp.reduce.async.bulk, st.async, red.async. PTX ISA 9.0, "Data Movement
// and Conversion Instructions: Asynchronous copy".
#include <cstring>

#include "harness/model/semantics/copy.hpp"
#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/mbarrier.hpp"

namespace assay::model {
namespace {

Lane& lane_of(Warp& w, int l) { return w.lanes[static_cast<std::size_t>(l)]; }

// cp.async.{ca,cg}.shared.global [dst], [src], size[, src-size | ignore-src][, policy]: an ordinary
// (generic proxy) access that is done later. What is not read becomes zeros.
Action small_copy(Decoder& d, const Instruction& i) {
  const AddressOperand to = d.address(i.operands.at(0)), from = d.address(i.operands.at(1));
  const auto bytes = static_cast<std::size_t>(Decoder::immediate(i.operands.at(2), "the size"));
  const bool sized = i.operands.size() > (i.has("L2::cache_hint") ? 4u : 3u);
  const bool ignores = sized && d.is_predicate(i.operands[3]),
             unless = ignores && i.operands[3].negated;
  const int source_bytes = sized ? d.source(i.operands[3]) : d.constant(bytes);
  if (bytes != 4 && bytes != 8 && bytes != 16)
    throw Violation("cp_async.size", "cp.async copies 4, 8 or 16 bytes");
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Run& run = *w.run;
      run.lane_now = l;
      CommitGroups& g = lane_of(w, l).copies;
      open_groups(run, g, true);
      const Value said = w.reg(source_bytes)[l];
      const bool ignored = ignores && ((said & 1) != 0) != unless;
      const std::size_t real =
          ignores ? (ignored ? 0 : bytes) : std::min<std::size_t>(bytes, low(said, 32));
      const Where target = run.resolve(w, l, Space::shared, address_at(w, to, l), bytes, bytes);
      std::vector<Chunk> chunks;
      Actor reader = run.actor(w, l), writer = reader;
      reader.epoch = {g.reads, g.open};
      writer.epoch = {g.writes, g.open};
      if (real > 0) {
        const Where source = run.resolve(w, l, Space::global, address_at(w, from, l), real,
                                         real == bytes ? bytes : 1);
        run.check_read(source, real, reader);
        chunks.push_back({source.bytes, target.bytes, static_cast<std::uint32_t>(real)});
      }
      if (real < bytes)
        chunks.push_back({nullptr, target.bytes + real, static_cast<std::uint32_t>(bytes - real)});
      run.check_write(target, bytes, writer);
      auto op = std::make_unique<Transfer>(run, std::move(chunks));
      op->belongs_to(g);
      run.issue(w, l, std::move(op));
    });
    return Next::step;
  };
}

// cp.async.mbarrier.arrive[.noinc]: arrives when the thread's copies so far are done.
class ArriveAfterCopies : public Operation {
 public:
  ArriveAfterCopies(Run& run, Cta& cta, std::uint32_t address, CommitGroups& groups,
                    Knowledge knows)
      : run_(run),
        cta_(cta),
        address_(address),
        groups_(groups),
        last_(groups.open),
        knows_(std::move(knows)) {
    what = "the arrival of cp.async.mbarrier.arrive";
  }
  bool in_order() const override { return true; }
  bool may_proceed() const override {
    return groups_.unfinished.empty() || groups_.unfinished.begin()->first > last_;
  }
  void read() override {}
  void finish() override {
    Mbarrier& b = mbarrier_at(run_, cta_, address_, nullptr);
    b.gathering.join(knows_);
    b.gathering.all.raise({groups_.reads, last_});
    b.gathering.all.raise({groups_.writes, last_});
    mbarrier_arrive(run_, b, 1, 0);
  }

 private:
  Run& run_;
  Cta& cta_;
  std::uint32_t address_;
  CommitGroups& groups_;
  std::uint32_t last_;
  Knowledge knows_;
};

Action copies_arrive(Decoder& d, const Instruction& i) {
  const AddressOperand at = d.address(i.operands.at(0));
  const bool counted = i.has("noinc");
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Run& run = *w.run;
      run.lane_now = l;
      Lane& lane = lane_of(w, l);
      const auto address = static_cast<std::uint32_t>(address_at(w, at, l));
      Mbarrier& b = mbarrier_at(run, *w.cta, address, &lane.knows);
      open_groups(run, lane.copies, true);
      if (!counted) ++b.pending;
      Knowledge knows;
      run.release(w, l, knows);
      run.issue(
          w, l,
          std::make_unique<ArriveAfterCopies>(run, *w.cta, address, lane.copies, std::move(knows)));
      ++lane.copies.open;  // later copies are not among those that it waits for
    });
    return Next::step;
  };
}

// cp.async.bulk and cp.reduce.async.bulk without a tensor.
Action bulk_copy(Decoder& d, const Instruction& i) {
  // The first space is the destination's.
  std::vector<std::string> spaces;
  for (const std::string& p : i.parts)
    if (p == "global" || p.starts_with("shared")) spaces.push_back(p);
  if (spaces.size() != 2) throw Violation("model.unknown", "the copy names no two spaces");
  const bool to_shared = spaces[0] != "global", from_shared = spaces[1] != "global";
  const bool grouped = i.has("bulk_group"), multicast = i.has("multicast::cluster"),
             reduces = i.parts[1] == "reduce";
  const Merge merge = reduces ? merge_of(i) : Merge{};
  if (i.has("ignore_oob")) unknown_part(i, "ignore_oob");
  // .cp_mask: of each 16 bytes, those whose bits are set.
  const int byte_mask = i.has("cp_mask") ? d.source(i.operands.back()) : -1;
  const AddressOperand to = d.address(i.operands.at(0)), from = d.address(i.operands.at(1));
  const int size = d.source(i.operands.at(2));
  const AddressOperand barrier =
      grouped ? AddressOperand{d.constant(0), 0} : d.address(i.operands.at(3));
  const int mask = multicast ? d.source(i.operands.at(4)) : d.constant(0);
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Run& run = *w.run;
      run.lane_now = l;
      Lane& lane = lane_of(w, l);
      const auto bytes = static_cast<std::uint32_t>(w.reg(size)[l]);
      if (bytes % 16 != 0)
        throw Violation("bulk.size", "a bulk copy of " + std::to_string(bytes) +
                                         " bytes: the size must be a multiple of 16");
      const auto place = [&](bool shared, const AddressOperand& a, std::uint32_t rank,
                             bool ranked) {
        Address address = address_at(w, a, l);
        if (shared && ranked)
          address = (address & ((1u << kRankShift) - 1)) | Address{rank} << kRankShift;
        return run.resolve(w, l, shared ? Space::shared : Space::generic, address, bytes, 16);
      };
      const Where source = place(from_shared, from, 0, false);
      const auto send = [&](std::uint32_t rank, bool ranked) {
        const Where target = place(to_shared, to, rank, ranked);
        Epoch read, written;
        std::vector<Chunk> chunks;
        if (byte_mask < 0)
          chunks.push_back({source.bytes, target.bytes, bytes});
        else
          for (std::uint32_t b = 0; b < bytes; ++b)
            if ((w.reg(byte_mask)[l] >> (b % 16) & 1) != 0)
              chunks.push_back({source.bytes + b, target.bytes + b, 1});
        const auto checked = [&](const Where& whole, const auto& check) {
          for (const Chunk& c : chunks) {
            const std::ptrdiff_t skipped = c.from - source.bytes;
            Where part = whole;
            part.bytes += skipped;
            part.at += static_cast<std::size_t>(skipped);
            check(part, c.bytes);
          }
        };
        auto op = std::make_unique<Transfer>(run, chunks);
        if (grouped) {
          open_groups(run, lane.bulk);
          read = {lane.bulk.reads, lane.bulk.open};
          written = {lane.bulk.writes, lane.bulk.open};
          op->belongs_to(lane.bulk);
        } else {
          auto address = static_cast<std::uint32_t>(address_at(w, barrier, l));
          if (ranked) address = (address & ((1u << kRankShift) - 1)) | rank << kRankShift;
          Cta* owner = nullptr;
          Mbarrier& b = mbarrier_at(run, *w.cta, address, &lane.knows, &owner);
          mbarrier_for_async(run, b, lane.knows);
          if (to_shared && owner != target.cta)
            throw Violation("bulk.barrier",
                            "the destination and the mbarrier lie in different CTAs");
          read = written = mbarrier_epoch(b);
          op->completes_on(*owner, address, b.phase, bytes);
        }
        if (merge) op->merges(merge);
        Actor reader = run.issuer(w, l, read, "reads"),
              writer = run.issuer(w, l, written, "writes");
        // Reductions of many are in no order, and need none.
        if (reduces) writer.strong = Scope::gpu;
        checked(source, [&](const Where& p, std::size_t n) { run.check_read(p, n, reader); });
        checked(target, [&](const Where& p, std::size_t n) { run.check_write(p, n, writer); });
        run.issue(w, l, std::move(op));
      };
      if (!multicast) return send(0, false);
      const auto ranks = static_cast<std::uint32_t>(w.reg(mask)[l] & 0xffff);
      if (ranks == 0) throw Violation("multicast.mask", "the mask of a multicast names no CTA");
      for (std::uint32_t r = 0; r < 16; ++r)
        if ((ranks >> r & 1) != 0) send(r, true);
    });
    return Next::step;
  };
}

// st.async and red.async: a remote store or reduction that counts on an mbarrier of the same CTA.
Action store_async(Decoder& d, const Instruction& i) {
  const Type t = type_of(i);
  const Merge merge = i.parts[0] == "red" ? merge_of(i) : Merge{};
  const AddressOperand at = d.address(i.operands.at(0)), barrier = d.address(i.operands.at(2));
  const auto in = d.sources(i.operands.at(1), t);
  const auto width = static_cast<std::size_t>(t.bits / 8);
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Run& run = *w.run;
      run.lane_now = l;
      Lane& lane = lane_of(w, l);
      const std::size_t bytes = width * in.size();
      const Where target = run.resolve(w, l, Space::shared, address_at(w, at, l), bytes, bytes);
      const auto address = static_cast<std::uint32_t>(address_at(w, barrier, l));
      Cta* owner = nullptr;
      Mbarrier& b = mbarrier_at(run, *w.cta, address, &lane.knows, &owner);
      if (owner != target.cta)
        throw Violation("st_async.barrier",
                        "the destination and the mbarrier lie in different CTAs");
      std::vector<std::uint8_t> data(bytes);
      for (std::size_t k = 0; k < in.size(); ++k)
        std::memcpy(data.data() + k * width, &w.reg(in[k])[l], width);
      Actor writer = run.actor(w, l);
      writer.epoch = mbarrier_epoch(b);
      if (merge) writer.strong = Scope::cluster;  // reductions of many are in no order
      run.check_write(target, bytes, writer);
      auto op = std::make_unique<Transfer>(
          run, std::vector<Chunk>{{nullptr, target.bytes, static_cast<std::uint32_t>(bytes)}},
          data);
      if (merge) op->merges(merge);
      if (owner != w.cta) op->comes_from_registers_to_other();
      op->completes_on(*owner, address, b.phase, static_cast<std::int64_t>(bytes));
      run.issue(w, l, std::move(op));
    });
    return Next::step;
  };
}

Meaning wait(CommitGroups Lane::*groups, bool all) {
  return [=](Decoder&, const Instruction& i) {
    const auto pending = all ? 0 : Decoder::immediate(i.operands.at(0), "the count of groups");
    return wait_action(groups, static_cast<std::uint32_t>(pending), i.has("read"), all);
  };
}

}  // namespace

void add_copies(Meanings& all) {
  all.add("cp.async.ca", small_copy);
  all.add("cp.async.cg", small_copy);
  all.add("cp.async.commit_group",
          [](Decoder&, const Instruction&) { return commit_action(&Lane::copies); });
  all.add("cp.async.wait_group", wait(&Lane::copies, false));
  all.add("cp.async.wait_all", wait(&Lane::copies, true));
  all.add("cp.async.mbarrier.arrive", copies_arrive);
  all.add("cp.async.bulk", bulk_copy);
  all.add("cp.reduce.async.bulk", bulk_copy);
  all.add("cp.async.bulk.commit_group",
          [](Decoder&, const Instruction&) { return commit_action(&Lane::bulk); });
  all.add("cp.async.bulk.wait_group", wait(&Lane::bulk, false));
  all.add("st.async", store_async);
  all.add("red.async", store_async);
}

}  // namespace assay::model
