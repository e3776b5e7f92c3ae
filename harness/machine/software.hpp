// SPDX-License-Identifier: Apache-2.0
// Which of NVIDIA's libraries and tools this machine has.
#pragma once
#include <string>
#include <vector>

namespace assay {

struct Software {
  std::string name;     // "NCCL"
  std::string version;  // "2.28.9"; empty if it does not tell without being opened
  std::string path;     // a home folder is written ~
  std::string missing;  // why it cannot be used and how to mend it; empty if it can
};

// The libraries opened at run time, then the tools. Takes some 50 ms: nothing is initialized, and
// cuBLASLt, which is slow to open, is only looked for.
std::vector<Software> installed_software();

}  // namespace assay
