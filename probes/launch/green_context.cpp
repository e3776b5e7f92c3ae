// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/green_context.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harness/error.hpp"
#include "harness/machine/dynamic_library.hpp"
#include "probes/launch/clock.hpp"

namespace assay {

class SmPartitions::Impl {
 public:
  explicit Impl(int device_index) {
    driver_.check(driver_.device(&device_, device_index), "cuDeviceGet");
    driver_.check(driver_.resource(device_, &all_, CU_DEV_RESOURCE_TYPE_SM),
                  "cuDeviceGetDevResource");
  }
  ~Impl() {
    for (CUstream stream : streams_) driver_.destroy_stream(stream);
    for (const Part& part : parts_) driver_.destroy(part.context);
  }
  Impl(const Impl&) = delete;  // owns contexts
  Impl& operator=(const Impl&) = delete;

  const CUdevSmResource& all() const { return all_.sm; }

  // `groups` groups of at least `sms` SMs each, and with `rest` what is left.
  void split(unsigned groups, unsigned sms, bool rest) {
    std::vector<CUdevResource> resources(groups);
    CUdevResource remaining{};
    unsigned found = groups;
    driver_.check(driver_.split(resources.data(), &found, &all_, &remaining, 0, sms),
                  "cuDevSmResourceSplitByCount");
    if (found < groups)
      throw Error(ExitCode::unfit, fmt::format("the {} SMs make {} parts of {} SMs, not {}",
                                               all_.sm.smCount, found, sms, groups));
    if (rest) resources.push_back(remaining);
    const double begin = host_us();
    for (CUdevResource& resource : resources) {
      CUdevResourceDesc description = nullptr;
      driver_.check(driver_.describe(&description, &resource, 1), "cuDevResourceGenerateDesc");
      CUgreenCtx context = nullptr;
      driver_.check(driver_.create(&context, description, device_, CU_GREEN_CTX_DEFAULT_STREAM),
                    "cuGreenCtxCreate");
      parts_.push_back({context, static_cast<int>(resource.sm.smCount)});
    }
    create_us_ = host_us() - begin;
  }

  struct Part {
    CUgreenCtx context;
    int sms;
  };
  const std::vector<Part>& parts() const { return parts_; }
  double create_us() const { return create_us_; }

  CUstream stream(std::size_t part) {
    CUstream stream = nullptr;
    driver_.check(
        driver_.create_stream(&stream, parts_.at(part).context, CU_STREAM_NON_BLOCKING, 0),
        "cuGreenCtxStreamCreate");
    streams_.push_back(stream);
    return stream;
  }

 private:
  // The driver's functions behind it. Throws Error(unfit) if one is missing.
  struct Driver {
    DynamicLibrary library = DynamicLibrary::open(Library::cuda_driver);
    decltype(&cuGetErrorString) error_string = library["cuGetErrorString"];
    decltype(&cuDeviceGet) device = library["cuDeviceGet"];
    decltype(&cuDeviceGetDevResource) resource = library["cuDeviceGetDevResource"];
    decltype(&cuDevSmResourceSplitByCount) split = library["cuDevSmResourceSplitByCount"];
    decltype(&cuDevResourceGenerateDesc) describe = library["cuDevResourceGenerateDesc"];
    decltype(&cuGreenCtxCreate) create = library["cuGreenCtxCreate"];
    decltype(&cuGreenCtxDestroy) destroy = library["cuGreenCtxDestroy"];
    decltype(&cuGreenCtxStreamCreate) create_stream = library["cuGreenCtxStreamCreate"];
    decltype(&cuStreamDestroy) destroy_stream = library["cuStreamDestroy_v2"];

    void check(CUresult status, const char* call) const {
      if (status == CUDA_SUCCESS) return;
      const char* text = nullptr;
      error_string(status, &text);
      throw Error(ExitCode::unfit, fmt::format("{}: {}", call, text ? text : "unknown error"));
    }
  };

  Driver driver_;
  CUdevice device_ = 0;
  CUdevResource all_{};
  std::vector<Part> parts_;
  std::vector<CUstream> streams_;
  double create_us_ = 0;
};

template <class Split>
OrReason<SmPartitions> SmPartitions::make(int device_index, const Split& split) {
  try {
    auto impl = std::make_shared<Impl>(device_index);
    split(*impl);
    return SmPartitions(std::move(impl));
  } catch (const Error& error) {
    return OrReason<SmPartitions>::missing(std::string("no green contexts: ") + error.what());
  }
}

OrReason<SmPartitions> SmPartitions::evenly(int device_index, unsigned parts) {
  return make(device_index, [parts](Impl& impl) {
    const unsigned step = std::max(impl.all().smCoscheduledAlignment, 1u);
    impl.split(parts, impl.all().smCount / parts / step * step, false);
  });
}

OrReason<SmPartitions> SmPartitions::apart(int device_index, unsigned sms) {
  return make(device_index, [sms](Impl& impl) { impl.split(1, sms, true); });
}

std::size_t SmPartitions::count() const { return impl_->parts().size(); }
int SmPartitions::sms(std::size_t part) const { return impl_->parts().at(part).sms; }
cudaStream_t SmPartitions::stream(std::size_t part) const { return impl_->stream(part); }
double SmPartitions::create_us() const { return impl_->create_us(); }

}  // namespace assay
