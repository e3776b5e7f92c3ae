// SPDX-License-Identifier: Apache-2.0
// Forms of tcgen05 beside the multiplication: allocation, loads, stores and copies of tensor
// memory, and what orders them. PTX ISA 9.0, "TensorCore 5th generation family instructions".
#include <fmt/format.h>

#include "harness/instruction/notation.hpp"
#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

// Lanes by bits of a row, and the registers of one repetition.
struct Shape {
  const char* name;
  int registers, most;      // of one repetition; most repetitions
  const char* offset = "";  // the second half's, an immediate
};
const Shape kShapes[] = {{"32x32b", 1, 128},
                         {"16x64b", 1, 128},
                         {"16x128b", 2, 64},
                         {"16x256b", 4, 32},
                         {"16x32bx2", 1, 128, ", 16"}};

const InstructionForms moves{
    "tcgen05.ld tcgen05.st", [] {
      std::string lines;
      for (const Shape& s : kShapes)
        for (int times = 1; times <= s.most; times *= 2) {
          lines += fmt::format(
              "tcgen05.ld.sync.aligned.{0}.x{1}(|.pack::16b).b32 {{%r[0:{2}]}}, [%tmem]{3};\n"
              "tcgen05.st.sync.aligned.{0}.x{1}(|.unpack::16b).b32 [%tmem]{3}, {{%r[0:{2}]}};\n",
              s.name, times, times * s.registers, s.offset);
        }
      lines += "tcgen05.wait::(ld|st).sync.aligned;";
      return notation::rows_of(lines);
    }()};

const InstructionForms reductions{
    "tcgen05.ld.red", [] {
      std::string lines;
      for (const Shape& s : {kShapes[0], kShapes[4]})
        for (const int times : {2, 16, 128}) {
          lines += fmt::format(
              "tcgen05.ld.red.sync.aligned.{0}.x{1}.(min|max).(u32|s32) {{%r[0:{2}]}}, %r200, "
              "[%tmem]{3};\n"
              "tcgen05.ld.red.sync.aligned.{0}.x{1}.(min|max)(|.abs)(|.NaN).f32 {{%r[0:{2}]}}, "
              "%r200, "
              "[%tmem]{3};\n",
              s.name, times, times, s.offset);
        }
      return notation::rows_of(lines);
    }()};

const InstructionForms others{"tcgen05 management", notation::rows_of(R"(
    tcgen05.alloc.cta_group::(1|2).sync.aligned.shared::cta.b32 [%usmem], 64;
    tcgen05.alloc.cta_group::(1|2).sync.aligned.b32 [%generic], 64;
    tcgen05.dealloc.cta_group::(1|2).sync.aligned.b32 %tmem, 64;
    tcgen05.relinquish_alloc_permit.cta_group::(1|2).sync.aligned;
    tcgen05.cp.cta_group::(1|2).(128x256b|4x256b|128x128b|64x128b.warpx2::02_13|64x128b.warpx2::01_23|32x128b.warpx4)(|.b8x16.b6x16_p32|.b8x16.b4x16_p64) [%tmem], %adesc;
    tcgen05.shift.cta_group::(1|2).down [%tmem];
    tcgen05.commit.cta_group::(1|2).mbarrier::arrive::one.shared::cluster.b64 [%bar];
    tcgen05.commit.cta_group::(1|2).mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%bar], %ctas;
    tcgen05.fence::(before|after)_thread_sync;
)")};

}  // namespace
