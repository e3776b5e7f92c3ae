// SPDX-License-Identifier: Apache-2.0
// One launch of a kernel: the grid's state, the scheduler, and checked accesses to memory.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "harness/model/machine/machine.hpp"
#include "harness/model/machine/memory.hpp"
#include "harness/model/machine/reading.hpp"
#include "harness/model/machine/trace.hpp"

namespace assay::model {

struct Options {
  std::uint64_t seed = 0;  // 0: in turn, asynchronous work at once; 1: as late as the rules allow
  int most_findings = 20;  // the launch ends at so many
  std::uint64_t most_steps = 400'000'000;  // instructions of a warp
  int resident_clusters = 16;              // that run at the same time, more if they need to
  bool check = true;
  std::map<Reading, bool> second;  // readings that the seed does not draw: true takes the second
  Trace* trace = nullptr;
};

struct Shape {
  std::array<int, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  // Launched with programmatic stream serialization: it begins while the grid before it may still
  // be under way, and griddepcontrol.wait is what waits for that one's end.
  bool early = false;
};

// A grid that was launched before this one and may not have ended when this one begins.
struct PastGrid {
  const Program* program = nullptr;
  Shape shape;
  bool waited = false;          // itself for the grid before it: its end is that one's, too
  bool let_begin_late = false;  // and let the next one begin only then, or never
};

struct Outcome {
  std::vector<Finding> findings;
  std::uint64_t instructions = 0;  // executed by warps
  std::uint64_t operations = 0;    // asynchronous ones finished
  bool finished = false;           // every thread left
  std::map<Reading, bool> second;  // what the manual leaves open and the kernel asked for
};

enum class Space : std::uint8_t { generic, global, shared, local, parameter, constant };

// A place in memory that an access may touch.
struct Where {
  std::uint8_t* bytes = nullptr;
  ByteShadow* shadow = nullptr;  // null: memory of one thread
  std::size_t at = 0;            // in the shadow
  bool shared = false;
  Cta* cta = nullptr;      // whose shared memory
  Array* array = nullptr;  // which array of global memory
};

// Who accesses memory: a thread's ordinary instruction, or an operation that it issued.
struct Actor {
  Epoch epoch;
  const Knowledge* knows = nullptr;
  bool asynchronous = false;
  Scope strong = Scope::none;
  std::uint32_t thread = 0, site = 0;
  const char* doing = "";  // "a tensor copy writes"
  bool reads_map = false;  // the 128 bytes of a tensor map, by a proxy of their own
};

class Run {
 public:
  Run(const Program& program, const Module& module, GlobalMemory& memory,
      const std::unordered_map<std::string, Address>& symbols, Shape shape,
      std::span<const std::uint8_t> arguments, Options options,
      std::span<const PastGrid> past = {});
  ~Run();

  Outcome go();

  // --- for the meanings of instructions ---

  // The place of `bytes` bytes at `address` for this lane, aligned to `align`. Throws Violation for
  // what is outside of everything, misaligned, or in the shared memory of a CTA that has left.
  Where resolve(Warp& warp, int lane, Space space, Address address, std::size_t bytes,
                std::size_t align);
  Where resolve_shared(Cta& from, std::uint32_t address, std::size_t bytes, std::size_t align);
  Where resolve_global(Address address, std::size_t bytes, std::size_t align);

  // Ordinary accesses of a lane, checked.
  void load(Warp& warp, int lane, Space space, Address address, void* to, std::size_t bytes,
            Scope strong = Scope::none);
  void store(Warp& warp, int lane, Space space, Address address, const void* from,
             std::size_t bytes, Scope strong = Scope::none);

  // What the checker has to say of an access; the bytes themselves are the caller's business.
  void check_read(const Where& where, std::size_t bytes, const Actor& actor);
  void check_write(const Where& where, std::size_t bytes, const Actor& actor);

  // Before a load through a cache that sees no writes (.nc).
  void check_non_coherent(const Where& where, std::size_t bytes, const Actor& actor);

  Actor actor(Warp& warp, int lane, Scope strong = Scope::none);
  // An operation that `lane` issues, in the strand `epoch`; `knows` must outlive its checks.
  Actor issuer(Warp& warp, int lane, Epoch epoch, const char* doing);
  // Who knows of `fence` sees the tensor map at an address of global memory as of `seen`.
  void fence_map(Address map, Epoch fence, const Clock& seen) {
    map_fences_[map].push_back({fence, seen});
  }
  Component new_component() { return next_component_++ | kAsynchronous; }
  // A strand of asynchronous accesses that are ordinary ones nevertheless: cp.async.
  Component new_generic_component() { return *generic_strands_.insert(new_component()).first; }

  // griddepcontrol.wait: the grid before this one has ended, and those whose end it waited for.
  void wait_for_grids(Warp& warp, int lane);
  void let_next_begin(const Warp& warp, int lane);
  bool waited_for_grids() const { return waited_for_grids_; }
  bool let_begin_late() const { return waited_for_grids_ && !let_begin_early_; }
  // Whether a thread has written to another CTA's shared memory, which is rare: fences of the own
  // CTA's do not show that to asynchronous operations.
  bool wrote_to_others() const { return wrote_to_others_; }
  int threads_per_cta() const { return threads_per_cta_; }

  // Passes what a lane knows on to `to`, and begins a new epoch of the lane.
  void release(Warp& warp, int lane, Knowledge& to);

  void issue(Warp& warp, int lane, std::unique_ptr<Operation> operation);
  // Something happened that waiting groups may wait for.
  void changed() { ++changes_; }

  void report(std::string rule, std::string text, std::string mend = {});
  void report(std::string rule, std::string text, const Place& at, const Place* other,
              std::string mend = {});
  Place place(const Warp& warp, int lane) const;
  std::uint32_t current_thread() const {
    return now_->cta->thread_base + static_cast<std::uint32_t>(now_->thread(lane_now));
  }
  std::uint32_t current_site() const { return decoded_->site; }
  Place place_of(std::uint32_t thread, std::uint32_t site) const;

  // The event of the trace that opens a barrier now: the operation that works, or an arrival of the
  // warp, called `name`. -1 without a trace.
  std::int64_t opening_event(const char* name);

  // Whether this launch takes the second of two readings of the manual.
  bool takes_second(Reading reading);

  std::uint64_t random(std::uint64_t below) { return below < 2 ? 0 : generator_() % below; }
  std::uint64_t time() const { return outcome_.instructions; }

  const Program& program() const { return program_; }
  const Module& module() const { return module_; }
  const Shape& shape() const { return shape_; }
  const Options& options() const { return options_; }
  GlobalMemory& memory() { return memory_; }
  Address symbol(const std::string& name) const;
  Address parameters() const { return parameters_; }
  // What ld.acquire and st.release of an address pass on.
  std::unordered_map<Address, Flag>& flags() { return flags_; }
  std::vector<std::unique_ptr<Cta>>& ctas() { return ctas_; }
  std::vector<std::unique_ptr<Cluster>>& clusters() { return clusters_; }
  int next_cluster_to_cancel();  // for cluster launch control; -1: none left

  // The lane on whose behalf a handler works now, for places of findings.
  int lane_now = 0;

 private:
  struct Stop {};
  struct Answer;

  void start_clusters();
  bool start_more();
  void start(Cta& cta);
  void special_registers(Warp& warp);
  bool runnable(Warp& warp);
  Group* choose(Warp& warp);
  void execute(Warp& warp, int quantum);
  void check_owned(Warp& warp, const Decoded& op, Mask mask);
  void merge(Warp& warp);
  std::int64_t add_event(TraceEvent event);
  void trace_operation(const Operation& operation);
  void trace_wait(const Warp& warp, const Group& group);
  void leave(Warp& warp, Mask mask);
  void end(Cta& cta);
  std::size_t pick_operation(bool oldest, bool last_resort);
  bool progress_operation(bool oldest, bool last_resort = true);
  bool end_waits_in_vain();
  void deadlock();
  [[noreturn]] void stop_endless(const Warp& warp);
  void explain_deadlock();
  void report_bytes_left(const Cta& cta);
  void report_arrivals(const Cta& cta);
  void race(const char* rule, const Where& where, const Actor& actor, bool writes,
            const Access& other, bool other_writes);
  bool ordered(const Access& before, const Actor& actor, const Where& where, bool was_write,
               bool writes) const;
  bool settled(const Access& before, const Actor& actor, const Where& where, bool was_write,
               bool writes) const;
  bool both_strong(const Actor& actor, const Access& before) const;
  bool map_fenced(const Access& before, const Actor& actor, const Where& where) const;
  const Cta* cta_of(std::uint32_t thread) const {
    return ctas_[thread / static_cast<std::uint32_t>(threads_per_cta_)].get();
  }
  bool late_fence(const Access& before, const Actor& actor, const Where& where) const;
  void report_before_wait(const Where& where, const Actor& actor, bool writes, const Access& other,
                          bool other_writes);
  Place place_in(const Program& program, const Shape& shape, std::uint32_t thread,
                 std::uint32_t site) const;
  bool is_past(Component strand) const {
    return strand >= grid_strand(1) && strand <= grid_strand(static_cast<Component>(past_.size()));
  }
  bool had_ended(Component strand) const;  // of a past grid: when this one began
  bool is_generic(Component strand) const { return generic_strands_.contains(strand); }

  const Program& program_;
  const Module& module_;
  GlobalMemory& memory_;
  const std::unordered_map<std::string, Address>& symbols_;
  Shape shape_;
  Options options_;
  std::mt19937_64 generator_;
  // Every fourth seed starves one operation at a time: it is done only when nothing else can go on.
  // What nobody waits for is then still under way when the CTA ends. Drawn apart, so that the other
  // habits of a seed are the same with and without.
  static constexpr std::uint64_t kStarvingSeeds = 4;
  bool starves_;
  std::mt19937_64 starving_;
  const Operation* starved_ = nullptr;
  Outcome outcome_;
  Address parameters_ = 0, workspace_ = 0;
  std::vector<std::unique_ptr<Cta>> ctas_;  // by number in the grid; null before its start
  std::vector<std::unique_ptr<Cluster>> clusters_;
  std::vector<Warp*> warps_;                           // that have not left
  std::deque<std::unique_ptr<Operation>> operations_;  // in order of issue; often the first goes
  std::size_t in_order_ = 0;  // of these, those that may have to wait for others
  std::unordered_map<Address, Flag> flags_;
  struct MapFence {
    Epoch fence;
    Clock seen;
  };
  std::unordered_map<Address, std::vector<MapFence>> map_fences_;
  std::span<const PastGrid> past_;  // the last one first
  bool waited_for_grids_ = false, let_begin_early_ = false, wrote_to_others_ = false;
  Component next_component_ = 1;  // after those of grids before this one
  std::unordered_set<Component> generic_strands_;
  std::uint64_t changes_ = 0;
  std::size_t next_cluster_ = 0, last_cluster_ = 0;
  int running_clusters_ = 0;
  int threads_per_cta_ = 0;
  const Operation::Issued* acting_ = nullptr;  // of the operation that works now
  Warp* now_ = nullptr;
  const Decoded* decoded_ = nullptr;
  std::size_t turn_ = 0;
  std::uint64_t idle_steps_ = 0;
  std::int64_t last_event_ = -1;  // of the operation that finishes now, in the trace
};

}  // namespace assay::model
