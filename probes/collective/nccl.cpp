// SPDX-License-Identifier: Apache-2.0
#include "probes/collective/nccl.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "harness/error.hpp"

namespace assay::nccl {

const Library& Library::get() {
  static const Library library;
  return library;
}

// Forbidden first: NCCL reads its variable once.
Library::Library()
    : library_((forbid_nvlink_multicast(), DynamicLibrary::open(assay::Library::nccl))) {
  check(get_version(&version));
}

void Library::check(ncclResult_t result, std::source_location where) const {
  if (result == ncclSuccess) return;
  throw Error(ExitCode::failed, fmt::format("NCCL: {} ({}) at {}:{}; NCCL_DEBUG=WARN tells more",
                                            error_string(result), last_error(nullptr),
                                            where.file_name(), where.line()));
}

std::string version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

Multicast multicast_policy(const char* nvls_enable, const char* allow) {
  if (allow && std::string(allow) == "1") return Multicast::allowed;
  if (!nvls_enable || !*nvls_enable) return Multicast::off;
  char* end = nullptr;
  const long value = std::strtol(nvls_enable, &end, 0);  // as NCCL reads it
  return value == 0 && end != nvls_enable && !*end ? Multicast::off : Multicast::refused;
}

Multicast forbid_nvlink_multicast() {
  const char* nvls_enable = std::getenv("NCCL_NVLS_ENABLE");
  const Multicast policy =
      multicast_policy(nvls_enable, std::getenv("ASSAY_ALLOW_NVLINK_MULTICAST"));
  if (policy == Multicast::refused)
    throw Error(
        ExitCode::usage,
        fmt::format(
            "NCCL_NVLS_ENABLE={} asks for NVLink multicast, which can take a shared host's GPUs "
            "out of service: unset it, or set ASSAY_ALLOW_NVLINK_MULTICAST=1 if the host is "
            "yours alone",
            nvls_enable));
  if (policy == Multicast::off) setenv("NCCL_NVLS_ENABLE", "0", 1);
  return policy;
}

}  // namespace assay::nccl
