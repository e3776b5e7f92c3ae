// SPDX-License-Identifier: Apache-2.0
#include "harness/model/machine/run.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

constexpr std::size_t kMostCtas = std::size_t{1} << 20;     // of which all are kept track of
constexpr std::size_t kMostState = std::size_t{512} << 20;  // bytes of registers and local memory

// 0 if it is none, or more than `most`.
std::size_t product(const std::array<int, 3>& v, std::size_t most) {
  std::size_t all = 1;
  for (const int extent : v) {
    if (extent < 1) return 0;
    all *= static_cast<std::size_t>(extent);
    if (all > most) return 0;
  }
  return all;
}

}  // namespace

Run::Run(const Program& program, const Module& module, GlobalMemory& memory,
         const std::unordered_map<std::string, Address>& symbols, Shape shape,
         std::span<const std::uint8_t> arguments, Options options, std::span<const PastGrid> past)
    : program_(program),
      module_(module),
      memory_(memory),
      symbols_(symbols),
      shape_(shape),
      options_(options),
      generator_(options.seed * 0x9e3779b97f4a7c15ull + 12345),
      starves_(options.seed % kStarvingSeeds == kStarvingSeeds - 1),
      starving_(options.seed),
      past_(past),
      next_component_(static_cast<Component>(past.size()) + 1) {
  const Function& f = *program.function;
  const std::size_t threads = product(shape.block, 1024), ctas = product(shape.grid, kMostCtas);
  if (threads == 0 || ctas == 0)
    throw Violation("launch.shape",
                    "a CTA has 1 to 1024 threads, a grid that the model runs 1 to " +
                        std::to_string(kMostCtas) + " CTAs");
  threads_per_cta_ = static_cast<int>(threads);
  const std::size_t most_threads =
      product({f.max_threads[0], f.max_threads[1], f.max_threads[2]}, 1024);
  if (most_threads > 0 && threads > most_threads)
    throw Violation("launch.shape", "the kernel is compiled for at most " +
                                        std::to_string(most_threads) + " threads per CTA");
  if (f.required_cluster[0] > 0)
    for (std::size_t i = 0; i < 3; ++i) shape_.cluster[i] = f.required_cluster[i];
  for (std::size_t i = 0; i < 3; ++i)
    if (shape_.cluster[i] < 1 || shape_.grid[i] % shape_.cluster[i] != 0)
      throw Violation("launch.shape", "the grid is not made of whole clusters");
  const std::size_t cluster = product(shape_.cluster, 16);
  if (cluster == 0) throw Violation("launch.shape", "a cluster has at most 16 CTAs");
  if (std::uint64_t{program.shared_bytes} + shape.dynamic_shared_bytes > 232448 + 1024)
    throw Violation("launch.shared", std::to_string(shape.dynamic_shared_bytes) +
                                         " bytes of dynamic shared memory are more than a CTA has");
  const std::size_t warps = (threads + 31) / 32 * cluster;
  const std::size_t state =
      warps * 32 * (static_cast<std::size_t>(program.slots) * sizeof(Value) + program.local_bytes);
  if (state > kMostState)
    throw Violation("launch.state",
                    "registers and local memory of a cluster, " + std::to_string(state >> 20) +
                        " MiB in the model, are more than " + std::to_string(kMostState >> 20));
  if (state > 0)
    options_.resident_clusters =
        std::min(options_.resident_clusters, static_cast<int>(kMostState / state));
  if (arguments.size() < program.parameter_bytes)
    throw Violation("launch.arguments",
                    "the kernel takes " + std::to_string(program.parameter_bytes) +
                        " bytes of arguments, " + std::to_string(arguments.size()) + " were given");
  Array& array = memory_.allocate("kernel parameters", std::max<std::size_t>(arguments.size(), 1));
  memory_.write(array.base, arguments);
  array.writable = false;
  parameters_ = array.base;
  // What cooperative groups find by %envreg1 and %envreg2: its size, and the word that the barrier
  // of the grid counts in (cooperative_groups.h of the CUDA toolkit, `grid_workspace`).
  const auto asks = [](const auto& special) { return special.second.starts_with("%envreg"); };
  if (std::ranges::any_of(program.special, asks)) {
    workspace_ = memory_.allocate("the grid's workspace", 8).base;
    memory_.write(workspace_, std::array<std::uint8_t, 8>{});
  }
  ctas_.resize(ctas);
  last_cluster_ = ctas / cluster;
}

Run::~Run() = default;

Address Run::symbol(const std::string& name) const {
  const auto found = symbols_.find(name);
  if (found == symbols_.end()) throw Violation("ptx.symbol", "no variable is named " + name);
  return found->second;
}

int Run::next_cluster_to_cancel() {
  if (next_cluster_ >= last_cluster_) return -1;
  return static_cast<int>(takes_second(Reading::launch_control_order) ? --last_cluster_
                                                                      : next_cluster_++);
}

// Each reading is drawn apart, so that one alone differs between some seeds.
bool Run::takes_second(Reading reading) {
  const auto [at, asked] = outcome_.second.try_emplace(reading, false);
  if (!asked) return at->second;
  if (const auto fixed = options_.second.find(reading); fixed != options_.second.end())
    return at->second = fixed->second;
  std::mt19937_64 drawn(options_.seed * kReadings.size() + static_cast<std::uint64_t>(reading));
  return at->second = options_.seed > 1 && drawn() % 2 == 1;
}

void Run::release(Warp& warp, int lane, Knowledge& to) {
  Lane& l = warp.lanes[static_cast<std::size_t>(lane)];
  to.join(l.knows);
  to.all.raise({warp.cta->thread_base + static_cast<Component>(warp.thread(lane)), l.time});
  ++l.time;
}

void Run::issue(Warp& warp, int lane, std::unique_ptr<Operation> operation) {
  operation->issued = {warp.cta->thread_base + static_cast<Component>(warp.thread(lane)),
                       decoded_->site};
  operation->begun = time();
  if (starves_ && starved_ == nullptr && starving_() % 8 == 0) starved_ = operation.get();
  in_order_ += operation->in_order();
  operations_.push_back(std::move(operation));
  changed();
}

// The one that goes on next, operations_.size() if none may: the oldest, or any. The starved one
// only as a last resort.
std::size_t Run::pick_operation(bool oldest, bool last_resort) {
  const std::size_t count = operations_.size();
  std::size_t starved = count, picked = count;
  for (std::size_t i = 0; i < count && starved_ != nullptr && starved == count; ++i)
    if (operations_[i].get() == starved_) starved = i;
  if (in_order_ == 0) {
    // All may but the starved one.
    const std::size_t others = count - (starved < count);
    if (others > 0) {
      picked = random(oldest ? 1 : others);
      picked += picked >= starved;
    }
  } else {
    std::vector<std::size_t> may;
    for (std::size_t i = 0; i < count && !(oldest && !may.empty()); ++i)
      if (i != starved && operations_[i]->may_proceed()) may.push_back(i);
    if (!may.empty()) picked = may[random(may.size())];
  }
  if (picked == count && last_resort && starved < count && operations_[starved]->may_proceed())
    return starved;
  return picked;
}

bool Run::progress_operation(bool oldest, bool last_resort) {
  const std::size_t index = pick_operation(oldest, last_resort);
  if (index == operations_.size()) return false;
  Operation& op = *operations_[index];
  const Operation::Issued issued = op.issued;
  acting_ = &issued;
  try {
    if (!op.has_read) {
      op.read();
      op.has_read = true;
    } else {
      const std::unique_ptr<Operation> done = std::move(operations_[index]);
      if (done.get() == starved_) starved_ = nullptr;
      operations_.erase(operations_.begin() + static_cast<std::ptrdiff_t>(index));
      in_order_ -= done->in_order();
      trace_operation(*done);
      done->finish();
      ++outcome_.operations;
    }
  } catch (const Violation& v) {
    report(v.rule(), v.what(), place_of(issued.thread, issued.site), nullptr);
    throw Stop{};
  }
  acting_ = nullptr;
  changed();
  return true;
}

namespace {
constexpr std::array<std::uint64_t, 4> kEager = {8, 64, 256, 700}, kStay = {1, 8, 64, 400};
}  // namespace

Outcome Run::go() {
  try {
    start_clusters();
    const std::uint64_t seed = options_.seed;
    // A seed's habits: how eager asynchronous work is (in 1024ths per turn of a warp), how long a
    // warp stays, whether the oldest operation goes first, whether some warps are slow.
    const std::uint64_t eager = seed == 0 ? 1024 : seed == 1 ? 0 : kEager[random(kEager.size())];
    const int longest = seed == 0 ? 64 : static_cast<int>(kStay[random(kStay.size())]);
    const bool in_order = seed == 0 || random(3) == 0;
    const bool uneven = seed > 1 && random(2) == 0;
    while (!warps_.empty()) {
      for (int k = 0; !operations_.empty() && random(1024) < eager && k < 4; ++k)
        progress_operation(in_order, false);
      // The next warp that can go on, from a random place or in turn.
      const std::size_t count = warps_.size();
      std::size_t from = seed == 0 ? turn_++ : random(count);
      Warp* chosen = nullptr;
      for (std::size_t k = 0; k < count; ++k) {
        Warp* warp = warps_[(from + k) % count];
        if (!runnable(*warp)) continue;
        if (uneven && warp->priority == 0 && k + 1 < count && random(64) != 0) {
          if (chosen == nullptr) chosen = warp;
          continue;
        }
        chosen = warp;
        break;
      }
      if (chosen != nullptr) {
        execute(*chosen, longest == 1
                             ? 1
                             : 1 + static_cast<int>(random(static_cast<std::uint64_t>(longest))));
        // Groups that only ask in vain must not keep what they ask for from happening.
        if (idle_steps_ > 4096) progress_operation(true);
        if (idle_steps_ > 8192) start_more();
        if (idle_steps_ > 2'000'000 && !end_waits_in_vain()) deadlock();
        if (outcome_.instructions > options_.most_steps) stop_endless(*chosen);
      } else if (!progress_operation(in_order) && !start_more() && !end_waits_in_vain()) {
        deadlock();
      }
    }
    while (!operations_.empty() && progress_operation(true)) {
    }
    outcome_.finished = true;
  } catch (const Stop&) {
    outcome_.finished = false;  // what was found ends the launch
  } catch (const Violation& v) {
    report(v.rule(), v.what(), Place{.kernel = program_.function->name}, nullptr);
  }
  return std::move(outcome_);
}

bool Run::runnable(Warp& warp) {
  for (Group& g : warp.groups)
    if (!g.wait || g.wait->ready()) return true;
  return false;
}

// The group that is furthest behind, so that groups meet again; one that only asks in vain gives
// way.
Group* Run::choose(Warp& warp) {
  Group* best = nullptr;
  for (Group& g : warp.groups) {
    if (g.wait && !g.wait->ready()) continue;
    if (best == nullptr || std::pair(g.spins / 32, g.pc) < std::pair(best->spins / 32, best->pc))
      best = &g;
  }
  return best;
}

void Run::merge(Warp& warp) {
  for (std::size_t i = 0; i < warp.groups.size(); ++i)
    for (std::size_t k = i + 1; k < warp.groups.size();) {
      Group &a = warp.groups[i], &b = warp.groups[k];
      if (a.pc == b.pc && a.token < 0 && b.token < 0) {
        a.mask |= b.mask;
        a.wait.reset();
        a.spins = std::min(a.spins, b.spins);
        warp.groups.erase(warp.groups.begin() + static_cast<std::ptrdiff_t>(k));
      } else {
        ++k;
      }
    }
}

void Run::execute(Warp& warp, int quantum) {
  now_ = &warp;
  while (quantum-- > 0 && warp.live != 0) {
    Group* group = choose(warp);
    if (group == nullptr) return;
    if (group->wait) trace_wait(warp, *group);
    group->wait.reset();
    warp.current = group;
    if (group->pc >= static_cast<int>(program_.code.size())) {  // past the last instruction
      leave(warp, group->mask);
      continue;
    }
    const Decoded& op = program_.code[static_cast<std::size_t>(group->pc)];
    decoded_ = &op;
    Mask mask = group->mask;
    if (op.guard >= 0) {
      const Value* p = warp.reg(op.guard);
      Mask on = 0;
      for (int lane = 0; lane < 32; ++lane)
        on |= static_cast<Mask>((p[lane] & 1) != static_cast<Value>(op.guard_negated)) << lane;
      mask &= on;
    }
    lane_now = std::countr_zero(mask == 0 ? group->mask : mask);
    if (mask != 0 && !warp.owned.empty()) check_owned(warp, op, mask);
    ++outcome_.instructions;
    ++idle_steps_;
    const std::uint64_t before = changes_;
    Next next = Next::step;
    try {
      if (mask != 0) next = op.action(warp, mask);
    } catch (const Violation& v) {
      report(v.rule(), v.what());
      throw Stop{};
    }
    if (!warp.written.empty() && !op.moves && !op.writes.empty() && mask != 0)
      for (const int slot : op.writes)
        warp.written[static_cast<std::size_t>(slot)] = outcome_.instructions;
    if (changes_ != before) idle_steps_ = 0;
    switch (next) {
      case Next::step:
        ++group->pc;
        group->token = -1;
        group->spins = 0;
        break;
      case Next::yield:
        ++group->pc;
        group->token = -1;
        ++group->spins;
        quantum = std::min(quantum, 1);
        break;
      case Next::jump:
        break;
      case Next::blocked:
        group->since = time();
        quantum = 0;
        break;
    }
    if (warp.groups.size() > 1) merge(warp);
  }
}

void Run::leave(Warp& warp, Mask mask) {
  changed();
  warp.live &= ~mask;
  Cta& cta = *warp.cta;
  cta.live_threads -= std::popcount(mask);
  for (std::size_t i = 0; i < warp.groups.size();) {
    warp.groups[i].mask &= ~mask;
    if (warp.groups[i].mask == 0)
      warp.groups.erase(warp.groups.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  for (NamedBarrier& b : cta.barriers)
    if (b.arrived > 0 && b.count == 0 && b.arrived == cta.live_threads)
      b.open(opening_event("leaves, and opens a barrier of the CTA"));
  if (warp.live == 0) std::erase(warps_, &warp);
  if (cta.live_threads == 0) end(cta);
}

// Finds what a CTA leaves behind, and frees what no one needs any more.
void Run::end(Cta& cta) {
  cta.left = true;
  for (auto& [name, extension] : cta.extensions) extension->at_exit(*this, cta);
  for (const auto& op : operations_)
    if (op->issued.thread - cta.thread_base < static_cast<std::uint32_t>(threads_per_cta_) &&
        op->needs_cta())
      report("exit.pending", "the CTA leaves while " + op->what + " is under way",
             place_of(op->issued.thread, op->issued.site), nullptr,
             "wait for it before the last thread returns");
  for (auto& warp : cta.warps) {
    warp->registers.reset();
    warp->owned.clear();
  }
  const auto& all = cta.cluster->ctas;
  if (std::all_of(all.begin(), all.end(), [](const Cta* c) { return c->left; })) {
    --running_clusters_;
    // Shared memory is kept while something may still write to it.
    while (!operations_.empty() && progress_operation(true)) {
    }
    for (Cta* c : cta.cluster->ctas) {
      report_bytes_left(*c);
      c->shared = {};
      c->shadow = std::make_unique<ByteShadow>(0);
      c->barriers = {};
      for (auto& warp : c->warps) warp->lanes = {};
    }
    start_clusters();
  }
}

}  // namespace assay::model
