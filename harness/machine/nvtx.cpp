// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/nvtx.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

namespace assay {
namespace {
nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("assay");
  return handle;
}
}  // namespace

NvtxRange::NvtxRange(const std::string& name) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name.c_str();
  nvtxDomainRangePushEx(domain(), &attributes);
}
NvtxRange::~NvtxRange() { nvtxDomainRangePop(domain()); }
}  // namespace assay

#else

namespace assay {
NvtxRange::NvtxRange(const std::string&) {}
NvtxRange::~NvtxRange() = default;
}  // namespace assay

#endif
