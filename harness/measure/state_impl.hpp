// SPDX-License-Identifier: Apache-2.0
// Behind State: one GPU being measured on, and the case under way.
#pragma once
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harness/callable.hpp"
#include "harness/cuda.hpp"
#include "harness/device.hpp"
#include "harness/machine/nvml.hpp"
#include "harness/measure/conditions_watch.hpp"
#include "harness/measure/sampler.hpp"
#include "harness/measurement.hpp"
#include "harness/state.hpp"

namespace assay {

// How to measure, as asked on the command line.
struct RunOptions {
  SamplingOptions sampling = {};
  std::uint64_t seed = 1;
  bool counters = false;  // a second pass under the profiler, after timing
  bool profile = false;   // launch once for ncu: no sampling
  bool alone = false;     // without baselines
  bool sweeps = true;     // an instruction's rate over warps and chains, beside its figures
  // A planted slowdown, by which a gate is tested: for every 100 rounds, launches or calls that are
  // counted, so many more are done. Work is then done, and sampled, in hundreds also for 0; without
  // a value nothing is planted.
  std::optional<int> extra_percent = {};
};

// These become parameters of the case, for its run() to see and for readers of its result.
constexpr const char* kExtraParam = "extra_percent";
constexpr const char* kBaselinesParam = "baselines";  // "none" where they are left out
constexpr const char* kSweepsParam = "sweeps";        // "none" where they are left out

// What a process keeps of its GPU from case to case.
struct GpuContext {
  explicit GpuContext(Device gpu);
  Device device;
  std::optional<NvmlDevice> nvml;
  bool listed;       // whether NVML counts this process among those on the GPU
  int siblings = 0;  // further processes of the same run that have a context on this GPU
  Stream stream;
  Buffer stamps;  // two arrays of kMaxSms
  Buffer flush;   // twice the L2, made when first needed

  // Processes with a context on this GPU that are not of this run; nothing where NVML cannot tell.
  std::optional<int> other_processes() const;
  bool strained = false;  // by the case before, after which the power limit may hold the clock down
};

struct Skipped {  // thrown by State::skip
  std::string reason;
};

struct State::Impl {
  const Probe& probe;
  const Case& which;
  RunOptions options;
  GpuContext* gpu;  // null on a machine without one, when only host cases run
  Measurement measurement = {};
  bool measured = false;
  std::optional<ConditionsWatch> watch = {};  // of the first figure, while it is under way
  std::vector<Buffer> buffers = {};
  std::vector<cudaLibrary_t> libraries = {};
  std::optional<std::vector<KernelUse>> kernels = {};  // of the case, once asked for
  std::map<std::string, Limit> limits = {};            // by unit, as the probe said
  std::set<std::string> differences = {};              // names of metrics and series
  std::mt19937_64 random;

  Impl(const Probe& probe, const Case& which, const RunOptions& options, GpuContext* gpu);
  ~Impl();

  GpuContext& need_gpu() const;
  void start_watch();
  // Before samples of a sustained figure: calls `once` until the load has lasted. From when power
  // has settled on, the conditions are watched, since what follows may be short.
  void sustain(const Callable<void()>& once);
  // Samples through `one`, until the interval's relative half-width, under watch of the
  // conditions; fills conditions.
  std::vector<double> take_samples(const Callable<double()>& one, double half_width);
  // Metrics from per-iteration time, cycles or both (either may be empty). `sms` is how many the
  // work is spread over, `per_sm` whether `work` is one SM's.
  void add_metrics(const Work& work, const std::vector<double>& time_ns,
                   const std::vector<double>& cycles, int sms, bool per_sm,
                   std::optional<Spread> cycle_spread = {});
  void add(Metric metric);
  // What nobody could look up must not reach a result file: throws if the metric has no note.
  void need_description(const std::string& metric) const;
  // energy_pj_per_flop or _per_byte, from the rate found and the power drawn meanwhile.
  void add_energy();
  // Cycles from each sample's time and SM clock (which may have those of warm-up samples before
  // them); records the median clock. Empty if a clock is missing.
  std::vector<double> cycles_of(const std::vector<double>& time_ns, std::vector<double> clocks_mhz);
  // Notes which kernels `launch` launches, and how. Like count(), called by what took the samples,
  // after it, while all that the launch needs still lives.
  void note_launches(const Callable<void()>& launch);
  // With --counters: what `launch` does once, counted by the hardware, and what it says `limit` is.
  void count(const Limit& limit, const Callable<void()>& launch);
  void take_limit(const std::string& counter);
  // How many rounds are counted and how many are done where `wanted` would do: the same, unless a
  // slowdown is planted, when the first is a multiple of 100 and the second has the extra share.
  struct Rounds {
    std::int64_t counted, done;
  };
  Rounds rounds(std::int64_t wanted) const;
  // The SM clock of each sample: their median and range become conditions.
  void note_clocks(const std::vector<double>& clocks_mhz);
  bool sustained() const;
  void set_iterations(std::int64_t n) { measurement.conditions.iterations = n; }
};

// Runs one case and says what was found. Never throws: an error is the measurement's reason.
Measurement measure_case(const Probe& probe, const Case& which, const RunOptions& options,
                         GpuContext* gpu);

}  // namespace assay
