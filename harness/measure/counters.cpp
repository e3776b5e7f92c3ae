// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/counters.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "harness/callable.hpp"
#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "harness/machine/dynamic_library.hpp"

#ifdef ASSAY_HAS_CUPTI
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#endif

namespace assay {
namespace {

struct Explanation {
  int result;  // CUptiResult, cupti_result.h of CUDA 13.0
  const char* text;
};
constexpr Explanation kExplanations[] = {
    {1, "this CUPTI does not know one of the metrics"},
    {26, "the counters are in use: end the other profiler or monitor (ncu, nsys, dcgm) first"},
    {33, "the GPU is virtual and its host does not offer profiling: enable it for this vGPU"},
    {35,
     "the driver lets only administrators read them: run as root, grant CAP_PERFMON (driver 565 or "
     "newer) or, in a container, --cap-add=SYS_ADMIN, or load the driver with "
     "NVreg_RestrictProfilingToAdminUsers=0; see developer.nvidia.com/ERR_NVGPUCTRPERM"},
    {36, "the program has already used CUPTI's older profiler interface"},
    {38, "the GPU is too old for this CUPTI"},
    {39, "another tool is attached to CUPTI: run without nsys, ncu, cuda-gdb or compute-sanitizer"},
    {40, "the GPU is virtual and its host withholds profiling: ask for enable_profiling"},
    {41, "the GPU is in confidential-computing mode, which forbids profiling"},
    {42, "mining GPUs do not offer profiling"},
    {43, "the GPU is a MIG instance, which this CUPTI does not profile: use a whole GPU"},
    {44, "the GPU is in SLI mode, which forbids profiling: turn it off"},
    {45, "WSL does not offer profiling unless it is enabled in the Windows driver's settings"},
    {46, "this CUPTI does not know the chip: install the CUPTI of a newer CUDA toolkit"},
};

}  // namespace

std::string explain_cupti(int result, std::string_view function) {
  for (const Explanation& known : kExplanations)
    if (known.result == result) return std::string("counters unavailable: ") + known.text;
  return "counters unavailable: " + std::string(function) + " failed with CUPTI error " +
         std::to_string(result);
}

std::vector<std::string> counters_for(Target target) {
  std::vector<std::string> metrics;
  for (const Counter& counter : kCounters)
    if (has(target, counter.needs)) metrics.emplace_back(counter.metric);
  return metrics;
}

#ifdef ASSAY_HAS_CUPTI

namespace {
using Image = std::vector<std::uint8_t>;

struct CuptiError {
  int result;
  std::string_view function;
};

// Every function of the two interfaces takes one parameter block, which names its own type.
class Cupti {
 public:
  template <class Params>
  CUptiResult try_call(const char* function, Params& params) const {
    CUptiResult (*called)(Params*) = library_[function];
    return called(&params);
  }
  template <class Params>
  void call(const char* function, Params& params) const {
    if (const CUptiResult result = try_call(function, params)) throw CuptiError{result, function};
  }

 private:
  // CUPTI asks the loader for its host library by name alone; once opened, that name is known.
  DynamicLibrary host_library_ = DynamicLibrary::open(Library::nvperf_host);
  DynamicLibrary library_ = DynamicLibrary::open(Library::cupti);
};

std::vector<const char*> pointers(const std::vector<std::string>& names) {
  std::vector<const char*> result;
  for (const std::string& name : names) result.push_back(name.c_str());
  return result;
}

// CUPTI's knowledge of one chip: turns metrics into a configuration, and counts into values.
class Host {
 public:
  // `availability` tells what one GPU offers of its chip's counters; empty: all of them.
  Host(const Cupti& cupti, const std::string& chip, const Image& availability = {})
      : cupti_(cupti) {
    CUpti_Profiler_Host_Initialize_Params params{CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip.c_str();
    params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
    cupti_.call("cuptiProfilerHostInitialize", params);
    object_ = params.pHostObject;
  }
  ~Host() {
    CUpti_Profiler_Host_Deinitialize_Params params{
        CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE};
    params.pHostObject = object_;
    cupti_.try_call("cuptiProfilerHostDeinitialize", params);
  }
  Host(const Host&) = delete;  // one owner
  Host& operator=(const Host&) = delete;

  // What the GPU is to count in each pass. To be called once: metrics add up in the object.
  Image configure(const std::vector<std::string>& metrics) const {
    std::vector<const char*> names = pointers(metrics);
    CUpti_Profiler_Host_ConfigAddMetrics_Params add{
        CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE};
    add.pHostObject = object_;
    add.ppMetricNames = names.data();
    add.numMetrics = names.size();
    cupti_.call("cuptiProfilerHostConfigAddMetrics", add);

    CUpti_Profiler_Host_GetConfigImageSize_Params size{
        CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE};
    size.pHostObject = object_;
    cupti_.call("cuptiProfilerHostGetConfigImageSize", size);

    Image image(size.configImageSize);
    CUpti_Profiler_Host_GetConfigImage_Params get{
        CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE};
    get.pHostObject = object_;
    get.configImageSize = image.size();
    get.pConfigImage = image.data();
    cupti_.call("cuptiProfilerHostGetConfigImage", get);
    return image;
  }

  std::map<std::string, double> evaluate(const Image& counts,
                                         const std::vector<std::string>& metrics) const {
    std::vector<const char*> names = pointers(metrics);
    std::vector<double> values(metrics.size());
    CUpti_Profiler_Host_EvaluateToGpuValues_Params params{
        CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE};
    params.pHostObject = object_;
    params.pCounterDataImage = counts.data();
    params.counterDataImageSize = counts.size();
    params.ppMetricNames = names.data();
    params.numMetrics = names.size();
    params.pMetricValues = values.data();
    cupti_.call("cuptiProfilerHostEvaluateToGpuValues", params);
    std::map<std::string, double> result;
    for (std::size_t i = 0; i < metrics.size(); ++i) result[metrics[i]] = values[i];
    return result;
  }

 private:
  const Cupti& cupti_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

int passes_in(const Cupti& cupti, Image config) {
  CUpti_Profiler_Host_GetNumOfPasses_Params params{
      CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE};
  params.configImageSize = config.size();
  params.pConfigImage = config.data();
  cupti.call("cuptiProfilerHostGetNumOfPasses", params);
  return static_cast<int>(params.numOfPasses);
}

bool schedulable(const Cupti& cupti, const std::string& chip, const Image& availability,
                 const std::vector<std::string>& metrics) {
  const Host host(cupti, chip, availability);
  try {
    return passes_in(cupti, host.configure(metrics)) > 0;
  } catch (const CuptiError&) {
    return false;
  }
}

// The profiler's hooks in the driver. They slow launches down, so they stay only while in use.
class Hooks {
 public:
  explicit Hooks(const Cupti& cupti) : cupti_(cupti) {
    CUpti_Profiler_Initialize_Params params{CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    cupti_.call("cuptiProfilerInitialize", params);
  }
  ~Hooks() {
    CUpti_Profiler_DeInitialize_Params params{CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE};
    cupti_.try_call("cuptiProfilerDeInitialize", params);
  }
  Hooks(const Hooks&) = delete;  // one owner
  Hooks& operator=(const Hooks&) = delete;

 private:
  const Cupti& cupti_;
};

// Counting on one context.
class RangeProfiler {
 public:
  RangeProfiler(const Cupti& cupti, CUcontext context) : cupti_(cupti) {
    CUpti_RangeProfiler_Enable_Params params{CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE};
    params.ctx = context;
    cupti_.call("cuptiRangeProfilerEnable", params);
    object_ = params.pRangeProfilerObject;
  }
  ~RangeProfiler() {
    auto params =
        about<CUpti_RangeProfiler_Disable_Params>(CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
    cupti_.try_call("cuptiRangeProfilerDisable", params);
  }
  RangeProfiler(const RangeProfiler&) = delete;  // one owner
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  // Counts of one range around `launch_once`, which is repeated until every pass is done.
  Image count(const Image& config, const std::vector<std::string>& metrics,
              const Callable<void()>& launch_once) const {
    Image counts = empty_counts(metrics);
    auto set = about<CUpti_RangeProfiler_SetConfig_Params>(
        CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
    set.configSize = config.size();
    set.pConfig = config.data();
    set.counterDataImageSize = counts.size();
    set.pCounterDataImage = counts.data();
    set.range = CUPTI_UserRange;
    set.replayMode = CUPTI_UserReplay;
    set.maxRangesPerPass = 1;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.targetNestingLevel = 1;
    cupti_.call("cuptiRangeProfilerSetConfig", set);

    auto start =
        about<CUpti_RangeProfiler_Start_Params>(CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
    auto push = about<CUpti_RangeProfiler_PushRange_Params>(
        CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);
    push.pRangeName = "measured";
    auto pop =
        about<CUpti_RangeProfiler_PopRange_Params>(CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
    auto stop = about<CUpti_RangeProfiler_Stop_Params>(CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
    do {
      cupti_.call("cuptiRangeProfilerStart", start);
      cupti_.call("cuptiRangeProfilerPushRange", push);
      launch_once();
      check(cudaDeviceSynchronize());
      cupti_.call("cuptiRangeProfilerPopRange", pop);
      cupti_.call("cuptiRangeProfilerStop", stop);
    } while (!stop.isAllPassSubmitted);

    auto decode = about<CUpti_RangeProfiler_DecodeData_Params>(
        CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
    cupti_.call("cuptiRangeProfilerDecodeData", decode);
    return counts;
  }

 private:
  template <class Params>
  Params about(std::size_t size) const {
    Params params{size};
    params.pRangeProfilerObject = object_;
    return params;
  }

  Image empty_counts(const std::vector<std::string>& metrics) const {
    std::vector<const char*> names = pointers(metrics);
    auto size = about<CUpti_RangeProfiler_GetCounterDataSize_Params>(
        CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    cupti_.call("cuptiRangeProfilerGetCounterDataSize", size);
    Image counts(size.counterDataSize);
    auto initialize = about<CUpti_RangeProfiler_CounterDataImage_Initialize_Params>(
        CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
    initialize.counterDataSize = counts.size();
    initialize.pCounterData = counts.data();
    cupti_.call("cuptiRangeProfilerCounterDataImageInitialize", initialize);
    return counts;
  }

  const Cupti& cupti_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

std::string chip_name(const Cupti& cupti, int index) {
  CUpti_Device_GetChipName_Params params{CUpti_Device_GetChipName_Params_STRUCT_SIZE};
  params.deviceIndex = static_cast<std::size_t>(index);
  cupti.call("cuptiDeviceGetChipName", params);
  return params.pChipName;
}

Image counter_availability(const Cupti& cupti, CUcontext context) {
  CUpti_Profiler_GetCounterAvailability_Params params{
      CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE};
  params.ctx = context;
  cupti.call("cuptiProfilerGetCounterAvailability", params);  // with no image: its size
  Image image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  cupti.call("cuptiProfilerGetCounterAvailability", params);
  return image;
}

CUcontext current_context() {
  // Creates the primary context if there is none yet.
  if (const cudaError_t error = cudaFree(nullptr))
    throw Error(ExitCode::unfit, cudaGetErrorString(error));
  CUcontext context = nullptr;
  const decltype(&cuCtxGetCurrent) get =
      DynamicLibrary::open(Library::cuda_driver)["cuCtxGetCurrent"];
  if (get(&context) != CUDA_SUCCESS || !context)
    throw Error(ExitCode::failed, "the CUDA runtime has no current context");
  return context;
}

// Runs `work`, and turns what stands in the way of counters into a reason.
template <class T>
OrReason<T> with_cupti(const Callable<T(const Cupti&)>& work) {
  try {
    return work(Cupti());
  } catch (const CuptiError& error) {
    return OrReason<T>::missing(explain_cupti(error.result, error.function));
  } catch (const Error& error) {
    if (error.code() != ExitCode::unfit) throw;
    return OrReason<T>::missing(std::string("counters unavailable: ") + error.what());
  }
}

}  // namespace

OrReason<std::map<std::string, double>> collect_counters(int index,
                                                         std::vector<std::string> metrics,
                                                         const Callable<void()>& launch_once) {
  return with_cupti<std::map<std::string, double>>([&](const Cupti& cupti) {
    const CUcontext context = current_context();
    const Hooks hooks(cupti);
    const std::string chip = chip_name(cupti, index);
    const Image available = counter_availability(cupti, context);
    if (!schedulable(cupti, chip, available, metrics))
      std::erase_if(metrics, [&](const std::string& metric) {
        return !schedulable(cupti, chip, available, {metric});
      });
    if (metrics.empty()) return std::map<std::string, double>{};
    const Host host(cupti, chip, available);
    const Image config = host.configure(metrics);
    const RangeProfiler profiler(cupti, context);
    return host.evaluate(profiler.count(config, metrics, launch_once), metrics);
  });
}

OrReason<std::vector<std::string>> unschedulable(const std::string& chip,
                                                 const std::vector<std::string>& metrics) {
  return with_cupti<std::vector<std::string>>([&](const Cupti& cupti) {
    std::vector<std::string> refused;
    std::copy_if(
        metrics.begin(), metrics.end(), std::back_inserter(refused),
        [&](const std::string& metric) { return !schedulable(cupti, chip, {}, {metric}); });
    return refused;
  });
}

OrReason<int> pass_count(const std::string& chip, const std::vector<std::string>& metrics) {
  return with_cupti<int>(
      [&](const Cupti& cupti) { return passes_in(cupti, Host(cupti, chip).configure(metrics)); });
}

#else

namespace {
constexpr const char* kBuiltWithout =
    "counters unavailable: built without CUPTI headers; build with those of the CUDA toolkit";
}

OrReason<std::map<std::string, double>> collect_counters(int, std::vector<std::string>,
                                                         const Callable<void()>&) {
  return OrReason<std::map<std::string, double>>::missing(kBuiltWithout);
}

OrReason<std::vector<std::string>> unschedulable(const std::string&,
                                                 const std::vector<std::string>&) {
  return OrReason<std::vector<std::string>>::missing(kBuiltWithout);
}

OrReason<int> pass_count(const std::string&, const std::vector<std::string>&) {
  return OrReason<int>::missing(kBuiltWithout);
}

#endif

}  // namespace assay
