// SPDX-License-Identifier: Apache-2.0
// What it takes until a kernel of a cubin in memory has run: the library is loaded, its kernel
// looked up, launched for the first time (which is when its code goes to the GPU, under the lazy
// loading that is the default since CUDA 12.2), launched again, and unloaded.
//
// The kernel computes a value with as many instructions as the case says, one after the other.
#include <fmt/format.h>

#include <array>

#include "harness/code/assembler.hpp"
#include "harness/device.hpp"
#include "probes/launch/chain.hpp"
#include "probes/launch/clock.hpp"

namespace {

using assay::Better;
using assay::check;

constexpr std::uint32_t kFactor = 1664525;

std::string ptx(std::int64_t instructions, assay::Target target) {
  std::string text = fmt::format(R"(.version 9.0
.target {}
.address_size 64
.visible .entry compute(.param .u64 at, .param .u32 value, .param .u32 factor)
{{
  .reg .b64 %at;
  .reg .b32 %value, %factor;
  ld.param.u64 %at, [at];
  ld.param.u32 %value, [value];
  ld.param.u32 %factor, [factor];
)",
                                 name(target));
  for (std::int64_t i = 0; i < instructions; ++i)
    text += "  mad.lo.u32 %value, %value, %factor, %value;\n";
  return text + "  st.global.u32 [%at], %value;\n  ret;\n}\n";
}

std::vector<assay::KernelUse> kernels(const assay::Case& c, assay::Target target) {
  const auto count = static_cast<int>(c.i64("instructions"));
  return {{.kernel = "compute",
           .sass = {{"IMAD", count, count + 8, assay::SassWhere::kernel}},
           .ptx = ptx(count, target)}};
}

void run(assay::State& s) {
  const std::vector<char> cubin =
      assay::assemble(kernels(s.which(), s.target()).front(), s.target());
  s.set_param("cubin_bytes", static_cast<std::int64_t>(cubin.size()));
  auto* result = s.allocate<std::uint32_t>(1);
  std::uint32_t value = 12345, factor = kFactor, expected = value;
  for (std::int64_t i = 0; i < s.i64("instructions"); ++i) expected = expected * factor + expected;

  enum Step { kLoad, kGetKernel, kFirstLaunch, kSecondLaunch, kUnload, kSteps };
  std::array<std::vector<double>, kSteps> us;
  std::vector<double> lazy;
  const auto timed = [&](Step step, const auto& work) {
    const double begin = assay::host_us();
    work();
    us[step].push_back(assay::host_us() - begin);
  };
  const auto one = [&] {
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    timed(kLoad, [&] {
      check(cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    });
    timed(kGetKernel, [&] { check(cudaLibraryGetKernel(&kernel, library, "compute")); });
    void* arguments[] = {&result, &value, &factor};
    for (const Step step : {kFirstLaunch, kSecondLaunch}) {
      check(cudaMemset(result, 0, sizeof *result));
      check(cudaDeviceSynchronize());
      timed(step, [&] {
        assay::launch(kernel, {}, arguments, s.stream());
        check(cudaStreamSynchronize(s.stream()));
      });
      const std::uint32_t found = assay::download(result, 1, s.stream()).front();
      s.require(found == expected,
                fmt::format("the loaded kernel computed {}, expected {}", found, expected));
    }
    timed(kUnload, [&] { check(cudaLibraryUnload(library)); });
    lazy.push_back(us[kFirstLaunch].back() - us[kSecondLaunch].back());
    return 1e3 * (us[kLoad].back() + us[kGetKernel].back() + us[kFirstLaunch].back());
  };
  s.sample({}, one);
  constexpr const char* kNames[] = {"load_us", "get_kernel_us", "first_launch_us",
                                    "second_launch_us", "unload_us"};
  for (int step = 0; step < kSteps; ++step)
    s.add_metric(kNames[step], "us", Better::lower, us[static_cast<std::size_t>(step)]);
  s.add_metric("lazy_loading_us", "us", Better::lower, lazy);
}

const assay::Registration registration{{
    .name = "launch/module",
    .question = "How long from a cubin in memory to the end of its first kernel?",
    .metrics =
        {{"time_us",
          "Time from the call that loads the library to the end of its kernel's first launch."},
         {"load_us", "CPU time to load the library from memory."},
         {"get_kernel_us", "CPU time to look up the kernel in the library."},
         {"first_launch_us",
          "Time from the first launch to its end, the loading of the code to the GPU included."},
         {"second_launch_us", "Time from the second launch to its end."},
         {"unload_us", "CPU time to unload the library."},
         {"lazy_loading_us", "Time by which the first launch takes longer than the second."}},
    .cases = {{.name = "64", .params = {{"instructions", 64}}, .suite = assay::Suite::full},
              {.name = "4096", .params = {{"instructions", 4096}}, .suite = assay::Suite::full}},
    .pace = assay::Pace::host,
    .kernels = kernels,
    .run = run,
}};

}  // namespace
