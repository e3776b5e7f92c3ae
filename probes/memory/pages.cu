// SPDX-License-Identifier: Apache-2.0
// What it matters how memory came about: cudaMalloc, mapped from physical allocations of the
// least granularity (cuMemCreate), managed and prefetched to the GPU, and the host's own, pinned by
// CUDA or registered afterwards, which the GPU reaches over the link.
//
// For each: a chase in 4 MiB (which L2 holds, where it caches such memory at all), one over a line
// of each 64 KiB of 256 MiB (page sizes show as misses of a TLB), one over all its lines, and the
// rate at which all SMs read the 256 MiB, in one launch whose start and end count (memory/hbm/read
// reads sixteen times as much). Nothing is oversubscribed, and no page moves while it is read.
#include <cuda.h>
#include <sys/mman.h>

#include <string>
#include <utility>

#include "harness/device.hpp"
#include "harness/error.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/statistics.hpp"
#include "probes/memory/chase_plan.hpp"
#include "probes/memory/hbm.cuh"

namespace {

using namespace assay;

constexpr std::size_t kBytes = std::size_t{256} << 20;
constexpr int kThreads = 512, kVectors = 16;  // as memory/hbm/read
constexpr ChaseLoad kLoad = {"cg", "ld.global.cg.u64", 8, "LDG.E.64.STRONG.GPU"};

__global__ void __launch_bounds__(kThreads) read_all(const uint4* data, std::uint32_t* sums) {
  const uint4* from = data + std::size_t{blockIdx.x} * kThreads * kVectors + threadIdx.x;
  uint4 v[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) v[i] = ptx::load_v4(from + i * kThreads);
  std::uint32_t bits = 0;
#pragma unroll
  for (const uint4& vector : v) bits ^= vector.x ^ vector.y ^ vector.z ^ vector.w;
  bits = __reduce_xor_sync(~0u, bits);
  if (threadIdx.x % 32 == 0) atomicXor(&sums[blockIdx.x % kHbmSums], bits);
}

// Memory that the GPU can read, and how it is given back.
class Memory {
 public:
  using GiveBack = void (*)(char*);
  Memory(char* data, GiveBack give_back) : data_(data), give_back_(give_back) {}
  Memory(Memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), give_back_(other.give_back_) {}
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (data_ != nullptr) give_back_(data_);
  }
  char* get() const { return data_; }

 private:
  char* data_;
  GiveBack give_back_;
};

template <class Function>
Function* driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = {};
  check(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess)
    throw Error(ExitCode::failed, std::string("the driver has no ") + name + ": update it");
  return reinterpret_cast<Function*>(function);
}
void check_driver(CUresult status, const char* function) {
  if (status != CUDA_SUCCESS)
    throw Error(ExitCode::failed,
                std::string(function) + " failed with CUDA driver error " + std::to_string(status));
}

CUmemAllocationProp on_gpu(const Device& device) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device.index};
  return properties;
}

std::size_t granularity(const Device& device, CUmemAllocationGranularity_flags which) {
  const CUmemAllocationProp properties = on_gpu(device);
  std::size_t bytes = 0;
  check_driver(driver_function<decltype(cuMemGetAllocationGranularity)>(
                   "cuMemGetAllocationGranularity")(&bytes, &properties, which),
               "cuMemGetAllocationGranularity");
  return bytes;
}

// Physical allocations of the least granularity, one after another.
Memory mapped(const Device& device) {
  const CUmemAllocationProp properties = on_gpu(device);
  const std::size_t piece = granularity(device, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  CUdeviceptr base = 0;
  check_driver(
      driver_function<decltype(cuMemAddressReserve)>("cuMemAddressReserve")(&base, kBytes, 0, 0, 0),
      "cuMemAddressReserve");
  Memory memory(reinterpret_cast<char*>(base), [](char* data) {
    const auto at = reinterpret_cast<CUdeviceptr>(data);
    driver_function<decltype(cuMemUnmap)>("cuMemUnmap")(at, kBytes);
    driver_function<decltype(cuMemAddressFree)>("cuMemAddressFree")(at, kBytes);
  });
  for (std::size_t at = 0; at < kBytes; at += piece) {
    CUmemGenericAllocationHandle handle = 0;
    check_driver(
        driver_function<decltype(cuMemCreate)>("cuMemCreate")(&handle, piece, &properties, 0),
        "cuMemCreate");
    check_driver(driver_function<decltype(cuMemMap)>("cuMemMap")(base + at, piece, 0, handle, 0),
                 "cuMemMap");
    // The mapping keeps it.
    driver_function<decltype(cuMemRelease)>("cuMemRelease")(handle);
  }
  const CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  check_driver(
      driver_function<decltype(cuMemSetAccess)>("cuMemSetAccess")(base, kBytes, &access, 1),
      "cuMemSetAccess");
  return memory;
}

Memory managed(State& s) {
  char* data = nullptr;
  check(cudaMallocManaged(&data, kBytes));
  Memory memory(data, [](char* p) { cudaFree(p); });
  const cudaMemLocation here = {cudaMemLocationTypeDevice, s.device().index};
  check(cudaMemPrefetchAsync(data, kBytes, here, 0, s.stream()));
  return memory;
}

Memory pinned() {
  void* data = nullptr;
  check(cudaHostAlloc(&data, kBytes, cudaHostAllocMapped));
  return {static_cast<char*>(data), [](char* p) { cudaFreeHost(p); }};
}

Memory registered() {
  void* data = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw Error(ExitCode::failed, "the host has no 256 MiB of memory free");
  if (const cudaError_t status = cudaHostRegister(data, kBytes, cudaHostRegisterMapped);
      status != cudaSuccess) {
    munmap(data, kBytes);
    check(status);
  }
  return {static_cast<char*>(data), [](char* p) {
            cudaHostUnregister(p);
            munmap(p, kBytes);
          }};
}

double read_rate(State& s, const char* data, std::uint32_t* sums) {
  constexpr auto kCtas = static_cast<unsigned>(kBytes / (kThreads * kVectors * sizeof(uint4)));
  const auto launch = [&] {
    read_all<<<kCtas, kThreads, 0, s.stream()>>>(reinterpret_cast<const uint4*>(data), sums);
    check(cudaGetLastError());
  };
  check(cudaMemsetAsync(sums, 0, kHbmSums * sizeof(*sums), s.stream()));
  launch();
  s.require(combined_bits(s, sums, kHbmSums * sizeof(*sums)) == combined_bits(s, data, kBytes),
            "what was read does not combine to the bits of the memory");
  Event begin, end;
  std::vector<double> rates;
  for (int i = 0; i < 3; ++i) {
    delay(20'000, s.stream());  // longer than it takes to enqueue the launch
    begin.record(s.stream());
    launch();
    end.record(s.stream());
    rates.push_back(static_cast<double>(kBytes) / elapsed_ns(begin, end));
  }
  return median(rates);
}

void run(State& s) {
  const std::string kind = s.text("kind");
  if (kind == "managed") {
    int concurrent = 0;
    check(
        cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, s.device().index));
    if (!concurrent) s.skip("this system moves managed memory as a whole, not by the page");
  }
  if (kind == "mapped") {
    s.set_param("granularity_bytes", static_cast<std::int64_t>(granularity(
                                         s.device(), CU_MEM_ALLOC_GRANULARITY_MINIMUM)));
    s.set_param(
        "recommended_granularity_bytes",
        static_cast<std::int64_t>(granularity(s.device(), CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)));
  }
  const Memory memory = kind == "device"    ? Memory(s.allocate<char>(kBytes), [](char*) {})
                        : kind == "mapped"  ? mapped(s.device())
                        : kind == "managed" ? managed(s)
                        : kind == "pinned"  ? pinned()
                                            : registered();
  char* data = memory.get();
  auto* sums = s.allocate<std::uint32_t>(kHbmSums);
  const auto chase = [&](std::size_t bytes, std::uint64_t stride, bool scatter) {
    const auto count = static_cast<std::uint32_t>(bytes / stride);
    return chase_points(s, kLoad, {{{data, count, stride, scatter}, scatter, !scatter}}).front();
  };
  const double small = chase(std::size_t{4} << 20, sizeof(Line), false);
  const double sparse = chase(kBytes, 64 << 10, true);
  const double all = chase(kBytes, sizeof(Line), false);
  s.add_exact("latency_cycles_4mib", "cycle", Better::lower, small);
  s.add_exact("latency_cycles_line_of_64kib", "cycle", Better::lower, sparse);
  s.add_exact("latency_cycles_256mib", "cycle", Better::lower, all);
  s.limit("read_gb_per_s", limits::unknown("L2 may hold a part of the bytes"));
  s.fill_random_bits(data, kBytes);
  s.add_exact("read_gb_per_s", "GB/s", Better::higher, read_rate(s, data, sums));
  check(cudaStreamSynchronize(s.stream()));  // before the memory goes
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* kind : {"device", "mapped", "managed", "pinned", "registered"})
    all.push_back({.name = kind, .params = {{"kind", kind}}, .suite = Suite::full});
  return all;
}

const Registration registration{{
    .name = "memory/pages",
    .question = "Do latency and bandwidth depend on how memory was allocated, and so on its pages?",
    .metrics =
        {{"latency_cycles_4mib",
          "Cycles of a dependent load within 4 MiB, which L2 holds where it may."},
         {"latency_cycles_line_of_64kib",
          "Cycles of a dependent load over one line of each 64 KiB of 256 MiB."},
         {"latency_cycles_256mib", "Cycles of a dependent load over all lines of 256 MiB."},
         {"read_gb_per_s",
          "Bandwidth of reading 256 MiB by all SMs, in one launch whose start and end count."}},
    .cases = cases(),
    .pace = Pace::dram,
    .kernels =
        [](const Case&, Target target) {
          return std::vector<KernelUse>{
              chase_use(kLoad, target),
              {.kernel = "read_all",
               .sass = {{"LDG.E.128", kVectors, kVectors, SassWhere::kernel}}}};
        },
    .run = run,
}};

}  // namespace
