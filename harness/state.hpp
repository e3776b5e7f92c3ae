// SPDX-License-Identifier: Apache-2.0
// What a probe's run() measures with. Light on purpose: .cu files include it.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/callable.hpp"
#include "harness/cuda.hpp"
#include "harness/limits.hpp"
#include "harness/probe.hpp"
#include "harness/ptx/stopwatch.cuh"
#include "harness/series.hpp"

namespace assay {

struct Conditions;  // harness/measurement.hpp
struct Device;      // harness/device.hpp

// What the measured piece of code does. Each field that is set becomes metrics:
//   flop   -> flop_per_clock_per_sm, tflops; energy_pj_per_flop too under lasting load
//   ops    -> ops_per_clock_per_sm
//   bytes  -> bytes_per_clock_per_sm, bandwidth_gb_per_s (1e9 bytes)
//   steps  -> latency_cycles, latency_ns: dependent steps, one after another
//   bus_bytes -> bus_bandwidth_gb_per_s, time_us: across the busiest link of a collective, as
//             nccl-tests counts
//   none   -> time_us
// `limit` belongs to the first metric listed for the field, the probe's primary one, except that
// under State::time() the primary ones are tflops and bandwidth_gb_per_s.
struct Work {
  double flop = 0;
  double ops = 0;
  double bytes = 0;
  double steps = 0;
  double bus_bytes = 0;
  Limit limit = {};
};

// Given to a launchable of State::cycles(): run `iterations` rounds of the loop and leave one
// record per CTA.
struct Launch {
  cudaStream_t stream;
  std::int64_t iterations;
  StopwatchRecord* records;
};

// A named competitor of State::compare(). `run` does one full unit of work on the stream, on the
// rotating input set of that index.
struct Contender {
  std::string name;
  Callable<void(cudaStream_t, int set)> run;
};

enum class L2 : std::uint8_t { warm, cold };

// One case being measured on one GPU (or on the CPU). run() calls cycles(), time(), sample() or
// compare(), after checking that what it measures is right, or add_exact() for what needs no clock.
// The first call decides the primary metric and the recorded samples; a further one (the latency
// beside a throughput) adds its metrics. A run() that returns without any, or throws, is recorded
// as failed.
class State {
 public:
  struct Impl;
  explicit State(Impl& impl) : impl_(impl) {}

  const Case& which() const;
  std::int64_t i64(std::string_view key) const { return which().i64(key); }
  const std::string& text(std::string_view key) const { return which().text(key); }
  const Device& device() const;
  Target target() const;
  cudaStream_t stream() const;
  std::uint64_t seed() const;  // for data of this case: the run's seed and the case's name

  // Device memory that lives until run() returns; skips the case, saying what it needs, when the
  // GPU has too little free.
  void* allocate(std::size_t bytes);
  template <class T>
  T* allocate(std::size_t count) {
    return static_cast<T*>(allocate(count * sizeof(T)));
  }
  // Fills with reproducible random bits (seeded by the run's seed and `salt`).
  void fill_random_bits(void* memory, std::size_t bytes, std::uint64_t salt = 0);

  // A generated kernel (KernelUse::ptx) of this case, loaded: launch with cudaLaunchKernelExC. It
  // is the very cubin whose disassembly was checked.
  const void* generated_kernel(std::string_view name);

  // In-kernel cycles: runs n and 2n iterations in turn and takes the difference, so that set-up,
  // barriers and loop entry cancel. `work` is per SM and per iteration. One CTA per SM. Returns the
  // samples, cycles per iteration: with no work given they are all there is.
  std::vector<double> cycles(const Work& work, const Callable<void(const Launch&)>& launch);

  // The same in a few milliseconds, for one point of a sweep: the median cycles per iteration of a
  // handful of samples, with its interval. Adds no metrics.
  Estimate cycles_once(const Callable<void(const Launch&)>& launch);

  // Event-timed: `work` is for one call of `launch` on the whole GPU. Cold: L2 is overwritten
  // before each sample.
  void time(const Work& work, const Callable<void(cudaStream_t)>& launch, L2 l2 = L2::warm);

  // A clock of the caller's own: each call returns the nanoseconds that one unit of work took.
  void sample(const Work& work, const Callable<double()>& nanoseconds);

  // Ours against baselines, taking turns in random order on the same rotating input sets. `work`
  // is one call's, a turn so many `calls` without a pause, led in by one that is not timed. Metrics
  // are ours; each baseline gets the interval of the ratio.
  void compare(const Work& work, int input_sets, const Contender& ours,
               const std::vector<Contender>& baselines, int calls = 1);

  // What the GPU was like while the first figure was sampled; before that, nothing is known.
  const Conditions& conditions() const;

  // Adds a figure beside those that follow from the work: the median of `values` with its interval.
  void add_metric(std::string name, std::string unit, Better better,
                  std::span<const double> values);
  // Adds a finding that is no sample and has no spread: a count of bits, a size, an error bound.
  void add_exact(std::string name, std::string unit, Better better, double value);
  // The metric or series of this name is a difference of two figures: it may be negative, which
  // other times, rates and sizes are refused for.
  void may_be_negative(std::string name);
  // What no figure and no point of a series of this case can exceed, of this name or in this unit:
  // those that have no limit of their own get it. A limit in B/clk/SM or FLOP/clk/SM holds in GB/s
  // and TFLOP/s too, at the maximum SM clock. Where nothing is said, an SM's 128 lanes and its 128
  // bytes per clock to L1 are the limit.
  void limit(std::string name_or_unit, Limit limit);
  // Adds a curve, sweep or map. It and added figures need a sentence each in Probe::metrics.
  void add_series(Series series);
  // Makes this metric the primary one, in place of the first.
  void lead_with(std::string metric);
  void add_flag(std::string flag);
  void set_param(std::string key, Value value);  // a condition found at run time
  // Of a case with several kernels: which one the result file shows, in place of the first.
  void record_kernel(std::string name);

  // The chain must have ended with the right value: throws what makes the case fail with `message`.
  void require(bool right, std::string_view message);
  // Gives the case up with a reason that is not an error: too little memory, one GPU only, ...
  [[noreturn]] void skip(std::string_view reason);

 private:
  Impl& impl_;
};

}  // namespace assay
