// SPDX-License-Identifier: Apache-2.0
// Bandwidth of what TMA writes: bulk and tensor stores, and those that add to what is there.
//
// Each warp has a ring of slots, all with the same known words in them, and one thread stores them
// one after another, reusing a slot once the copy that read it has done so. The CTAs have a part of
// the array each, or, by the forms of one "front", take turns at it, so that all of them together
// move through it once.
#include <algorithm>
#include <cmath>

#include "harness/device.hpp"
#include "harness/element.hpp"
#include "harness/machine/dram_limit.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/tma_modes.cuh"
#include "harness/state.hpp"
#include "harness/statistics.hpp"
#include "probes/tma/box_plan.hpp"
#include "probes/tma/knee.hpp"

namespace {

using namespace assay;

constexpr int kSlots = 4;          // of a warp
constexpr int kPatternWords = 64;  // what is stored repeats after so many
constexpr int kMostWarps = 8;
constexpr std::size_t kSweeps = 7;

struct Pattern {
  std::uint32_t word[kPatternWords];
};

struct StoreWork {
  char* array;
  std::uint32_t tiles;  // of each CTA, one after another: a multiple of its warps
  std::uint32_t passes;
  std::uint32_t bytes;  // of a tile
  std::uint32_t pitch;
  bool front;  // a CTA's tiles lie as many apart as there are CTAs
  ptx::Swizzle swizzle;
  BoxGrid grid;
  Pattern pattern;
};

enum Operation {
  kBulk,
  kTensor,
  kAddF32,
  kAddF64,
  kAddF16,
  kAddBf16,
  kAddU32,
  kAddU64,
  kTensorAdd
};

template <int kOperation>
__device__ void store(const CUtensorMap* map, const StoreWork& work, std::uint32_t tile,
                      const char* from) {
  char* to = work.array + std::uint64_t{tile} * work.bytes;
  if constexpr (kOperation == kBulk) ptx::bulk_store(to, from, work.bytes);
  if constexpr (kOperation == kAddF32) ptx::bulk_add<ptx::BulkType::f32>(to, from, work.bytes);
  if constexpr (kOperation == kAddF64) ptx::bulk_add<ptx::BulkType::f64>(to, from, work.bytes);
  if constexpr (kOperation == kAddF16) ptx::bulk_add<ptx::BulkType::f16>(to, from, work.bytes);
  if constexpr (kOperation == kAddBf16) ptx::bulk_add<ptx::BulkType::bf16>(to, from, work.bytes);
  if constexpr (kOperation == kAddU32) ptx::bulk_add<ptx::BulkType::u32>(to, from, work.bytes);
  if constexpr (kOperation == kAddU64) ptx::bulk_add<ptx::BulkType::u64>(to, from, work.bytes);
  const int c0 = work.grid.coordinate(tile, 0), c1 = work.grid.coordinate(tile, 1);
  if constexpr (kOperation == kTensor) ptx::tma_store_2d(map, from, c0, c1);
  if constexpr (kOperation == kTensorAdd) ptx::tma_add_2d(map, from, c0, c1);
}

template <int kOperation>
__global__ void store_tiles(const __grid_constant__ CUtensorMap map,
                            const __grid_constant__ StoreWork work) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) char slots[];
  const std::uint32_t warps = blockDim.x / 32, warp = threadIdx.x / 32;
  char* mine = slots + warp * kSlots * work.pitch;
  for (std::uint32_t at = threadIdx.x % 32 * 4; at < work.bytes; at += 128)
    for (int slot = 0; slot < kSlots; ++slot)
      *reinterpret_cast<std::uint32_t*>(mine + slot * work.pitch +
                                        ptx::swizzle_offset(work.swizzle, at)) =
          work.pattern.word[at / 4 % kPatternWords];
  ptx::fence_proxy_async_shared();
  __syncwarp();
  if (!ptx::elect_one()) return;
  int slot = 0;
  for (std::uint32_t pass = 0; pass < work.passes; ++pass) {
    // Another CTA's part in every pass.
    const std::uint32_t cta = (blockIdx.x + pass) % gridDim.x;
    const std::uint32_t first = work.front ? cta : cta * work.tiles;
    const std::uint32_t apart = work.front ? gridDim.x : 1;
#pragma unroll 1
    for (std::uint32_t tile = warp; tile < work.tiles; tile += warps) {
      ptx::bulk_wait_read<kSlots - 1>();
      store<kOperation>(&map, work, first + tile * apart, mine + slot * work.pitch);
      ptx::bulk_commit();
      slot = (slot + 1) % kSlots;
    }
  }
  ptx::bulk_wait<0>();
#endif
}

// Counts the words that are not the pattern's.
__global__ void count_wrong(const std::uint32_t* words, std::uint64_t count,
                            std::uint32_t tile_words, Pattern expected, std::uint32_t* wrong) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    if (words[i] != expected.word[i % tile_words % kPatternWords]) atomicAdd(wrong, 1);
}

struct Form {
  const char* name;
  const char* type;  // of the elements that are added; none: stored
  void (*kernel)(CUtensorMap, StoreWork);
  const char *kernel_name, *opcode;
  bool tensor = false;
  const char* swizzle = "none";
  bool front = false;
};
const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {"bulk_front", nullptr, store_tiles<kBulk>, "store_tiles<0>", "UBLKCP.G.S", false, "none",
       true},
      {"bulk", nullptr, store_tiles<kBulk>, "store_tiles<0>", "UBLKCP.G.S"},
      {"tensor_2d_front", nullptr, store_tiles<kTensor>, "store_tiles<1>", "UTMASTG.2D", true,
       "none", true},
      {"tensor_2d", nullptr, store_tiles<kTensor>, "store_tiles<1>", "UTMASTG.2D", true},
      {"tensor_2d_swizzle_128", nullptr, store_tiles<kTensor>, "store_tiles<1>", "UTMASTG.2D", true,
       "128B"},
      {"add_f32", "f32", store_tiles<kAddF32>, "store_tiles<2>", "UBLKRED.G.S.ADD.F32"},
      {"add_f32_front", "f32", store_tiles<kAddF32>, "store_tiles<2>", "UBLKRED.G.S.ADD.F32", false,
       "none", true},
      {"add_f64", "f64", store_tiles<kAddF64>, "store_tiles<3>", "UBLKRED.G.S.ADD.F64"},
      {"add_f16", "f16", store_tiles<kAddF16>, "store_tiles<4>", "UBLKRED.G.S.ADD.F16"},
      {"add_bf16", "bf16", store_tiles<kAddBf16>, "store_tiles<5>", "UBLKRED.G.S.ADD.BF16"},
      {"add_u32", "u32", store_tiles<kAddU32>, "store_tiles<6>", "UBLKRED.G.S.ADD"},
      {"add_u64", "u64", store_tiles<kAddU64>, "store_tiles<7>", "UBLKRED.G.S.ADD"},
      {"tensor_2d_add_bf16", "bf16", store_tiles<kTensorAdd>, "store_tiles<8>", "UTMAREDG.2D.ADD",
       true}};
  return all;
}

// Words of elements 1, 2, .. 7, 1, .. times `factor`; of stores, words that all differ.
Pattern pattern_of(const Form& form, int factor) {
  Pattern pattern;
  if (!form.type) {
    for (std::uint32_t i = 0; i < kPatternWords; ++i) pattern.word[i] = (i + 1) * 0x9e3779b1u;
    return pattern;
  }
  const std::string type = form.type;
  const bool wide = type.ends_with("64");
  int index = 0;
  const auto next = [&] { return static_cast<double>((1 + index++ % 7) * factor); };
  for (int i = 0; i < kPatternWords; i += 1 + wide) {
    const std::uint64_t bits =
        type == "u64" ? static_cast<std::uint64_t>(next()) : pack(type, wide ? 64 : 32, next);
    pattern.word[i] = static_cast<std::uint32_t>(bits);
    if (wide) pattern.word[i + 1] = static_cast<std::uint32_t>(bits >> 32);
  }
  return pattern;
}

class Store {
 public:
  Store(State& s, std::uint64_t bytes, std::uint32_t passes)
      : s_(s),
        ctas_(static_cast<unsigned>(s.device().sm_count)),
        bytes_(bytes),
        passes_(passes),
        array_(s.allocate<char>(bytes)),
        wrong_(s.allocate<std::uint32_t>(1)) {}

  void prepare(const Form& form, std::uint32_t tile_bytes) {
    const BoxForm box{
        .type = form.type ? form.type : "bf16", .swizzle = form.swizzle, .box_bytes = tile_bytes};
    form_ = &form;
    work_ = {.array = array_,
             .tiles = 0,
             .passes = passes_,
             .bytes = tile_bytes,
             .pitch = box_pitch(box),
             .front = form.front,
             .swizzle = box_swizzle(form.swizzle),
             .grid = {},
             .pattern = pattern_of(form, 1)};
    constexpr std::uint64_t kBeside = 4 << 10;  // 1 KiB of the system's, and alignment
    const std::uint64_t shared =
        std::min<std::uint64_t>(s_.device().shared_bytes_per_block - kBeside, 128 << 10);
    warps_ = std::clamp(static_cast<unsigned>(shared / kSlots / work_.pitch), 1u,
                        static_cast<unsigned>(kMostWarps));
    shared_ = warps_ * kSlots * work_.pitch;
    work_.tiles = static_cast<std::uint32_t>(bytes_ / tile_bytes / ctas_) / warps_ * warps_;
    if (form.tensor) {
      BoxPlan plan = plan_boxes(box, bytes_);
      work_.grid = plan.grid;
      plan.shape.base = array_;
      map_ = ptx::encode_tensor_map(plan.shape);
    }
    check(cudaFuncSetAttribute(form.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_)));
  }
  bool fits() const { return shared_ + (4 << 10) <= s_.device().shared_bytes_per_block; }

  std::uint32_t passes() const { return passes_; }
  // Bytes that are written in one pass.
  std::uint64_t written() const { return std::uint64_t{ctas_} * work_.tiles * work_.bytes; }

  void launch(std::uint32_t passes, cudaStream_t stream) {
    StoreWork work = work_;
    work.passes = passes;
    form_->kernel<<<ctas_, 32 * warps_, shared_, stream>>>(map_, work);
    check(cudaGetLastError());
  }

  // Stored once, or added twice to zeros, every word must be as the CPU says.
  void verify() {
    const int times = form_->type ? 2 : 1;
    check(cudaMemsetAsync(array_, form_->type ? 0 : 0xff, written(), s_.stream()));
    check(cudaMemsetAsync(wrong_, 0, sizeof(*wrong_), s_.stream()));
    for (int i = 0; i < times; ++i) launch(1, s_.stream());
    count_wrong<<<1024, 256, 0, s_.stream()>>>(reinterpret_cast<const std::uint32_t*>(array_),
                                               written() / 4, work_.bytes / 4,
                                               pattern_of(*form_, times), wrong_);
    check(cudaGetLastError());
    const std::uint32_t wrong = download(wrong_, 1, s_.stream()).front();
    s_.require(wrong == 0, std::string(form_->name) + " of " + std::to_string(work_.bytes) +
                               " bytes: " + std::to_string(wrong) + " words are not as written");
  }

  double gb_per_s() {
    delay(20'000, s_.stream());  // longer than it takes to enqueue the launch
    begin_.record(s_.stream());
    launch(passes_, s_.stream());
    end_.record(s_.stream());
    return static_cast<double>(written()) * passes_ / elapsed_ns(begin_, end_);
  }

 private:
  State& s_;
  unsigned ctas_, warps_ = 1, shared_ = 0;
  std::uint64_t bytes_;
  std::uint32_t passes_;
  char* array_;
  std::uint32_t* wrong_;
  const Form* form_ = nullptr;
  StoreWork work_ = {};
  CUtensorMap map_ = {};
  Event begin_, end_;
};

void run(State& s) {
  constexpr std::uint64_t kMoved = std::uint64_t{1} << 30;
  const bool dram = s.text("level") == "dram";
  const std::uint64_t bytes = dram ? kMoved : s.device().l2_bytes / 2 / 4096 * 4096;
  Store store(s, bytes, static_cast<std::uint32_t>(kMoved / bytes));
  store.prepare(forms().front(), 8192);
  store.verify();
  if (dram) s.limit("GB/s", dram_limit(s.device()));
  const Work work{.bytes = static_cast<double>(store.written()) * store.passes()};
  s.time(work, [&](cudaStream_t stream) { store.launch(store.passes(), stream); });
  Series series{"bandwidth_gb_per_s", "GB/s", {{"form", {}}, {"copy_bytes", {}}}, {}};
  std::vector<double> sizes;
  for (std::int64_t size = 128; size <= (32 << 10); size *= 2) {
    series.axes[1].points.emplace_back(size);
    sizes.push_back(static_cast<double>(size));
  }
  for (const Form& form : forms()) {
    series.axes[0].points.emplace_back(form.name);
    std::vector<std::vector<double>> sweeps(kSweeps);
    for (const double size : sizes) {
      store.prepare(form, static_cast<std::uint32_t>(size));
      std::vector<double> samples(kSweeps, NAN);
      if (store.fits()) {
        store.verify();
        for (double& sample : samples) sample = store.gb_per_s();
      }
      for (std::size_t i = 0; i < kSweeps; ++i) sweeps[i].push_back(samples[i]);
      series.add(store.fits() ? estimate(samples) : Estimate(NAN));
    }
    std::vector<double> most, knees;
    for (const auto& sweep : sweeps) {
      most.push_back(0);
      for (const double value : sweep) most.back() = std::fmax(most.back(), value);
      knees.push_back(knee(sizes, sweep));
    }
    s.add_metric(std::string("best_gb_per_s_") + form.name, "GB/s", Better::higher, most);
    s.add_metric(std::string("copy_bytes_95_") + form.name, "B", Better::lower, knees);
  }
  s.add_series(std::move(series));
}

const Registration registration{{
    .name = "tma/store",
    .question = "How fast does TMA write, and add to what is there, by the size of a copy?",
    .metrics =
        {{"bandwidth_gb_per_s",
          "Bytes written in a second by all SMs, by form and size of a copy; the figure is of bulk "
          "stores of 8 KiB."},
         {"best_gb_per_s_*", "Best bandwidth of stores in the form *, at any size."},
         {"copy_bytes_95_*",
          "Size of a store in the form * from which on 95% of its best bandwidth is reached."}},
    .cases = {{.name = "dram", .params = {{"level", "dram"}}, .suite = Suite::full},
              {.name = "l2", .params = {{"level", "l2"}}, .suite = Suite::full}},
    .targets = targets_with(Feature::tma),
    .pace = Pace::dram,
    .kernels =
        [](const Case&, Target) {
          std::vector<KernelUse> uses;
          for (const Form& form : forms())
            if (std::ranges::find(uses, form.kernel_name, &KernelUse::kernel) == uses.end())
              uses.push_back({.kernel = form.kernel_name, .sass = {{form.opcode, 1, 1}}});
          return uses;
        },
    .run = run,
}};

}  // namespace
