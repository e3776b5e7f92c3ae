// SPDX-License-Identifier: Apache-2.0
// NCCL, opened at run time, with NVLink multicast kept off.
//
// Only what the probes call is declared here, as nccl.h of 2.28 has it; a test compares the values
// with the header where there is one.
#pragma once
#include <driver_types.h>

#include <cstddef>
#include <source_location>
#include <string>

namespace assay::nccl {

struct Comm;  // ncclComm
enum class DataType : unsigned { bf16 = 9, e4m3 = 10 };
enum class Reduction : unsigned { sum = 0 };
using Result = unsigned;  // 0 is success

// The functions of the library. One per process.
class Library {
 public:
  // Opens NCCL after forbid_nvlink_multicast(). Throws what that throws, and Error(unfit) if there
  // is no NCCL.
  static const Library& get();

  int version;  // 22809 is 2.28.9
  std::string path;
  Result (*comm_init_all)(Comm** comms, int gpus, const int* devices);
  Result (*comm_destroy)(Comm*);
  Result (*group_start)();
  Result (*group_end)();
  Result (*all_reduce)(const void* send, void* receive, std::size_t count, DataType, Reduction,
                       Comm*, cudaStream_t);
  Result (*all_gather)(const void* send, void* receive, std::size_t send_count, DataType, Comm*,
                       cudaStream_t);

  // Throws Error(failed) naming NCCL's error, the file and the line of the call.
  void check(Result result, std::source_location where = std::source_location::current()) const;

 private:
  Library();
  const char* (*error_string_)(Result);
  const char* (*last_error_)(Comm*);
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
