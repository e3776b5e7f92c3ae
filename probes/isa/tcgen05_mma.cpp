// SPDX-License-Identifier: Apache-2.0
// Forms of tcgen05.mma: A from shared memory (SS) or tensor memory (TS); dense, sparse, weight-
// stationary, block-scaled. PTX ISA 9.0, "tcgen05.mma instructions".
#include <fmt/format.h>

#include "harness/instruction/notation.hpp"
#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

constexpr const char* kKinds = "kind::(f16|tf32|f8f6f4|i8)";

const InstructionForms dense{"tcgen05.mma", notation::rows_of(fmt::format(R"(
    tcgen05.mma.cta_group::(1|2).{0} [%tmem], %adesc, %bdesc, %idesc, %enable; # SS
    tcgen05.mma.cta_group::(1|2).{0} [%tmem], [%atmem], %bdesc, %idesc, %enable; # TS
    tcgen05.mma.cta_group::(1|2).kind::(f16|tf32) [%tmem], %adesc, %bdesc, %idesc, %enable, 3; # SS scale-input-d
    tcgen05.mma.cta_group::1.{0} [%tmem], %adesc, %bdesc, %idesc, {{%r[0:4]}}, %enable; # SS disable-output-lane
    tcgen05.mma.cta_group::2.{0} [%tmem], %adesc, %bdesc, %idesc, {{%r[0:8]}}, %enable; # SS disable-output-lane
    tcgen05.mma.cta_group::(1|2).{0}.collector::a::(fill|use|lastuse|discard) [%tmem], %adesc, %bdesc, %idesc, %enable; # SS
    tcgen05.mma.cta_group::(1|2).{0}.ashift(|.collector::a::(lastuse|discard)) [%tmem], [%atmem], %bdesc, %idesc, %enable; # TS
)",
                                                                          kKinds))};

const InstructionForms sparse{"tcgen05.mma.sp", notation::rows_of(fmt::format(R"(
    tcgen05.mma.sp.cta_group::(1|2).{0} [%tmem], %adesc, %bdesc, [%mtmem], %idesc, %enable; # SS
    tcgen05.mma.sp.cta_group::(1|2).{0} [%tmem], [%atmem], %bdesc, [%mtmem], %idesc, %enable; # TS
    tcgen05.mma.sp.cta_group::(1|2).kind::(f16|tf32) [%tmem], %adesc, %bdesc, [%mtmem], %idesc, %enable, 3; # SS scale-input-d
    tcgen05.mma.sp.cta_group::1.{0} [%tmem], %adesc, %bdesc, [%mtmem], %idesc, {{%r[0:4]}}, %enable; # SS disable-output-lane
    tcgen05.mma.sp.cta_group::1.{0}.collector::a::(fill|use|lastuse) [%tmem], %adesc, %bdesc, [%mtmem], %idesc, %enable; # SS
    tcgen05.mma.sp.cta_group::(1|2).{0}.ashift [%tmem], [%atmem], %bdesc, [%mtmem], %idesc, %enable; # TS
)",
                                                                              kKinds))};

const InstructionForms stationary{"tcgen05.mma.ws", notation::rows_of(fmt::format(R"(
    tcgen05.mma.ws.cta_group::1.{0} [%tmem], %adesc, %bdesc, %idesc, %enable; # SS
    tcgen05.mma.ws.cta_group::1.{0} [%tmem], [%atmem], %bdesc, %idesc, %enable; # TS
    tcgen05.mma.ws.cta_group::1.{0} [%tmem], %adesc, %bdesc, %idesc, %enable, %rd0; # SS zero-column-mask
    tcgen05.mma.ws.cta_group::1.{0}.collector::(b0|b1|b2|b3)::(fill|use|lastuse|discard) [%tmem], %adesc, %bdesc, %idesc, %enable; # SS
    tcgen05.mma.ws.sp.cta_group::1.{0} [%tmem], %adesc, %bdesc, [%mtmem], %idesc, %enable; # SS
    tcgen05.mma.ws.sp.cta_group::1.{0} [%tmem], [%atmem], %bdesc, [%mtmem], %idesc, %enable; # TS
    tcgen05.mma.ws.sp.cta_group::1.{0} [%tmem], %adesc, %bdesc, [%mtmem], %idesc, %enable, %rd0; # SS zero-column-mask
)",
                                                                                  kKinds))};

const InstructionForms scaled{
    "tcgen05.mma block-scaled", [] {
      std::string lines;
      for (const char* kind :
           {"mxf8f6f4.block_scale(|.scale_vec::1X|.block32)",
            "mxf4.block_scale(|.scale_vec::2X|.block32)",
            "mxf4nvf4.block_scale(.scale_vec::2X|.scale_vec::4X|.block16|.block32)"}) {
        lines += fmt::format(R"(
      tcgen05.mma.cta_group::(1|2).kind::{0} [%tmem], %adesc, %bdesc, %idesc, [%sfa], [%sfb], %enable; # SS
      tcgen05.mma.cta_group::(1|2).kind::{0} [%tmem], [%atmem], %bdesc, %idesc, [%sfa], [%sfb], %enable; # TS
      tcgen05.mma.cta_group::1.kind::{0}.collector::a::(fill|use|lastuse|discard) [%tmem], %adesc, %bdesc, %idesc, [%sfa], [%sfb], %enable; # SS
      tcgen05.mma.sp.cta_group::(1|2).kind::{0} [%tmem], %adesc, %bdesc, [%mtmem], %idesc, [%sfa], [%sfb], %enable; # SS
      tcgen05.mma.sp.cta_group::(1|2).kind::{0} [%tmem], [%atmem], %bdesc, [%mtmem], %idesc, [%sfa], [%sfb], %enable; # TS
    )",
                             kind);
      }
      return notation::rows_of(lines);
    }()};

}  // namespace
