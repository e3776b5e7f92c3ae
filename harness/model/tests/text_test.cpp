// SPDX-License-Identifier: Apache-2.0
// What other people's PTX has and the suite's own has not: labels of inline assembly, instructions
// that a part of the threads comes to, tensor maps where none may be.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "harness/model/copy/tensor_map.hpp"
#include "harness/model/model.hpp"

namespace assay::model {
namespace {

using Words = std::vector<std::uint32_t>;

// A kernel with a pointer `%out` to 4 bytes of its own for each thread, whose number is `%t`.
std::string kernel(const std::string& body, const std::string& parameters = "") {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n"
         ".visible .entry one(.param .u64 out" +
         parameters +
         ")\n{\n.reg .b64 %out, %off;\n.reg .b32 %t, %x;\n.reg .pred %p;\nld.param.u64 %out, "
         "[out];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %off, %t, 4;\nadd.s64 %out, %out, %off;\n" +
         body + "\nret;\n}\n";
}

struct Ran {
  Words out;
  std::string rules;  // of all findings
};

Ran run(const std::string& ptx, int threads, const std::vector<TensorMapBytes>& maps = {}) {
  Gpu gpu(ptx);
  const Address out = gpu.allocate("out", static_cast<std::size_t>(threads) * 4);
  gpu.write(out, Words(static_cast<std::size_t>(threads)));
  Arguments arguments;
  arguments.push(out);
  for (const TensorMapBytes& map : maps) arguments.push(&map, 128, 128);
  const Outcome outcome = gpu.launch("one", {.block = {threads, 1, 1}}, arguments);
  Ran ran{gpu.read<std::uint32_t>(out, static_cast<std::size_t>(threads)), ""};
  for (const Finding& f : outcome.findings) ran.rules += f.rule + " ";
  return ran;
}

// Inline assembly with a loop, expanded twice: both blocks call their label the same.
TEST(ModelText, ABlocksLabelsAreItsOwn) {
  const auto loop = [](const char* turns) {
    return std::string("{\n.reg .b32 %n;\nmov.u32 %n, 0;\nWAIT:\nadd.u32 %n, %n, 1;\n") +
           "setp.lt.u32 %p, %n, " + turns +
           ";\n@%p bra WAIT;\nbra DONE;\nDONE:\nadd.u32 %x, %x, %n;\n}\n";
  };
  const Ran ran =
      run(kernel("mov.u32 %x, 0;\n" + loop("3") + loop("50") + "st.global.u32 [%out], %x;"), 32);
  EXPECT_EQ(ran.rules, "");
  EXPECT_EQ(ran.out, Words(32, 53));
}

TEST(ModelText, AnInnerBlockSeesTheLabelsAroundIt) {
  const Ran ran =
      run(kernel("mov.u32 %x, 7;\n{\nbra END;\n}\nmov.u32 %x, 8;\nEND:\nst.global.u32 [%out], %x;"),
          32);
  EXPECT_EQ(ran.out, Words(32, 7));
}

TEST(ModelText, ALabelThatStandsTwiceIsRefused) {
  try {
    Gpu gpu(kernel("AGAIN:\nAGAIN:\n"));
    FAIL() << "was read";
  } catch (const Violation& v) {
    EXPECT_EQ(v.rule(), "ptx.syntax");
    EXPECT_NE(std::string(v.what()).find("'AGAIN' stands twice"), std::string::npos) << v.what();
  }
}

TEST(ModelText, ABranchByATableFindsLabelsOfItsBlock) {
  const auto choose = [](const char* a, const char* b) {
    return std::string("{\nT: .branchtargets A, B;\nbrx.idx %x, T;\nA:\nadd.u32 %t, %t, ") + a +
           ";\nbra E;\nB:\nadd.u32 %t, %t, " + b + ";\nE:\n}\n";
  };
  const Ran ran = run(kernel("and.b32 %x, %t, 1;\n" + choose("100", "200") +
                             choose("1000", "2000") + "st.global.u32 [%out], %t;"),
                      32);
  EXPECT_EQ(ran.rules, "");
  EXPECT_EQ(ran.out[4], 1104u);
  EXPECT_EQ(ran.out[5], 2205u);
}

TEST(ModelText, ShapesThatCannotBeRunAreRefused) {
  const Shape shapes[] = {{.grid = {1 << 21, 1, 1}},
                          {.grid = {1 << 30, 1 << 30, 1 << 30}},
                          {.grid = {-1, -1, 1}},
                          {.grid = {0, 1, 1}},
                          {.block = {1 << 16, 1 << 16, 1}},
                          {.block = {-32, -1, 1}},
                          {.block = {32, 33, 1}},
                          {.grid = {17, 1, 1}, .cluster = {17, 1, 1}}};
  for (const Shape& shape : shapes) {
    Gpu gpu(kernel(""));
    try {
      gpu.launch("one", shape, Arguments().push(gpu.allocate("out", 4)));
      ADD_FAILURE() << shape.grid[0] << " CTAs, " << shape.block[0] << " threads";
    } catch (const Violation& v) {
      EXPECT_EQ(v.rule(), "launch.shape");
    }
  }
}

// PTX ISA 9.0, "setmaxnreg": all threads of the warpgroup execute the same one.
TEST(ModelText, RegistersAreOfAWholeWarpgroup) {
  EXPECT_EQ(run(kernel("setmaxnreg.dec.sync.aligned.u32 40;"), 256).rules, "");
  EXPECT_EQ(run(kernel("setp.lt.u32 %p, %t, 96;\n@!%p bra E;\n"
                       "setmaxnreg.dec.sync.aligned.u32 40;\nE:"),
                256)
                .rules,
            "setmaxnreg.warps ");
  EXPECT_EQ(run(kernel("setp.lt.u32 %p, %t, 32;\n@%p bra F;\nsetmaxnreg.dec.sync.aligned.u32 40;\n"
                       "bra E;\nF:\nsetmaxnreg.dec.sync.aligned.u32 48;\nE:"),
                128)
                .rules,
            "setmaxnreg.warps ");
}

// PTX ISA 9.0, "mma", "ldmatrix": all threads of the warp execute it.
TEST(ModelText, AFragmentLacksALaneThatHasLeft) {
  const auto with = [](const char* guard) {
    return kernel(std::string("setp.eq.u32 %p, %t, 5;\n") + guard +
                  "mov.u32 %x, 0;\n"
                  "{\n.reg .b32 %d<4>;\nmov.u32 %d0, 0;\nmov.u32 %d1, 0;\nmov.u32 %d2, 0;\n"
                  "mov.u32 %d3, 0;\nmma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                  "{%d0, %d1, %d2, %d3}, {%x, %x, %x, %x}, {%x, %x}, {%d0, %d1, %d2, %d3};\n}");
  };
  EXPECT_EQ(run(with(""), 32).rules, "");
  EXPECT_EQ(run(with("@%p ret;\n"), 32).rules, "warp.divergent ");
}

TensorMapBytes a_map(Address at) {
  return encode({.type = MapElement::f32,
                 .rank = 1,
                 .address = at,
                 .extents = {128, 1, 1, 1, 1},
                 .box = {32, 1, 1, 1, 1}});
}

// Copies the map parameter to 128 bytes of a state space.
std::string copied(const std::string& space) {
  std::string text = "." + space + " .align 128 .b8 stage[128];\n.reg .b64 %v, %at;\n";
  for (int byte = 0; byte < 128; byte += 8)
    text += "ld.param.u64 %v, [map+" + std::to_string(byte) + "];\nst." + space + ".u64 [stage+" +
            std::to_string(byte) + "], %v;\n";
  return text;
}

TEST(ModelText, ATensorMapInLocalOrSharedMemoryIsRefused) {
  const auto with = [](const std::string& space) {
    return kernel(copied(space) + ".shared .align 128 .b8 tile[128];\nmov.u64 %v, stage;\ncvta." +
                      space + ".u64 %at, %v;\nmov.u32 %x, tile;\n" +
                      "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group "
                      "[%at, {%t}], [%x];",
                  ", .param .align 128 .b8 map[128]");
  };
  for (const char* space : {"local", "shared"})
    EXPECT_EQ(run(with(space), 1, {a_map(0)}).rules, "tensor_map.space ") << space;
}

// PTX ISA 9.0, "tensormap.replace", as programs spell it.
TEST(ModelText, AFieldOfATensorMapIsReplaced) {
  const TensorMapBytes before = a_map(0x1000);
  TensorMapBytes after = before;
  replace(after, MapField::global_address, 0, 0x123400);
  replace(after, MapField::box_dim, 0, 64);
  const std::string ptx =
      kernel("setp.ne.u32 %p, %t, 0;\n@%p bra READ;\n" + copied("shared") +
                 "mov.u64 %v, 0x123400;\nmov.u32 %x, 64;\n"
                 "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [stage], %v;\n"
                 "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [stage], 0, %x;\n"
                 "READ:\nbar.sync 0;\nmov.u32 %x, stage;\nmad.lo.u32 %x, %t, 4, %x;\n"
                 "ld.shared.u32 %x, [%x];\nst.global.u32 [%out], %x;",
             ", .param .align 128 .b8 map[128]");
  const Ran ran = run(ptx, 32, {before});
  EXPECT_EQ(ran.rules, "");
  std::array<std::uint32_t, 32> wanted{};
  std::memcpy(wanted.data(), after.data(), 128);
  EXPECT_EQ(ran.out, Words(wanted.begin(), wanted.end()));
}

// PTX ISA 9.0, "bar, barrier": the reductions of a predicate, as __syncthreads_count() and its kin.
TEST(ModelText, BarriersCountPredicates) {
  const Ran ran = run(kernel(".reg .pred %q;\n.reg .b32 %y;\nsetp.lt.u32 %p, %t, 40;\n"
                             "barrier.cta.red.popc.aligned.u32 %x, 0, %p;\n"
                             "bar.red.and.pred %q, 1, 64, !%p;\n@%q add.u32 %x, %x, 100;\n"
                             "bar.red.or.pred %q, 1, 64, !%p;\n@%q add.u32 %x, %x, 1000;\n"
                             "setp.lt.u32 %p, %t, 64;\n"
                             "bar.red.and.pred %q, 0, %p;\n@%q add.u32 %x, %x, 10000;\n"
                             "bar.red.or.pred %q, 0, !%p;\n@%q add.u32 %x, %x, 20000;\n"
                             "st.global.u32 [%out], %x;"),
                      64);
  EXPECT_EQ(ran.rules, "");
  EXPECT_EQ(ran.out, Words(64, 11040));
}

// A map that is made in shared memory, sent to global memory and used there: PTX ISA 9.0,
// "tensormap.cp_fenceproxy", "membar / fence". The box lies outside of the tensor.
TEST(ModelText, ACopySeesAMapThatWasFenced) {
  const auto with = [](const std::string& fence) {
    std::string text = kernel(
        copied("shared") +
            ".shared .align 128 .b8 tile[128];\n.shared .b64 full;\nmov.u64 %v, there;\n"
            "mov.u32 %x, stage;\nbar.warp.sync 0xffffffff;\n"
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
            " [%v], [%x], 128;\nsetp.ne.u32 %p, %t, 0;\n@%p bra END;\n" +
            fence +
            "mbarrier.init.shared::cta.b64 [full], 1;\nfence.mbarrier_init.release.cluster;\n"
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;\n"
            "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes [tile], "
            "[%v, {128}], [full];\nWAIT:\n"
            "mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;\n@!%p bra WAIT;\n"
            "ld.shared.u32 %x, [tile];\nst.global.u32 [%out], %x;\nEND:\n",
        ", .param .align 128 .b8 map[128]");
    text.insert(text.find(".visible"), ".global .align 128 .b8 there[256];\n");
    return run(text, 32, {a_map(0x1000)}).rules;
  };
  EXPECT_EQ(with("fence.proxy.tensormap::generic.acquire.gpu [%v], 128;\n"), "");
  EXPECT_EQ(with(""), "proxy.tensor_map ");
  EXPECT_EQ(with("fence.proxy.async.global;\n"), "proxy.tensor_map ");
  EXPECT_EQ(with("fence.proxy.tensormap::generic.release.gpu;\n"), "proxy.tensor_map ");
  EXPECT_EQ(with("fence.proxy.tensormap::generic.acquire.gpu [%v+128], 128;\n"),
            "proxy.tensor_map ");
}

TEST(ModelText, ThereMayBeNoLocalMemory) {
  for (const char* address : {"0", "4", "-1", "-4"}) {
    const Ran ran = run(kernel("mov.b64 %off, " + std::string(address) +
                               ";\nld.local.u32 %x, [%off];\nst.global.u32 [%out], %x;"),
                        32);
    EXPECT_EQ(ran.rules, "memory.local_bounds ") << address;
  }
}

// The sentence names the instruction.
TEST(ModelText, WhatHasNoMeaningIsRefusedByName) {
  const std::pair<const char*, const char*> kRefused[] = {
      {"call (%x), there, (%x);", "call"},
      {"nosuch.instruction.b32 %x, %x;", "nosuch.instruction.b32"},
  };
  for (const auto& [text, name] : kRefused) {
    try {
      run(kernel(std::string(text) + "\n"), 32);
      ADD_FAILURE() << text << " was run";
    } catch (const Violation& v) {
      EXPECT_EQ(v.rule(), "model.unknown") << text;
      EXPECT_NE(std::string(v.what()).find(name), std::string::npos) << v.what();
    }
  }
}

}  // namespace
}  // namespace assay::model
