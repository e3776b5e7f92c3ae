// SPDX-License-Identifier: Apache-2.0
// NCCL, opened at run time, with NVLink multicast kept off.
#pragma once
#include <nccl.h>

#include <source_location>
#include <string>

#include "harness/machine/dynamic_library.hpp"

namespace assay::nccl {

// The functions of the library. One per process.
class Library {
 public:
  // Opens NCCL after forbid_nvlink_multicast(). Throws what that throws, and Error(unfit) if there
  // is no NCCL.
  static const Library& get();

  // Throws Error(failed) naming NCCL's error, the file and the line of the call.
  void check(ncclResult_t result,
             std::source_location where = std::source_location::current()) const;

 private:
  Library();
  DynamicLibrary library_;

 public:
  decltype(&ncclCommInitAll) comm_init_all = library_["ncclCommInitAll"];
  decltype(&ncclCommDestroy) comm_destroy = library_["ncclCommDestroy"];
  decltype(&ncclGroupStart) group_start = library_["ncclGroupStart"];
  decltype(&ncclGroupEnd) group_end = library_["ncclGroupEnd"];
  decltype(&ncclAllReduce) all_reduce = library_["ncclAllReduce"];
  decltype(&ncclAllGather) all_gather = library_["ncclAllGather"];
  decltype(&ncclGetErrorString) error_string = library_["ncclGetErrorString"];
  decltype(&ncclGetLastError) last_error = library_["ncclGetLastError"];
  decltype(&ncclGetVersion) get_version = library_["ncclGetVersion"];
  int version = 0;  // 22809 is 2.28.9
};

inline constexpr int kFirstWithFp8 = 22403;  // 2.24.3, see its release notes

// "2.28.9".
std::string version_text(int version);

// What the environment says about NVLink multicast. NCCL takes it up by itself (NVLS) wherever the
// hardware can, and its misuse can take a shared host's GPUs out of service, so it is off unless
// asked for by name.
enum class Multicast { off, allowed, refused };

// `nvls_enable` is $NCCL_NVLS_ENABLE, `allow` $ASSAY_ALLOW_NVLINK_MULTICAST; null if unset.
// off: to be kept off; allowed: by ASSAY_ALLOW_NVLINK_MULTICAST=1, nothing is changed then;
// refused: NCCL_NVLS_ENABLE asks for it, or says something NCCL would not read as 0, without that.
Multicast multicast_policy(const char* nvls_enable, const char* allow);

// Sets NCCL_NVLS_ENABLE=0 for this process, as multicast_policy() says. To be called before NCCL is
// loaded: it reads the variable once. Says whether multicast is off or allowed; throws Error(usage)
// where the policy is to refuse.
Multicast forbid_nvlink_multicast();

}  // namespace assay::nccl
