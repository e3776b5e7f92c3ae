// SPDX-License-Identifier: Apache-2.0
// The modelled GPU while a grid runs: clusters, CTAs, warps, and what is under way asynchronously.
//
// A warp executes 32 lanes at a time. Lanes that took different branches are groups with a program
// counter each; groups that meet at the same instruction become one again, the one that is behind
// goes first. An instruction that must wait blocks its group, and is executed again when it may go
// on.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/model/check/clock.hpp"
#include "harness/model/check/finding.hpp"
#include "harness/model/check/shadow.hpp"
#include "harness/model/ptx/module.hpp"

namespace assay::model {

using Mask = std::uint32_t;
using Value = std::uint64_t;
inline constexpr Mask kAllLanes = 0xffffffffu;

class Run;
struct Warp;
struct Cta;

// What an instruction's meaning says of the group that executed it.
enum class Next : std::uint8_t {
  step,     // on to the next instruction
  jump,     // the groups' program counters are set
  blocked,  // Warp::wait says until when; then once more
  yield,    // executed; let others go on first
};

using Action = std::function<Next(Warp&, Mask)>;

struct Decoded {
  Action action;
  const Instruction* instruction = nullptr;
  std::uint32_t site = 0;
  int guard = -1;
  bool guard_negated = false;
  bool own_shared =
      false;           // .shared or .shared::cta: addresses of other CTAs' memory are not for it
  bool moves = false;  // a plain mov: accumulators of an MMA under way may be renamed by it
  std::vector<int> slots;   // registers it names
  std::vector<int> writes;  // of these, those that its first operand names
};

struct Program {
  const Function* function = nullptr;
  std::vector<Decoded> code;
  int slots = 0;
  std::vector<int> maybe_unwritten;                           // slots: see first_use.hpp
  std::vector<std::pair<int, Value>> constants;               // slot, the same in every lane
  std::vector<std::pair<int, std::string>> special;           // slot, name of the special register
  std::unordered_map<std::string, std::uint32_t> shared;      // offset of static shared variables
  std::unordered_map<std::string, std::uint32_t> locals;      // offset of local variables
  std::unordered_map<std::string, std::uint32_t> parameters;  // offset in the parameter array
  std::uint32_t shared_bytes = 0, local_bytes = 0, parameter_bytes = 0;
  std::uint32_t dynamic_offset = 0;
  bool has_wgmma = false;
};

// Why a group does not go on.
struct Wait {
  std::function<bool()> ready;
  std::string
      what;  // "mbarrier at 0x30400, phase of parity 0 (1 of 2 arrivals, 16384 bytes to come)"
  std::string rule = {};  // what is broken if it waits for ever; empty: that alone
  const std::int64_t* opened_by = nullptr;  // of a barrier: the event in the trace that opened it
  bool may_end_in_vain = false;             // it has a time limit, as mbarrier.try_wait has
};

struct Group {
  Mask mask = 0;
  int pc = 0;
  std::optional<Wait> wait;
  std::int64_t token = -1;  // an instruction's own note between two executions of it
  int spins = 0;            // answers "not yet" in a row
  std::uint64_t since = 0;  // when it began to wait
  bool in_vain = false;     // its wait has ended without what it waited for
  std::uint64_t last_in_vain = ~std::uint64_t{0};  // how much had happened when it last did
};

// Registers of a warp that an asynchronous MMA owns: they hold no value until the wait that covers
// its group.
struct Tile {
  std::vector<std::array<Value, 32>> values;
  std::uint32_t group = 0;
};
struct Owned {
  std::shared_ptr<Tile> tile;
  int index = 0;
};

// Groups of asynchronous operations that one thread, warp or warpgroup commits and waits for.
struct CommitGroups {
  Component reads = 0, writes = 0;  // strands of what is read, and of what is written; 0: none yet
  std::uint32_t open = 1;           // number of the group that the next commit closes
  // Unfinished operations of groups, by number; reading is done before writing is.
  std::map<std::uint32_t, int> unread, unfinished;
  int uncommitted = 0;  // operations in the open group
};

// Of each scope. Few threads fence, and few barriers pass anything on of that: it is made when
// first asked for.
class ScopedKnowledge {
 public:
  bool any() const { return all_ != nullptr; }
  Knowledge& operator[](std::size_t scope) {
    if (!all_) all_ = std::make_unique<All>();
    return (*all_)[scope];
  }
  void join(const ScopedKnowledge& other) {
    for (std::size_t s = 0; other.any() && s < kScopes; ++s) (*this)[s].join((*other.all_)[s]);
  }
  // Of `least` and wider ones.
  void join_into(Knowledge& to, Scope least) const {
    for (std::size_t s = static_cast<std::size_t>(least) - 1; any() && s < kScopes; ++s)
      to.join((*all_)[s]);
  }

 private:
  using All = std::array<Knowledge, kScopes>;
  std::unique_ptr<All> all_;
};

struct Lane {
  Knowledge knows;
  std::uint32_t time = 1;
  // At the last fence of each scope: what relaxed stores after it release to it.
  ScopedKnowledge fenced;
  Clock inits;  // mbarriers made and fenced by fence.mbarrier_init
  // By relaxed loads, by how far away the writer is: what the next fence of that scope acquires.
  ScopedKnowledge observed;
  bool has_observed = false;
  CommitGroups bulk, copies;
  std::uint64_t cluster_round = 0;  // barrier.cluster.arrive executed
  std::uint32_t mma_sequence = 0;   // tcgen05 operations issued
};

// What fences have to do with relaxed accesses, from thread to thread over a barrier: one fences
// before it and another writes the flag after it; one reads the flag and another fences.
struct Passed {
  ScopedKnowledge fenced, observed;
  bool has_observed = false;

  void take(const Lane& lane) {
    fenced.join(lane.fenced);
    if (lane.has_observed) observed.join(lane.observed);
    has_observed |= lane.has_observed;
  }
  void give(Lane& lane) const {
    lane.fenced.join(fenced);
    if (has_observed) lane.observed.join(observed);
    lane.has_observed |= has_observed;
  }
};

struct Warp {
  Run* run = nullptr;
  Cta* cta = nullptr;
  int index = 0;
  Mask live = 0;
  std::vector<Group> groups;
  Group* current = nullptr;
  // By slot, 32 lanes each. Only those of Program::maybe_unwritten are filled at the start.
  std::unique_ptr<Value[]> registers;
  std::array<Lane, 32> lanes;
  std::unordered_map<int, Owned> owned;  // by slot
  // When each register was last written other than by a copy or a wgmma, and the last wgmma.fence;
  // kept for kernels that have one.
  std::vector<std::uint64_t> written;
  std::uint64_t fence_time = 0;
  Mask sync_arrived = 0;  // bar.warp.sync
  std::uint64_t sync_round = 0;
  Knowledge sync_knows;
  std::vector<std::vector<std::uint8_t>> local;  // by lane
  int priority = 0;

  Value* reg(int slot) { return registers.get() + static_cast<std::size_t>(slot) * 32; }
  int thread(int lane) const { return index * 32 + lane; }
};

struct Mbarrier {
  std::uint32_t expected = 0, pending = 0;
  std::int64_t bytes = 0;   // transactions still to come
  std::uint32_t phase = 0;  // number of the phase that runs
  Component component = 0;
  Epoch init;
  std::uint32_t init_site = 0, init_thread = 0;
  std::vector<Epoch> shown;  // fences that showed its making to asynchronous operations
  Knowledge gathering;       // of the phase that runs
  Knowledge finished;        // of the phase before it
  // What threads of other CTAs released at the cluster's scope, for waits of that scope.
  std::optional<Knowledge> gathering_wide, finished_wide;
  std::uint32_t expect_site = 0, expect_thread = 0;  // who last announced bytes
  bool announced = false;
  std::int64_t opened_by = -1;  // the event in the trace that ended the phase before this one
  struct Waiter {
    const Warp* warp;
    std::uint32_t phase;
    std::uint32_t site;
  };
  std::vector<Waiter> waiters;
};

struct NamedBarrier {
  int arrived = 0;
  int count = 0;              // of threads, as the instruction gives it; 0: all that have not left
  int voting = 0, voted = 0;  // bar.red: threads with a true predicate, of this round and the last
  int voters = 0;             // of the last round
  std::uint64_t round = 0;
  std::int64_t opened_by = -1;  // the event in the trace that ended the last round
  Knowledge gathering, finished;
  Passed passing, passed;
  struct Arrival {
    std::uint32_t thread, site;  // the first thread of the warp
  };
  std::vector<Arrival> arrivals;  // of the round

  // How many of a CTA's threads open it. Where no count is given, "all threads in the CTA" are
  // those that have not left: so it is from Volta on (CUDA programming guide on __syncthreads()).
  int wanted(int live_threads) const { return count > 0 ? count : live_threads; }
  // `event`: in the trace, of who opens it.
  void open(std::int64_t event) {
    finished = std::move(gathering);
    gathering = {};
    passed = std::move(passing);
    passing = {};
    voters = std::exchange(arrived, 0);
    voted = std::exchange(voting, 0);
    arrivals.clear();
    ++round;
    opened_by = event;
  }
};

// What was released at an address: by threads of which CTA, and whom it reaches.
struct Flag {
  struct Release {
    Scope scope;
    const Cta* cta;
    Knowledge knows;
  };
  std::vector<Release> releases;

  Knowledge& of(Scope scope, const Cta* cta) {
    for (Release& r : releases)
      if (r.scope == scope && r.cta == cta) return r.knows;
    return releases.emplace_back(Release{scope, cta, {}}).knows;
  }
};

// State of other instruction groups of a CTA, made when first used: wgmma, tensor memory.
struct Extension {
  virtual ~Extension() = default;
  // Says what is wrong when the CTA ends, through Run::report().
  virtual void at_exit(Run&, Cta&) {}
};

struct Cluster {
  int index = 0;
  std::vector<Cta*> ctas;
  int arrived = 0;
  std::uint64_t round = 0;
  std::int64_t opened_by = -1;  // as of a NamedBarrier
  Knowledge gathering, finished;
};

struct Cta {
  Run* run = nullptr;
  Cluster* cluster = nullptr;
  int index = 0, rank = 0;
  std::array<int, 3> at = {0, 0, 0};
  std::vector<std::uint8_t> shared;  // from offset 0 on; nobody's before kSharedBegin
  std::unique_ptr<ByteShadow> shadow;
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<NamedBarrier, 16> barriers;
  std::map<std::uint32_t, Mbarrier> mbarriers;  // by offset
  std::map<std::string, std::unique_ptr<Extension>> extensions;
  Component thread_base = 0;
  int live_threads = 0;
  int pending = 0;  // asynchronous operations that read or write its memory
  bool left = false;

  template <class T>
  T& extension(const std::string& name) {
    auto& at_name = extensions[name];
    if (!at_name) at_name = std::make_unique<T>();
    return static_cast<T&>(*at_name);
  }
};

// The narrowest scope that takes in threads of both.
inline Scope distance(const Cta& a, const Cta& b) {
  return &a == &b ? Scope::cta : a.cluster == b.cluster ? Scope::cluster : Scope::gpu;
}

// Something under way. It first reads, then finishes; each happens at any moment that the scheduler
// likes, from its issue on.
class Operation {
 public:
  virtual ~Operation() = default;
  // Whether the CTA that issued it must still be there.
  virtual bool needs_cta() const { return true; }
  // Whether something before it may have to finish first, and whether nothing has to now.
  virtual bool in_order() const { return false; }
  virtual bool may_proceed() const { return true; }
  virtual void read() = 0;
  virtual void finish() = 0;
  bool has_read = false;
  struct Issued {
    std::uint32_t thread = 0, site = 0;  // as Run::place_of() takes them
  };
  Issued issued;
  std::string what;         // "tensor copy of 16384 bytes to shared memory"
  std::uint64_t begun = 0;  // time of its issue
};

}  // namespace assay::model
