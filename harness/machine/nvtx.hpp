// SPDX-License-Identifier: Apache-2.0
// One NVTX range per measurement, domain "assay", so that nsys and ncu land on it:
//   ncu --nvtx --nvtx-include "assay@memory/hbm/copy/" ...
#pragma once
#include <string>

namespace assay {

class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;  // a range ends once
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace assay
