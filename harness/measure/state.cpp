// SPDX-License-Identifier: Apache-2.0
#include "harness/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "harness/code/assembler.hpp"
#include "harness/code/sha256.hpp"
#include "harness/error.hpp"
#include "harness/machine/nvtx.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/measure/figures/plausible.hpp"
#include "harness/measure/state_impl.hpp"
#include "harness/measure/sustained.hpp"

namespace assay {
namespace {

std::optional<NvmlDevice> find_in_nvml(const Device& device) {
  const auto nvml = Nvml::open();
  if (!nvml) return std::nullopt;
  const auto found = nvml->device(device.pci_bus_id);
  return found ? std::optional(*found) : std::nullopt;
}

// Makes this process's context. NVML may list it under a process id that it does not know itself by
// (in a container), or not at all: whether one more process is listed tells.
bool make_context(const Device& device, const std::optional<NvmlDevice>& nvml) {
  const int before = nvml ? nvml->processes().value_or(0) : 0;
  check(cudaSetDevice(device.index));
  check(cudaFree(nullptr));
  return nvml && nvml->processes().value_or(0) > before;
}

std::uint64_t hash_of(std::string_view name) {  // FNV-1a: the same on every machine
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char c : name) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

}  // namespace

GpuContext::GpuContext(Device gpu)
    : device(std::move(gpu)),
      nvml(find_in_nvml(device)),
      listed(make_context(device, nvml)),
      stamps(2 * kMaxSms * sizeof(ClockStamp)) {}

std::optional<int> GpuContext::other_processes() const {
  const auto all = nvml ? nvml->processes() : std::nullopt;
  if (!all) return std::nullopt;
  return std::max(0, *all - (listed ? 1 + siblings : 0));
}

State::Impl::Impl(const Probe& probe, const Case& which, const RunOptions& options, GpuContext* gpu)
    : probe(probe),
      which(which),
      options(options),
      gpu(gpu),
      random(options.seed ^ hash_of(probe.full_name(which))) {
  measurement.name = probe.full_name(which);
  measurement.probe = probe.name;
  measurement.kind = probe.kind;
  measurement.pace = probe.pace;
  measurement.params = which.params;
  measurement.conditions.seed = options.seed;
}

State::Impl::~Impl() {
  for (cudaLibrary_t library : libraries) cudaLibraryUnload(library);
}

GpuContext& State::Impl::need_gpu() const {
  if (!gpu)
    throw Error(ExitCode::unfit, measurement.name +
                                     " needs a GPU, and there is none here: run "
                                     "`assay info` to see why");
  return *gpu;
}

bool State::Impl::sustained() const { return is_sustained(which); }

const Case& State::which() const { return impl_.which; }
const Device& State::device() const { return impl_.need_gpu().device; }
Target State::target() const { return impl_.gpu ? impl_.gpu->device.target : Target::host; }
cudaStream_t State::stream() const { return impl_.need_gpu().stream; }
std::uint64_t State::seed() const { return impl_.options.seed ^ hash_of(impl_.measurement.name); }

void* State::allocate(std::size_t bytes) {
  const std::uint64_t free = free_memory_bytes(impl_.need_gpu().device.index);
  if (bytes > free)
    skip(fmt::format("needs {:.3f} GiB of GPU memory, {:.3f} GiB are free", bytes / 0x1p30,
                     free / 0x1p30));
  impl_.buffers.emplace_back(std::max<std::size_t>(bytes, 1));
  return impl_.buffers.back().data();
}

void State::fill_random_bits(void* memory, std::size_t bytes, std::uint64_t salt) {
  random_bits(memory, bytes, impl_.options.seed * 31 + salt, stream());
  check(cudaStreamSynchronize(stream()));
}

const void* State::generated_kernel(std::string_view name) {
  if (!impl_.kernels) impl_.kernels = impl_.probe.kernels(impl_.which, target());
  for (const KernelUse& use : *impl_.kernels) {
    if (use.kernel != name || use.ptx.empty()) continue;
    const std::vector<char> cubin = assemble(use, target());
    cudaLibrary_t library = nullptr;
    check(cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    impl_.libraries.push_back(library);
    impl_.measurement.loaded[use.kernel] = sha256(cubin);
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryGetKernel(&kernel, library, use.kernel.c_str()));
    return kernel;
  }
  throw Error(ExitCode::failed,
              fmt::format("{} generates no kernel named '{}': mend its registration",
                          impl_.measurement.name, name));
}

const Conditions& State::conditions() const { return impl_.measurement.conditions; }

void State::lead_with(std::string metric) { impl_.measurement.primary = std::move(metric); }

void State::add_exact(std::string name, std::string unit, Better better, double value) {
  impl_.add({.name = std::move(name),
             .unit = std::move(unit),
             .better = better,
             .value = value,
             .low = value,
             .high = value});
  impl_.measured = true;
}

void State::add_series(Series series) {
  std::size_t places = 1;
  for (const Axis& axis : series.axes) places *= axis.points.size();
  if (places != series.values.size())
    throw Error(ExitCode::failed,
                fmt::format("series '{}' has {} values for {} places: mend its probe", series.name,
                            series.values.size(), places));
  if (series.low.size() != series.high.size() ||
      (!series.low.empty() && series.low.size() != places))
    throw Error(
        ExitCode::failed,
        fmt::format("series '{}' has intervals for {} of its {} places: add each point with "
                    "Series::add() in its probe",
                    series.name, std::min(series.low.size(), series.high.size()), places));
  impl_.need_description(series.name);
  impl_.measurement.series.push_back(std::move(series));
}

void State::may_be_negative(std::string name) { impl_.differences.insert(std::move(name)); }

void State::limit(std::string name_or_unit, Limit limit) {
  impl_.limits.insert_or_assign(std::move(name_or_unit), std::move(limit));
}

void State::add_flag(std::string flag) { impl_.measurement.flags.push_back(std::move(flag)); }
void State::set_param(std::string key, Value value) {
  impl_.measurement.params[std::move(key)] = std::move(value);
}

void State::record_kernel(std::string name) { impl_.measurement.recorded_kernel = std::move(name); }

void State::require(bool right, std::string_view message) {
  if (!right) throw Error(ExitCode::failed, "wrong result: " + std::string(message));
}

void State::skip(std::string_view reason) { throw Skipped{std::string(reason)}; }

namespace {

using Clock = std::chrono::steady_clock;

// Waits until nothing holds the clock down and it is what it is at rest; a second at most.
void let_recover(GpuContext& gpu) {
  if (!gpu.nvml) return;
  const auto give_up = Clock::now() + std::chrono::seconds(1);
  while (Clock::now() < give_up) {
    const Reading now = gpu.nvml->read();
    if (now.throttle.empty() && now.sm_clock_mhz >= 0.99 * gpu.device.sm_clock_max_mhz) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// A process with a context of its own takes turns with this one on the SMs, and shares caches,
// memory and power with it: what is measured beside it is not what the GPU can do.
// What was seen while the first figure was sampled is among the conditions already.
void note_others(Measurement& found, std::optional<int> before, std::optional<int> after) {
  std::optional<int>& meanwhile = found.conditions.other_processes;
  if (!before && !after && !meanwhile) return;
  const int most = std::max({before.value_or(0), after.value_or(0), meanwhile.value_or(0)});
  meanwhile = most;
  if (most > 0) found.flags.emplace_back("shared_gpu");
}

// What the GPU is like at the end of a case that took no samples.
void note_conditions(Conditions& conditions, const NvmlDevice& nvml) {
  const WatchSummary at_end = summarize({nvml.read()});
  conditions.sm_clock_mhz = at_end.sm_clock_mhz;
  conditions.memory_clock_mhz = at_end.memory_clock_mhz;
  conditions.power_w = at_end.power_w;
  conditions.temperature_c = at_end.temperature_c;
  conditions.throttle = at_end.throttle;
}

}  // namespace

bool is_sustained(const Case& which) {
  const auto found = which.params.find("state");
  const auto* text =
      found == which.params.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text && *text == "sustained";
}

Measurement measure_case(const Probe& probe, const Case& which, const RunOptions& options,
                         GpuContext* gpu) {
  const auto begin = Clock::now();
  const NvtxRange range(probe.full_name(which));
  // A sustained figure begins with a load of its own.
  if (gpu && std::exchange(gpu->strained, false) && !is_sustained(which)) let_recover(*gpu);
  Case asked = which;
  if (options.alone) asked.params[kBaselinesParam] = "none";
  if (!options.sweeps) asked.params[kSweepsParam] = "none";
  if (options.extra_percent) asked.params[kExtraParam] = *options.extra_percent;
  State::Impl impl(probe, asked, options, gpu);
  Measurement& found = impl.measurement;
  const std::optional<int> others_before = gpu ? gpu->other_processes() : std::nullopt;
  try {
    State state(impl);
    probe.run(state);
    if (!impl.measured && found.metrics.empty())
      throw Error(ExitCode::failed, found.name +
                                        " measured nothing: its run() must call cycles(), "
                                        "time(), sample(), compare(), add_metric() or "
                                        "add_exact()");
  } catch (const Skipped& skipped) {
    found.status = Status::skipped;
    found.reason = skipped.reason;
  } catch (const std::exception& error) {
    found.status = Status::failed;
    found.reason = error.what();
  }
  if (found.status == Status::ok && !options.profile) {
    for (Metric& metric : found.metrics)
      metric.signed_value = impl.differences.contains(metric.name);
    for (Series& series : found.series)
      series.signed_values = impl.differences.contains(series.name);
    const GpuBounds bounds = gpu ? GpuBounds{gpu->device.sm_count, gpu->device.sm_clock_max_mhz,
                                             probe.pace != Pace::link}
                                 : GpuBounds{};
    set_limits(found, impl.limits, bounds);
    if (const std::string why = implausible(found, bounds); !why.empty()) {
      found.status = Status::failed;
      found.reason = "refused, it cannot be: " + why;
    }
  }
  if (found.status != Status::ok) {
    found.metrics.clear();
    found.samples.clear();
    found.series.clear();
  } else if (gpu && gpu->nvml && !found.conditions.sm_clock_mhz) {
    note_conditions(found.conditions, *gpu->nvml);
  }
  if (gpu) note_others(found, others_before, gpu->other_processes());
  if (gpu) gpu->strained = impl.sustained() || !found.conditions.throttle.empty();
  found.duration_s = std::chrono::duration<double>(Clock::now() - begin).count();
  return std::move(impl.measurement);
}

}  // namespace assay
