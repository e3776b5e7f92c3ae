// SPDX-License-Identifier: Apache-2.0
#include "probes/tensor_core/tcgen05_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/instruction/ptx_text.hpp"
#include "harness/instruction/tcgen05_batches.hpp"

namespace assay::tcgen05 {
namespace {

namespace umma = ptx::tcgen05;

// Columns of tensor memory behind the accumulators, up to 256 of them: A; scales, one 32-bit word
// for 4 blocks of a row (four columns for the rows of A, up to eight for the columns of B);
// metadata, two bits for each element of A. 32 columns each.
constexpr int kA = 256, kScalesOfA = 288, kScalesOfB = 304, kMetadata = 320, kChunk = 32;

class Text {
 public:
  explicit Text(const Kernel& kernel)
      : k_(kernel), f_(kernel.form), batches_{kernel.latency, kernel.form.ctas, [this](int i) {
                                                return mma(i);
                                              }} {}

  std::string declarations() const;
  std::string setup() const;
  std::string loop() const { return batches_.loop(); }
  std::string finish() const;

 private:
  int in_shared() const {
    return f_.a_in_tensor_memory ? k_.b_bytes() : k_.a_bytes() + k_.b_bytes();
  }
  int a_steps() const { return Kernel::kRowBytes / f_.bytes_of_a(); }
  int b_steps() const { return Kernel::kRowBytes / f_.bytes_of_b(); }

  std::string cluster_barrier() const;
  std::string descriptors() const;
  std::string tensor_memory() const;
  std::string mma(int step) const;

  const Kernel& k_;
  const Form& f_;
  Tcgen05Batches batches_;
};

std::string repeated(const std::string& reg, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i ? ", " : "") + reg;
  return text;
}

std::string registers() {
  std::string text;
  for (int r = 0; r < kChunk; ++r) text += fmt::format("{}%r{}", r ? ", " : "", r);
  return text;
}

std::string Text::declarations() const {
  return batches_.declarations() +
         fmt::format(
             "  .reg .pred %add, %idle, %peer, %kept, %more;\n"
             "  .reg .b32 %r<{}>, %at, %tile, %lanes, %warp, %rank, %slot, %column, %what,\n"
             "      %accumulator, %scale, %scales_a, %scales_b, %metadata;\n"
             "  .reg .b64 %from, %row, %b<{}>;\n"
             "  .reg .{} %a<{}>;\n",
             kChunk, b_steps(), f_.a_in_tensor_memory ? "b32" : "b64", a_steps());
}

// Of the CTAs of a cluster, around what one does to the other.
std::string Text::cluster_barrier() const {
  if (f_.ctas == 1) return "";
  return "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n";
}

// Warp w reaches lanes 32 w and up: bits 16 and up of an address. Each fills them in all columns,
// 32 at a time.
std::string Text::tensor_memory() const {
  std::string text = fmt::format(
      "  shr.u32 %warp, %thread, 5;\n"
      "  shfl.sync.idx.b32 %warp, %warp, 0, 31, 0xffffffff;\n"  // now known to be the warp's
      "  setp.ne.u32 %idle, %warp, 0;\n"
      "  shl.b32 %lanes, %warp, 21;\n"
      "  add.u32 %lanes, %lanes, %tmem;\n"
      "  ld.global.b32 %accumulator, [%in+{}];\n"
      "  ld.global.b32 %scale, [%in+{}];\n"
      "  ld.global.b32 %metadata, [%in+{}];\n",
      k_.a_bytes() + k_.b_bytes(), k_.a_bytes() + k_.b_bytes() + 4,
      k_.a_bytes() + k_.b_bytes() + 8);
  const auto store = [&](int column, const std::string& values) {
    text += fmt::format("  tcgen05.st.sync.aligned.32x32b.x32.b32 [%lanes+{}], {{{}}};\n", column,
                        values);
  };
  for (int column = 0; column < f_.n; column += kChunk) store(column, repeated("%accumulator", 32));
  if (f_.type->scaled()) store(kScalesOfA, repeated("%scale", kChunk));
  static_assert(kScalesOfB + 256 / 32 <= kScalesOfA + kChunk);
  if (f_.sparse) store(kMetadata, repeated("%metadata", kChunk));
  if (f_.a_in_tensor_memory) {
    text += fmt::format("  mad.wide.u32 %row, %thread, {}, %in;\n", Kernel::kRowBytes);
    for (int r = 0; r < kChunk; ++r)
      text += fmt::format("  ld.global.b32 %r{0}, [%row+{1}];\n", r, 4 * r);
    store(kA, registers());
  }
  return text +
         "  tcgen05.wait::st.sync.aligned;\n"
         "  tcgen05.fence::before_thread_sync;\n"
         "  bar.sync 0;\n"
         "  tcgen05.fence::after_thread_sync;\n";
}

std::string Text::descriptors() const {
  std::string text =
      "  shr.u32 %at, %tile, 4;\n"
      "  cvt.u64.u32 %from, %at;\n";
  const std::uint64_t start = umma::k_major_128b(0);
  const auto offset = [](int bytes) { return static_cast<unsigned>(bytes); };
  for (int step = 0; step < a_steps(); ++step)
    text += f_.a_in_tensor_memory
                ? fmt::format("  add.u32 %a{}, %tmem, {};\n", step, kA + step * f_.bytes_of_a() / 4)
                : fmt::format("  add.u64 %a{}, %from, {};\n", step,
                              ptx::advance(start, offset(step * f_.bytes_of_a())));
  const int b = f_.a_in_tensor_memory ? 0 : k_.a_bytes();
  for (int step = 0; step < b_steps(); ++step)
    text += fmt::format("  add.u64 %b{}, %from, {};\n", step,
                        ptx::advance(start, offset(b + step * f_.bytes_of_b())));
  return text;
}

std::string Text::setup() const {
  std::string text =
      "  mov.u32 %tile, tile;\n" + batches_.setup("%tile", in_shared()) +
      fmt::format("  add.u32 %slot, %tile, {};\n", in_shared() + Tcgen05Batches::kBarrierBytes);
  if (f_.a_in_tensor_memory) {
    text += fmt::format("  mov.u64 %row, %in;\n  add.u64 %in, %in, {};\n", k_.a_bytes());
    text += load_tile(in_shared(), Kernel::kThreads) + "  mov.u64 %in, %row;\n";
  } else {
    text += load_tile(in_shared(), Kernel::kThreads);
  }
  text += allocate_tensor_memory("%slot", {.cta_group = f_.ctas}) + tensor_memory();
  if (f_.ctas == 2)
    text +=
        "  mov.u32 %rank, %cluster_ctarank;\n"
        "  setp.ne.u32 %peer, %rank, 0;\n";
  text += fmt::format(
      "  setp.lt.u32 %kept, %cta, {};\n"
      "  add.u32 %scales_a, %tmem, {};\n"
      "  add.u32 %scales_b, %tmem, {};\n"
      "  add.u32 %metadata, %tmem, {};\n"
      "  mov.u32 %what, {};\n"
      "  setp.ne.u32 %add, 1, 0;\n",
      f_.ctas, kScalesOfA, kScalesOfB, kMetadata, f_.descriptor());
  return text + descriptors() + cluster_barrier();
}

std::string Text::mma(int step) const {
  return "  @%elected " +
         f_.ptx({.d = "%tmem",
                 .a = fmt::format("%a{}", step % a_steps()),
                 .b = fmt::format("%b{}", step % b_steps()),
                 .metadata = "%metadata",
                 .descriptor = "%what",
                 .scale_a = "%scales_a",
                 .scale_b = "%scales_b",
                 .add = "%add"}) +
         "\n";
}

std::string Text::finish() const {
  std::string text = batches_.drain();
  text += "  bar.sync 0;\n" + cluster_barrier() +
          fmt::format(
              "  tcgen05.fence::after_thread_sync;\n"
              "  mad.wide.u32 %out, %cta, {}, %out;\n"
              "  mad.wide.u32 %out, %thread, 4, %out;\n",
              f_.columns() * Kernel::kLanes * 4);
  const int stored = std::min(kChunk, f_.columns());
  text += fmt::format(
      "  mov.u32 %at, %lanes;\n"
      "read:\n"
      "  tcgen05.ld.sync.aligned.32x32b.x32.b32 {{{}}}, [%at];\n"
      "  tcgen05.wait::ld.sync.aligned;\n",
      registers());
  for (int r = 0; r < stored; ++r)
    text += fmt::format("  @%kept st.global.b32 [%out+{}], %r{};\n", r * Kernel::kLanes * 4, r);
  text += fmt::format(
      "  add.u64 %out, %out, {};\n"
      "  add.u32 %at, %at, {};\n"
      "  sub.u32 %column, %at, %lanes;\n"
      "  setp.lt.u32 %more, %column, {};\n"
      "  @%more bra read;\n",
      stored * Kernel::kLanes * 4, stored, f_.columns());
  return text + cluster_barrier() + release_tensor_memory({.cta_group = f_.ctas}) +
         cluster_barrier();
}

}  // namespace

std::string Kernel::ptx(Target target) const {
  const Text text(*this);
  return ptx_text({.target = target,
                   .entry = entry(),
                   .threads = kThreads,
                   .declarations = text.declarations(),
                   .setup = text.setup(),
                   .loop = text.loop(),
                   .finish = text.finish(),
                   .globals = ".extern .shared .align 1024 .b8 tile[];\n\n",
                   .cluster = form.ctas});
}

}  // namespace assay::tcgen05
