// SPDX-License-Identifier: Apache-2.0
// What a heavy neighbour does to a small kernel: its latency, from launch to the end of the wait
// for it. It has 8 CTAs and reads 256 KiB.
//   alone        nobody else uses the GPU
//   shared       kernels of many CTAs fill the GPU from two other streams
//   priority     the same, but the small kernel's stream has the highest priority
//   partitioned  16 SMs, a green context, are the small kernel's own; the others have the rest
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>

#include "harness/callable.hpp"
#include "harness/device.hpp"
#include "probes/launch/clock.hpp"
#include "probes/launch/crowd.hpp"
#include "probes/launch/green_context.hpp"
#include "probes/launch/worker_sweep.hpp"

namespace {

using assay::Better;
using assay::check;
using assay::Tally;

// Keeps a GPU, or a part of it, full of work from two streams, from when it is made to finish().
class Crowd {
 public:
  using Launch = assay::Callable<void(cudaStream_t)>;  // one kernel of it
  Crowd(int device_index, cudaStream_t a, cudaStream_t b, Launch launch)
      : thread_([this, device_index, streams = std::array{a, b}, launch](std::stop_token stop) {
          try {
            check(cudaSetDevice(device_index));
            for (std::size_t i = 0; !stop.stop_requested(); ++i) {
              check(cudaStreamSynchronize(streams[i % 2]));
              if (i == 2) begin_us_ = assay::host_us();
              launch(streams[i % 2]);
              launched_ = i + 1;
            }
            for (const cudaStream_t stream : streams) check(cudaStreamSynchronize(stream));
            end_us_ = assay::host_us();
          } catch (...) {
            error_ = std::current_exception();
          }
          over_ = true;
        }) {
    while (launched_ < 4 && !over_) std::this_thread::yield();
  }
  // Kernels a second.
  double finish() {
    thread_.request_stop();
    thread_.join();
    if (error_) std::rethrow_exception(error_);
    return 1e6 * static_cast<double>(launched_ - 1) / (end_us_ - begin_us_);
  }
  std::uint64_t launched() const { return launched_; }

 private:
  std::atomic<std::uint64_t> launched_ = 0;
  std::atomic<bool> over_ = false;
  double begin_us_ = 0, end_us_ = 0;
  std::exception_ptr error_;
  std::jthread thread_;  // last: uses all the others
};

class Neighbours {
 public:
  explicit Neighbours(assay::State& s)
      : s_(s), reads_(s.which().name == "memory"), tallies_(s.allocate<Tally>(2)) {
    parts_ = static_cast<std::uint32_t>(reads_ ? 4 * s.device().l2_bytes / assay::kCrowdBytes : 1);
    array_ = s.allocate<uint4>(std::size_t{parts_} * assay::kCrowdBytes / sizeof(uint4));
    check(cudaMemset(array_, assay::kCrowdWord & 0xff, std::size_t{parts_} * assay::kCrowdBytes));
  }

  struct Found {
    std::vector<double> latencies_us;
    double crowd_per_s = 0;
    bool on_separate_sms = false;
  };
  // The quick kernel `times` times on its stream, beside the crowd on two others if there are any.
  Found measure(cudaStream_t quick, const std::array<cudaStream_t, 2>* crowd, int times) {
    check(cudaMemset(tallies_, 0, 2 * sizeof(Tally)));
    check(cudaDeviceSynchronize());
    std::optional<Crowd> others;
    if (crowd)
      others.emplace(s_.device().index, crowd->front(), crowd->back(),
                     [this](cudaStream_t stream) { launch_crowd(stream); });
    Found found;
    for (int i = 0; i < times; ++i) {
      const double begin = assay::host_us();
      assay::quick_read(array_, &tallies_[0], quick);
      check(cudaStreamSynchronize(quick));
      found.latencies_us.push_back(assay::host_us() - begin);
    }
    if (others && times == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (others) found.crowd_per_s = others->finish();
    const Tally own = assay::read(&tallies_[0]), theirs = assay::read(&tallies_[1]);
    const std::uint64_t launched = others ? others->launched() * crowd_ctas() : 0;
    s_.require(own.wrong + theirs.wrong == 0, "a kernel did not compute what it must");
    s_.require(cta_count(own) == static_cast<std::uint64_t>(times) * assay::kQuickCtas &&
                   cta_count(theirs) == launched,
               fmt::format("{} and {} CTAs ran, expected {} and {}", cta_count(own),
                           cta_count(theirs), times * assay::kQuickCtas, launched));
    found.on_separate_sms = on_separate_sms(own, theirs);
    return found;
  }

 private:
  static constexpr double kCtaUs = 50;  // of one CTA of arithmetic
  unsigned crowd_ctas() const { return 32 * static_cast<unsigned>(s_.device().sm_count); }
  void launch_crowd(cudaStream_t stream) const {
    if (reads_)
      assay::crowd_with_reads(crowd_ctas(), array_, parts_, &tallies_[1], stream);
    else
      assay::crowd_with_arithmetic(s_.device(), crowd_ctas(), kCtaUs, &tallies_[1], stream);
  }

  assay::State& s_;
  bool reads_;
  Tally* tallies_;  // of the quick kernel and of the crowd
  std::uint32_t parts_ = 1;
  uint4* array_;
};

void run_neighbour(assay::State& s) {
  constexpr unsigned kOwnSms = 16;
  Neighbours neighbours(s);
  assay::Stream quick;
  assay::Stream a, b;
  const std::array<cudaStream_t, 2> crowd = {a, b};
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  struct Prioritized {
    cudaStream_t stream = nullptr;
    ~Prioritized() { cudaStreamDestroy(stream); }
  } first;
  check(cudaStreamCreateWithPriority(&first.stream, cudaStreamNonBlocking, greatest));

  assay::Series curve{"latency_us", "us", {{"shared", {}}, {"percentile", {50, 90, 99, 100}}}, {}};
  neighbours.measure(quick, nullptr, 2);  // loads the kernel, which could wait for the others' end
  neighbours.measure(quick, &crowd, 2);
  const double undisturbed = neighbours.measure(quick, &crowd, 0).crowd_per_s;
  const auto add = [&](const char* name, const Neighbours::Found& found) {
    s.add_metric(fmt::format("latency_us_{}", name), "us", Better::lower, found.latencies_us);
    s.add_exact(fmt::format("latency_us_{}_p99", name), "us", Better::lower,
                assay::quantile(found.latencies_us, 0.99));
    if (found.crowd_per_s > 0)
      s.add_exact(fmt::format("neighbour_{}", name), "", Better::higher,
                  found.crowd_per_s / undisturbed);
    curve.axes[0].points.emplace_back(std::string(name));
    for (const double share : {0.5, 0.9, 0.99, 1.0})
      curve.values.push_back(assay::quantile(found.latencies_us, share));
  };
  add("alone", neighbours.measure(quick, nullptr, 500));
  add("shared", neighbours.measure(quick, &crowd, 50));
  add("priority", neighbours.measure(first.stream, &crowd, 300));
  const auto parts = assay::SmPartitions::apart(s.device().index, kOwnSms);
  if (parts) {
    const cudaStream_t own = parts->stream(0);
    const std::array<cudaStream_t, 2> others = {parts->stream(1), parts->stream(1)};
    const auto found = neighbours.measure(own, &others, 500);
    s.require(found.on_separate_sms, "the two parts ran CTAs on one SM");
    add("partitioned", found);
    s.set_param("own_sms", std::int64_t{parts->sms(0)});
    s.set_param("neighbour_sms", std::int64_t{parts->sms(1)});
  } else {
    s.add_flag(parts.reason());
  }
  s.add_series(std::move(curve));
}

const assay::Registration neighbour{{
    .name = "launch/neighbour",
    .question = "How long does a small kernel take while others fill the GPU, and how much do "
                "priority and SMs of its own help?",
    .metrics =
        {{"latency_us_alone", "Latency of the small kernel when nobody else uses the GPU."},
         {"latency_us_shared", "Latency of the small kernel while other kernels fill the GPU."},
         {"latency_us_priority",
          "Latency of the small kernel while others fill the GPU and its stream has the highest "
          "priority."},
         {"latency_us_partitioned",
          "Latency of the small kernel when 16 SMs are its own and the others have the rest."},
         {"latency_us_*_p99", "The 99th percentile of latency_us_*."},
         {"neighbour_*",
          "Throughput that the others keep in latency_us_*, as a share of what they get "
          "undisturbed."},
         {"latency_us", "Percentiles of the small kernel's latency, by how the GPU is shared."}},
    .cases = {{.name = "arithmetic", .suite = assay::Suite::full},
              {.name = "memory", .suite = assay::Suite::full}},
    .pace = assay::Pace::host,
    .kernels =
        [](const assay::Case& c, assay::Target) {
          const bool reads = c.name == "memory";
          return std::vector<assay::KernelUse>{
              {.kernel = "quick", .sass = {{"LDG.E.128", 4, 64, assay::SassWhere::kernel}}},
              reads ? assay::KernelUse{.kernel = "crowd_reads", .sass = {{"LDG.E.128", 4, 64}}}
                    : assay::KernelUse{.kernel = "crowd_arithmetic", .sass = {{"FFMA", 64, 64}}}};
        },
    .run = run_neighbour,
}};

}  // namespace
