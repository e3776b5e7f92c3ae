// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction/ptx_text.hpp"

#include <fmt/format.h>

#include "harness/instruction/kernel_text.hpp"

namespace assay {

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string ptx_text(const PtxKernel& kernel) {
  PtxEntry entry{.name = kernel.entry,
                 .parameters = {".param .u64 p_records", ".param .u64 p_in", ".param .u64 p_out",
                                ".param .u32 p_iterations", ".param .u32 p_zero"},
                 .threads = kernel.threads};
  if (kernel.cluster > 1)
    entry.directives = {".explicitcluster",
                        fmt::format(".reqnctapercluster {}, 1, 1", kernel.cluster)};
  std::string& text = entry.body;
  text =
      "  .reg .pred %loop, %first, %lead, %warp_lead, %other_warp;\n"
      "  .reg .b32 %iterations, %zero, %one, %thread, %lane, %cta, %sm, %tmem;\n"
      "  .reg .b64 %records, %in, %out, %start, %stop, %start_ns, %stop_ns;\n";
  text += kernel.declarations;
  text +=
      "  ld.param.u64 %records, [p_records];\n"
      "  ld.param.u64 %in, [p_in];\n"
      "  ld.param.u64 %out, [p_out];\n"
      "  ld.param.u32 %iterations, [p_iterations];\n"
      "  ld.param.u32 %zero, [p_zero];\n"
      "  mov.u32 %thread, %tid.x;\n"
      "  mov.u32 %cta, %ctaid.x;\n"
      "  setp.eq.u32 %lead, %thread, 0;\n"
      "  setp.eq.u32 %first, %cta, 0;\n"
      // Grids are one CTA high, which the assembler does not know: a loop that counts down by that
      // is not unrolled. A nounroll pragma would do too, were it not ignored (ptxas 13.0) in
      // kernels that allocate tensor memory.
      "  mov.u32 %one, %nctaid.y;\n";
  text += kernel.setup;
  text +=
      "  bar.sync 0;\n"
      "  mov.u64 %start_ns, %globaltimer;\n"
      "  mov.u64 %start, %clock64;\n"
      "repeat:\n";
  text += kernel.loop;
  // As class Stopwatch does: the latest of the warps' stops stands. The record is 40 bytes.
  text +=
      "  sub.u32 %iterations, %iterations, %one;\n"
      "  setp.ne.u32 %loop, %iterations, 0;\n"
      "  @%loop bra repeat;\n"
      "  bar.sync 0;\n"
      "  mov.u64 %stop, %clock64;\n"
      "  mov.u64 %stop_ns, %globaltimer;\n"
      "  mov.u32 %sm, %smid;\n"
      "  and.b32 %lane, %thread, 31;\n"
      "  setp.eq.u32 %warp_lead, %lane, 0;\n"
      "  mad.wide.u32 %records, %cta, 40, %records;\n"
      "  @%lead st.global.u64 [%records], %start;\n"
      "  @%warp_lead red.relaxed.gpu.global.max.u64 [%records+8], %stop;\n"
      "  @%lead st.global.u64 [%records+16], %start_ns;\n"
      "  @%warp_lead red.relaxed.gpu.global.max.u64 [%records+24], %stop_ns;\n"
      "  @%lead st.global.u32 [%records+32], %sm;\n";
  text += kernel.finish;
  return module_header(name(kernel.target)) + kernel.globals + entry_text(entry);
}

std::string load_tile(int bytes, int threads) {
  return fmt::format(
      "  {{\n"
      "  .reg .pred %more;\n  .reg .b32 %word, %value, %at;\n  .reg .b64 %from;\n"
      "  mov.u32 %word, %thread;\n"
      "  setp.ge.u32 %more, %word, {1};\n"
      "  @%more bra filled;\n"
      "fill:\n"
      "  mad.wide.u32 %from, %word, 4, %in;\n"
      "  ld.global.b32 %value, [%from];\n"
      "  shl.b32 %at, %word, 2;\n"
      "  add.u32 %at, %at, %tile;\n"
      "  st.shared.b32 [%at], %value;\n"
      "  add.u32 %word, %word, {0};\n"
      "  setp.lt.u32 %more, %word, {1};\n"
      "  @%more bra fill;\n"
      "filled:\n"
      "  fence.proxy.async.shared::cta;\n"  // written by stores, read by the tensor cores
      "  }}\n",
      threads, bytes / 4);
}

std::string allocate_tensor_memory(const std::string& slot, const TensorMemory& memory) {
  const std::string permit = fmt::format(
      "  tcgen05.relinquish_alloc_permit.cta_group::{}.sync.aligned;\n", memory.cta_group);
  return fmt::format(
      "  setp.ge.u32 %other_warp, %thread, 32;\n"
      "  @%other_warp bra allocated;\n"
      "  tcgen05.alloc.cta_group::{1}.sync.aligned.shared::cta.b32 [{0}], {2};\n"
      "{3}"
      "allocated:\n"
      "  tcgen05.fence::before_thread_sync;\n"
      "  bar.sync 0;\n"
      "  tcgen05.fence::after_thread_sync;\n"
      "  ld.shared.b32 %tmem, [{0}];\n",
      slot, memory.cta_group, memory.columns, memory.allocates_more ? "" : permit);
}

std::string release_tensor_memory(const TensorMemory& memory) {
  return fmt::format(
      "  tcgen05.fence::before_thread_sync;\n"
      "  bar.sync 0;\n"
      "  tcgen05.fence::after_thread_sync;\n"
      "  @%other_warp bra released;\n"
      "  tcgen05.dealloc.cta_group::{}.sync.aligned.b32 %tmem, {};\n"
      "released:\n",
      memory.cta_group, memory.columns);
}

}  // namespace assay
