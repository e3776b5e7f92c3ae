// SPDX-License-Identifier: Apache-2.0
// What was found: the C++ side of one entry of `measurements` in `assay.run/1`.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/probe.hpp"
#include "harness/series.hpp"

namespace assay {

struct Spread {  // over the SMs of the GPU, for figures that differ from place to place
  double min, median, max;
};

struct Metric {
  std::string name;  // "latency_cycles"
  std::string unit;  // "cycle"
  Better better = Better::higher;
  double value = 0;
  double low = 0, high = 0;  // 95% confidence interval of value
  std::optional<double> limit = {};
  std::string limit_source = {};
  std::optional<Spread> spread = {};
  bool signed_value = false;  // a difference, which may be negative
};

struct Baseline {
  std::string name;  // "cublaslt_best16"
  Metric speedup;    // baseline's time over ours: above 1, ours is faster
  Metric time_us;
};

struct Conditions {
  std::optional<double> sm_clock_mhz = {};  // cycles over nanoseconds, counted on the SMs
  std::optional<double> sm_clock_min_mhz = {}, sm_clock_max_mhz = {};  // over the samples
  std::optional<double> memory_clock_mhz = {};
  std::optional<double> power_w = {};
  std::optional<double> power_max_w = {};  // highest of the readings
  std::optional<double> temperature_c = {};
  std::vector<std::string> throttle = {};
  // That had a context on the GPU before, after or while the first figure was sampled.
  std::optional<int> other_processes = {};
  std::string l2 = "warm";
  std::string stop = "converged";  // or "time_cap": the interval asked for was not reached
  int sample_count = 0;
  std::int64_t iterations = 1;  // launches, or rounds of the loop, behind one sample
  std::uint64_t seed = 0;
};

struct SassRecord {  // which machine code was measured
  std::string kernel, target, sha256;
  std::map<std::string, int> loop = {};
  // The instruction that the loop repeats, as the loop holds it and how often; more than one opcode
  // where the assembler chooses between some. Empty where `role` is none.
  std::map<std::string, int> instruction = {};
  Role role = Role::none;
  bool verified = false;
  bool emulated = false;
  std::string text = {};  // the loop itself
};

struct KernelLaunch {
  std::string kernel;  // as the linker knows it
  std::array<unsigned, 3> grid, block;
  unsigned shared_bytes;  // dynamic, of a CTA
};

enum class Status : std::uint8_t { ok, failed, skipped, not_run };

struct Measurement {
  std::string name;   // "tensor_core/wgmma/bf16/m64n256/ss"
  std::string probe;  // "tensor_core/wgmma"
  Kind kind = Kind::probe;
  Pace pace = Pace::sm;
  Params params = {};
  Status status = Status::ok;
  std::string reason = {};  // one line, whenever status is not ok
  std::string primary = {};
  std::vector<Metric> metrics = {};
  std::map<std::string, std::vector<double>> samples = {};  // "time_ns", "cycles"
  std::vector<Series> series = {};
  Conditions conditions = {};
  std::optional<SassRecord> sass = {};
  std::vector<Baseline> baselines = {};
  std::map<std::string, double> counters = {};
  std::vector<std::string> flags = {};
  std::vector<KernelLaunch> launches = {};         // of one call
  std::map<std::string, std::string> loaded = {};  // generated kernel -> SHA-256 of what ran
  std::string recorded_kernel = {};  // of several, the one that `sass` tells of; empty: the first
  int repetition = 0;
  double duration_s = 0;
};

}  // namespace assay
