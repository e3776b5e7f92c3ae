// SPDX-License-Identifier: Apache-2.0
// What other calls cost that small kernels are surrounded with: events, synchronization, small
// copies and memsets, a function of the CPU in a stream, allocation from a pool.
// `flag` is the quickest way to learn that a kernel has come to its end: it writes a word of the
// CPU's memory, which the CPU watches.
//   time_us     of one such call after the other, from the first call to the last one's effect;
//               for those that wait, from the launch of an empty kernel to their return
//   cpu_us      of the call alone, while the GPU is kept busy (or idle, for those that wait)
//   gpu_gap_us  from the end of a kernel's work to where the next may begin its own, with the call
//               between them: launch/empty/stream has it without
//   latency_us  from the call to the return of the stream's synchronization behind it
#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <memory>

#include "harness/device_kernels.hpp"
#include "harness/statistics.hpp"
#include "probes/launch/chain.hpp"
#include "probes/launch/clock.hpp"

namespace {

using assay::Better;
using assay::check;

constexpr int kCalls = 100;

// A call under test, with what it needs. It is made `before` the i-th kernel of a chain.
class Call {
 public:
  virtual ~Call() = default;
  virtual void operator()(int i) = 0;
  // The stream of the i-th kernel, and the one whose end is everyone's.
  virtual cudaStream_t stream_of(int) { return stream_; }
  virtual bool right() { return true; }  // after all is done: whether the calls had their effect

 protected:
  explicit Call(cudaStream_t stream) : stream_(stream) {}
  cudaStream_t stream_;
};

class Event {
 public:
  explicit Event(unsigned flags) { check(cudaEventCreateWithFlags(&event_, flags)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;  // one owner
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class RecordEvent : public Call {
 public:
  RecordEvent(cudaStream_t stream, unsigned flags) : Call(stream), event_(flags) {}
  void operator()(int) override { check(cudaEventRecord(event_, stream_)); }
  bool right() override { return cudaEventQuery(event_) == cudaSuccess; }

 private:
  Event event_;
};

// The kernels take turns on two streams, each behind an event of the one before it.
class WaitEvent : public Call {
 public:
  explicit WaitEvent(cudaStream_t stream) : Call(stream), event_(cudaEventDisableTiming) {}
  cudaStream_t stream_of(int i) override { return i % 2 ? cudaStream_t{other_} : stream_; }
  void operator()(int i) override {
    check(cudaEventRecord(event_, stream_of(i + 1)));
    check(cudaStreamWaitEvent(stream_of(i), event_));
  }

 private:
  assay::Stream other_;
  Event event_;
};

class Memset : public Call {
 public:
  Memset(assay::State& s, std::size_t bytes)
      : Call(s.stream()), bytes_(bytes), memory_(s.allocate<unsigned char>(bytes)) {}
  void operator()(int i) override {
    value_ = i & 0xff;
    check(cudaMemsetAsync(memory_, value_, bytes_, stream_));
  }
  bool right() override {
    for (const unsigned char byte : assay::download(memory_, bytes_, stream_))
      if (byte != value_) return false;
    return true;
  }

 private:
  std::size_t bytes_;
  unsigned char* memory_;
  int value_ = 0;
};

struct FreePinned {
  void operator()(unsigned char* memory) const { cudaFreeHost(memory); }
};
using PinnedBytes = std::unique_ptr<unsigned char[], FreePinned>;
PinnedBytes pinned(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes));
  return PinnedBytes(static_cast<unsigned char*>(memory));
}

class Copy : public Call {
 public:
  enum class Way { to_device, to_host, pageable_to_device, inside_device };
  Copy(assay::State& s, Way way, std::size_t bytes)
      : Call(s.stream()),
        bytes_(bytes),
        pageable_(bytes),
        device_(s.allocate<unsigned char>(bytes)),
        second_(s.allocate<unsigned char>(bytes)),
        pinned_(pinned(bytes)) {
    for (std::size_t i = 0; i < bytes; ++i)
      pinned_[i] = pageable_[i] = static_cast<unsigned char>(i * 37 + 11);
    check(cudaMemset(device_, 0, bytes));
    check(cudaMemcpy(second_, pinned_.get(), bytes, cudaMemcpyDefault));
    from_ = way == Way::to_device            ? pinned_.get()
            : way == Way::pageable_to_device ? pageable_.data()
                                             : second_;
    to_ = device_;
    if (way == Way::to_host) {
      std::memset(pinned_.get(), 0, bytes);
      to_ = pinned_.get();
    }
  }
  void operator()(int) override {
    check(cudaMemcpyAsync(to_, from_, bytes_, cudaMemcpyDefault, stream_));
  }
  bool right() override {
    std::vector<unsigned char> arrived(bytes_);
    check(cudaMemcpy(arrived.data(), to_, bytes_, cudaMemcpyDefault));
    return arrived == pageable_;
  }

 private:
  std::size_t bytes_;
  std::vector<unsigned char> pageable_;
  unsigned char *device_, *second_;
  PinnedBytes pinned_;
  const void* from_ = nullptr;
  void* to_ = nullptr;
};

class HostFunction : public Call {
 public:
  explicit HostFunction(cudaStream_t stream) : Call(stream) {}
  void operator()(int) override {
    ++called_;
    check(cudaLaunchHostFunc(
        stream_, [](void* ran) { ++*static_cast<int*>(ran); }, &ran_));
  }
  bool right() override { return ran_ == called_; }

 private:
  int called_ = 0, ran_ = 0;  // the second by the driver's thread, read after synchronizing
};

class Allocate : public Call {
 public:
  explicit Allocate(cudaStream_t stream) : Call(stream) {}
  void operator()(int) override {
    void* memory = nullptr;
    check(cudaMallocAsync(&memory, 1 << 16, stream_));
    right_ = right_ && memory;
    check(cudaFreeAsync(memory, stream_));
  }
  bool right() override { return right_; }

 private:
  bool right_ = true;
};

// Microseconds a call in work(), which makes kCalls: the median of a few times, since now and then
// one is interrupted.
double median_us(const std::function<void()>& work) {
  std::vector<double> us;
  for (int i = 0; i < 5; ++i) {
    const double begin = assay::host_us();
    work();
    us.push_back((assay::host_us() - begin) / kCalls);
  }
  return assay::median(us);
}

void run_enqueued(assay::State& s, Call& call) {
  const cudaStream_t stream = s.stream();
  const auto finish = [&] {
    check(cudaStreamSynchronize(call.stream_of(1)));
    check(cudaStreamSynchronize(stream));
  };
  s.sample({}, [&] {
    return 1e3 * median_us([&] {
             for (int i = 0; i < kCalls; ++i) call(i);
             finish();
           });
  });
  std::vector<double> cpu, latency;
  for (int i = 0; i < assay::kChainRuns; ++i) {
    assay::delay(1'000'000, stream);
    double begin = assay::host_us();
    for (int k = 0; k < assay::kChainKernels; ++k) call(k);
    cpu.push_back((assay::host_us() - begin) / assay::kChainKernels);
    finish();
    begin = assay::host_us();
    for (int k = 0; k < 20; ++k) {
      call(k);
      finish();
    }
    latency.push_back((assay::host_us() - begin) / 20);
  }
  assay::Chain chain(s, assay::kChainKernels, assay::kChainWorkNs, {});
  std::vector<double> gap;
  for (int i = 0; i <= assay::kChainRuns; ++i) {
    const assay::ChainRun run = chain.run(
        [&] {
          for (int k = 0; k < chain.count(); ++k) {
            if (k > 0) call(k);
            chain.launch(k, call.stream_of(k));
          }
        },
        stream, call.stream_of(chain.count() - 1));
    if (i > 0) gap.push_back(run.gap_us);
  }
  s.require(call.right(), "the calls did not have their effect");
  s.add_metric("cpu_us", "us", Better::lower, cpu);
  s.add_metric("gpu_gap_us", "us", Better::lower, gap);
  s.add_metric("latency_us", "us", Better::lower, latency);
}

// A kernel writes a word of the CPU's memory, and the CPU looks until it is there.
void run_flag(assay::State& s) {
  const PinnedBytes memory = pinned(sizeof(std::uint32_t));
  auto* flag = reinterpret_cast<std::uint32_t*>(memory.get());
  *flag = 0;
  std::uint32_t value = 0;
  void* arguments[] = {&flag, &value};
  std::atomic_ref<std::uint32_t> seen(*flag);
  s.sample({}, [&] {
    return 1e3 * median_us([&] {
             for (int i = 0; i < kCalls; ++i) {
               ++value;
               assay::launch(assay::flag_kernel(), {}, arguments, s.stream());
               for (const double begin = assay::host_us();
                    seen.load(std::memory_order_acquire) != value;)
                 s.require(assay::host_us() - begin < 1e6, "the flag was not raised in a second");
             }
           });
  });
  check(cudaStreamSynchronize(s.stream()));
  s.require(*flag == value, "the flag changed once more than kernels were launched");
}

// `wait` returns when the stream is empty: behind a kernel, and when it has been empty already.
void run_waiting(assay::State& s, const std::function<void()>& wait) {
  const cudaStream_t stream = s.stream();
  const void* kernel = assay::empty_kernel(false);
  s.sample({}, [&] {
    const double us = median_us([&] {
      for (int i = 0; i < kCalls; ++i) {
        assay::launch(kernel, {}, nullptr, stream);
        wait();
      }
    });
    s.require(cudaStreamQuery(stream) == cudaSuccess, "the stream has work left after the wait");
    return 1e3 * us;
  });
  std::vector<double> idle;
  for (int i = 0; i < assay::kChainRuns; ++i) {
    const double begin = assay::host_us();
    for (int k = 0; k < kCalls; ++k) wait();
    idle.push_back((assay::host_us() - begin) / kCalls);
  }
  s.add_metric("cpu_us", "us", Better::lower, idle);
}

void run(assay::State& s) {
  const std::string& call = s.text("call");
  const cudaStream_t stream = s.stream();
  const auto bytes = static_cast<std::size_t>(s.i64("bytes"));
  const auto enqueued = [&](auto&& made) { run_enqueued(s, made); };
  using Way = Copy::Way;
  if (call == "event_record") return enqueued(RecordEvent(stream, cudaEventDisableTiming));
  if (call == "event_record_timed") return enqueued(RecordEvent(stream, cudaEventDefault));
  if (call == "event_wait") return enqueued(WaitEvent(stream));
  if (call == "memset") return enqueued(Memset(s, bytes));
  if (call == "memcpy_h2d") return enqueued(Copy(s, Way::to_device, bytes));
  if (call == "memcpy_d2h") return enqueued(Copy(s, Way::to_host, bytes));
  if (call == "memcpy_pageable_h2d") return enqueued(Copy(s, Way::pageable_to_device, bytes));
  if (call == "memcpy_d2d") return enqueued(Copy(s, Way::inside_device, bytes));
  if (call == "host_function") return enqueued(HostFunction(stream));
  if (call == "malloc_free") return enqueued(Allocate(stream));
  if (call == "flag") return run_flag(s);
  if (call == "stream_sync") return run_waiting(s, [&] { check(cudaStreamSynchronize(stream)); });
  if (call == "device_sync") return run_waiting(s, [] { check(cudaDeviceSynchronize()); });
  const bool blocking = call == "event_sync_blocking";
  const Event event(cudaEventDisableTiming | (blocking ? cudaEventBlockingSync : 0u));
  if (call == "event_query")
    return run_waiting(s, [&] {
      check(cudaEventRecord(event, stream));
      while (cudaEventQuery(event) == cudaErrorNotReady) {
      }
    });
  run_waiting(s, [&] {
    check(cudaEventRecord(event, stream));
    check(cudaEventSynchronize(event));
  });
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  const auto add = [&](const char* call, std::int64_t bytes = 0) {
    all.push_back({.name = bytes ? fmt::format("{}/{}", call, bytes) : call,
                   .params = {{"call", call}, {"bytes", bytes}},
                   .suite = assay::Suite::full});
  };
  for (const char* call :
       {"event_record", "event_record_timed", "event_wait", "event_sync", "event_sync_blocking",
        "event_query", "stream_sync", "device_sync", "flag", "host_function", "malloc_free"})
    add(call);
  for (const char* call :
       {"memset", "memcpy_h2d", "memcpy_pageable_h2d", "memcpy_d2h", "memcpy_d2d"})
    for (const std::int64_t bytes : {4, 4096, 65536}) add(call, bytes);
  return all;
}

const assay::Registration registration{{
    .name = "launch/call",
    .question = "What do events, synchronization and small copies cost the CPU, and the GPU "
                "between two kernels?",
    .cases = cases(),
    .pace = assay::Pace::host,
    .kernels =
        [](const assay::Case& c, assay::Target) {
          if (c.name == "flag")
            return std::vector<assay::KernelUse>{
                {.kernel = "raise_flag",
                 .sass = {{"STG.E.STRONG.SYS", 1, 1, assay::SassWhere::kernel}}}};
          return std::vector<assay::KernelUse>{
              {.kernel = "stamped", .sass = {{"STG", 1, 4, assay::SassWhere::kernel}}},
              {.kernel = "empty", .sass = {{"EXIT", 1, 1, assay::SassWhere::kernel}}}};
        },
    .run = run,
}};

}  // namespace
