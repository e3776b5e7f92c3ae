// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/call.hpp"

#include <cstring>
#include <vector>

#include "harness/device.hpp"

namespace assay {
namespace {

class RecordEvent : public Call {
 public:
  RecordEvent(cudaStream_t stream, unsigned flags) : Call(stream), event_(flags) {}
  void operator()(int) override { check(cudaEventRecord(event_, stream_)); }
  bool right() override { return cudaEventQuery(event_) == cudaSuccess; }

 private:
  FlaggedEvent event_;
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
  Stream other_;
  FlaggedEvent event_;
};

class Memset : public Call {
 public:
  Memset(State& s, std::size_t bytes)
      : Call(s.stream()), bytes_(bytes), memory_(s.allocate<unsigned char>(bytes)) {}
  void operator()(int i) override {
    value_ = i & 0xff;
    check(cudaMemsetAsync(memory_, value_, bytes_, stream_));
  }
  bool right() override {
    for (const unsigned char byte : download(memory_, bytes_, stream_))
      if (byte != value_) return false;
    return true;
  }

 private:
  std::size_t bytes_;
  unsigned char* memory_;
  int value_ = 0;
};

class Copy : public Call {
 public:
  enum class Way { to_device, to_host, pageable_to_device, inside_device };
  Copy(State& s, Way way, std::size_t bytes)
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
  // From a pool that keeps what is freed, or from the device's default one.
  Allocate(cudaStream_t stream, int device, bool kept) : Call(stream) {
    check(cudaDeviceGetDefaultMemPool(&pool_, device));
    if (!kept) return;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {.type = cudaMemLocationTypeDevice, .id = device};
    check(cudaMemPoolCreate(&own_, &properties));
    pool_ = own_;
    std::uint64_t all = ~0ull;
    check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &all));
  }
  ~Allocate() override {
    if (own_) cudaMemPoolDestroy(own_);
  }
  Allocate(const Allocate&) = delete;  // owns the pool
  Allocate& operator=(const Allocate&) = delete;
  void operator()(int) override {
    void* memory = nullptr;
    check(cudaMallocFromPoolAsync(&memory, 1 << 16, pool_, stream_));
    right_ = right_ && memory;
    check(cudaFreeAsync(memory, stream_));
  }
  bool right() override { return right_; }

 private:
  cudaMemPool_t pool_ = nullptr, own_ = nullptr;
  bool right_ = true;
};

}  // namespace

std::unique_ptr<Call> enqueued_call(State& s) {
  const std::string& call = s.text("call");
  const cudaStream_t stream = s.stream();
  const auto bytes = static_cast<std::size_t>(s.i64("bytes"));
  using Way = Copy::Way;
  if (call == "event_record") return std::make_unique<RecordEvent>(stream, cudaEventDisableTiming);
  if (call == "event_record_timed") return std::make_unique<RecordEvent>(stream, cudaEventDefault);
  if (call == "event_wait") return std::make_unique<WaitEvent>(stream);
  if (call == "memset") return std::make_unique<Memset>(s, bytes);
  if (call == "memcpy_h2d") return std::make_unique<Copy>(s, Way::to_device, bytes);
  if (call == "memcpy_d2h") return std::make_unique<Copy>(s, Way::to_host, bytes);
  if (call == "memcpy_pageable_h2d")
    return std::make_unique<Copy>(s, Way::pageable_to_device, bytes);
  if (call == "memcpy_d2d") return std::make_unique<Copy>(s, Way::inside_device, bytes);
  if (call == "host_function") return std::make_unique<HostFunction>(stream);
  if (call == "malloc_free" || call == "malloc_free_kept")
    return std::make_unique<Allocate>(stream, s.device().index, call == "malloc_free_kept");
  return nullptr;
}

}  // namespace assay
