// SPDX-License-Identifier: Apache-2.0
#include "harness/ptx_text.hpp"

#include <fmt/format.h>

namespace assay {

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string ptx_text(const PtxKernel& kernel) {
  std::string text = fmt::format(
      ".version 9.0\n.target {}\n.address_size 64\n\n"
      ".visible .entry {}(.param .u64 p_records, .param .u64 p_in, .param .u64 p_out,\n"
      "    .param .u32 p_iterations, .param .u32 p_zero)\n.maxntid {}\n{{\n",
      name(kernel.target), kernel.entry, kernel.threads);
  text +=
      "  .reg .pred %loop, %first, %lead, %warp_lead;\n"
      "  .reg .b32 %iterations, %zero, %thread, %lane, %cta, %sm;\n"
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
      "  setp.eq.u32 %first, %cta, 0;\n";
  text += kernel.setup;
  text +=
      "  bar.sync 0;\n"
      "  mov.u64 %start_ns, %globaltimer;\n"
      "  mov.u64 %start, %clock64;\n"
      "repeat:\n"
      "  .pragma \"nounroll\";\n";  // of the loop whose header is the current basic block
  text += kernel.loop;
  // As class Stopwatch does: the latest of the warps' stops stands. The record is 40 bytes.
  text +=
      "  sub.u32 %iterations, %iterations, 1;\n"
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
  return text + "  ret;\n}\n";
}

}  // namespace assay
