// SPDX-License-Identifier: Apache-2.0
// Golden forms of a warp and of a warpgroup: lanes together, matrix instructions.

#include "harness/model/tests/golden/forms.hpp"

namespace assay::model::golden {
namespace {

using std::string;

string list(const string& prefix, int first, int count) {
  string text = "{";
  for (int k = 0; k < count; ++k) text += (k ? ", " : "") + prefix + std::to_string(first + k);
  return text + "}";
}

Draw kind_of(const string& type) {
  if (type == "f16") return Draw::f16;
  if (type == "bf16") return Draw::bf16;
  if (type == "tf32" || type == "f32") return Draw::f32;
  if (type == "e4m3") return Draw::e4m3;
  if (type == "e5m2") return Draw::e5m2;
  return Draw::bits;
}

std::vector<Form> sparse_mma_forms() {
  struct Sparse {
    const char *shape, *d, *type;
    int n, selectors;  // registers of A, and of B
    bool ordered = true;
  };
  std::vector<Form> all;
  for (const Sparse& s : {Sparse{"m16n8k16", "f32", "f16", 2, 4},
                          {"m16n8k32", "f32", "f16", 4, 2},
                          {"m16n8k32", "f16", "f16", 4, 2},
                          {"m16n8k32", "f32", "bf16", 4, 2},
                          {"m16n8k32", "f32", "bf16", 4, 2, false},
                          {"m16n8k8", "f32", "tf32", 2, 4},
                          {"m16n8k16", "f32", "tf32", 4, 2},
                          {"m16n8k64", "f32", "e4m3", 4, 1},
                          {"m16n8k32", "s32", "s8", 2, 2},
                          {"m16n8k64", "s32", "s8", 4, 1}})
    for (int selector = 0; selector < s.selectors; ++selector) {
      const string type = s.type, d = s.d;
      const string opcode = string(s.ordered ? "mma.sp::ordered_metadata" : "mma.sp") +
                            ".sync.aligned." + s.shape + ".row.col." + d + "." + type + "." + type +
                            "." + d;
      const int results = d == "f16" ? 2 : 4;
      std::vector<Draw> kinds(12, kind_of(type));
      for (int k = 0; k < results; ++k) kinds[static_cast<std::size_t>(2 * s.n + k)] = kind_of(d);
      all.push_back(thread_form(
          opcode + "/f" + std::to_string(selector),
          ".reg .b32 %e, %x, %y;\n" + metadata(type, "%i", "%e", "%x", "%y") + opcode + " " +
              list("%o", 0, results) + ", " + list("%a", 0, s.n) + ", " + list("%a", s.n, s.n) +
              ", " + list("%a", 2 * s.n, results) + ", %e, " + std::to_string(selector) + ";\n",
          results, kinds));
    }
  return all;
}

}  // namespace

std::vector<Form> warp_forms() {
  std::vector<Form> all;
  for (const char* mode : {"up", "down", "bfly", "idx"})
    for (const char* clamp : {"0", "31", "7199", "5632"})
      all.push_back(thread_form(string("shfl.sync.") + mode + ".c" + clamp,
                                ".reg .pred %p;\nand.b32 %a1, %a1, 31;\nshfl.sync." + string(mode) +
                                    ".b32 %o0|%p, %a0, %a1, " + clamp +
                                    ", 0xffffffff;\nselp.u32 %o1, 1, 0, %p;\n",
                                2));
  for (const char* mode : {"all", "any", "uni"})
    all.push_back(thread_form(string("vote.sync.") + mode,
                              ".reg .pred %p, %s;\nsetp.ne.u32 %p, %a0, 0;\nvote.sync." +
                                  string(mode) +
                                  ".pred %s, %p, 0xffffffff;\nselp.u32 %o0, 1, 0, %s;\n",
                              1));
  all.push_back(thread_form(
      "vote.sync.ballot",
      ".reg .pred %p;\nsetp.gt.s32 %p, %a0, 0;\nvote.sync.ballot.b32 %o0, %p, 0xffffffff;\n", 1));
  all.push_back(thread_form("match.any",
                            "and.b32 %a0, %a0, 3;\nmatch.any.sync.b32 %o0, %a0, 0xffffffff;\n", 1));
  all.push_back(thread_form("match.all",
                            ".reg .pred %p;\nand.b32 %a0, %a0, 1;\nmatch.all.sync.b32 %o0|%p, %a0, "
                            "0xffffffff;\nselp.u32 %o1, 1, 0, %p;\n",
                            2));
  for (const char* op : {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32",
                         "and.b32", "or.b32", "xor.b32"})
    all.push_back(thread_form(string("redux.sync.") + op,
                              string("redux.sync.") + op + " %o0, %a0, 0xffffffff;\n", 1));
  all.push_back(
      thread_form("elect.sync",
                  ".reg .pred %p;\nelect.sync %o0|%p, 0xffffffff;\nselp.u32 %o1, 1, 0, %p;\n", 2));
  all.push_back(thread_form("movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 %o0, %a0;\n", 1));
  // Rows of shared memory: each lane writes 16 bytes of its own.
  for (const char* x : {"x1", "x2", "x4"})
    for (const char* trans : {"", ".trans"}) {
      const int count = x[1] - '0';
      const string store = ".reg .b32 %s;\nmov.u32 %s, room;\nmad.lo.u32 %s, %t, 16, %s;\n";
      all.push_back(thread_form("ldmatrix." + string(x) + trans,
                                store +
                                    "st.shared.v4.b32 [%s], {%a0, %a1, %a2, %a3};\nbar.sync "
                                    "0;\nldmatrix.sync.aligned.m8n8." +
                                    x + trans + ".shared.b16 " + list("%o", 0, count) + ", [%s];\n",
                                count, Draw::bits, ".shared .align 128 .b8 room[512];\n"));
      all.push_back(
          thread_form("stmatrix." + string(x) + trans,
                      store +
                          "st.shared.v4.b32 [%s], {%a4, %a4, %a4, %a4};\nbar.sync "
                          "0;\nstmatrix.sync.aligned.m8n8." +
                          x + trans + ".shared.b16 [%s], " + list("%a", 0, count) +
                          ";\nbar.sync 0;\nld.shared.v4.b32 {%o0, %o1, %o2, %o3}, [%s];\n",
                      4, Draw::bits, ".shared .align 128 .b8 room[512];\n"));
    }
  return all;
}

std::vector<Form> matrix_forms() {
  std::vector<Form> all;
  struct Mma {
    const char *shape, *d, *a, *b, *c;
    int na, nb, nd;
    const char* tail;
  };
  static const Mma kForms[] = {{"m16n8k16", "f32", "f16", "f16", "f32", 4, 2, 4, ""},
                               {"m16n8k8", "f32", "f16", "f16", "f32", 2, 1, 4, ""},
                               {"m16n8k16", "f16", "f16", "f16", "f16", 4, 2, 2, ""},
                               {"m16n8k8", "f16", "f16", "f16", "f16", 2, 1, 2, ""},
                               {"m16n8k16", "f32", "bf16", "bf16", "f32", 4, 2, 4, ""},
                               {"m16n8k8", "f32", "bf16", "bf16", "f32", 2, 1, 4, ""},
                               {"m16n8k8", "f32", "tf32", "tf32", "f32", 4, 2, 4, ""},
                               {"m16n8k4", "f32", "tf32", "tf32", "f32", 2, 1, 4, ""},
                               {"m16n8k32", "f32", "e4m3", "e4m3", "f32", 4, 2, 4, ""},
                               {"m16n8k32", "f32", "e5m2", "e5m2", "f32", 4, 2, 4, ""},
                               {"m16n8k32", "f32", "e4m3", "e5m2", "f32", 4, 2, 4, ""},
                               {"m16n8k32", "f32", "e5m2", "e4m3", "f32", 4, 2, 4, ""},
                               {"m16n8k32", "s32", "s8", "s8", "s32", 4, 2, 4, ""},
                               {"m16n8k16", "s32", "s8", "s8", "s32", 2, 1, 4, ""},
                               {"m8n8k16", "s32", "s8", "s8", "s32", 1, 1, 2, ""},
                               {"m16n8k32", "s32", "u8", "s8", "s32", 4, 2, 4, ""},
                               {"m16n8k32", "s32", "u8", "u8", "s32", 4, 2, 4, ""},
                               {"m16n8k32", "s32", "s8", "s8", "s32", 4, 2, 4, ".satfinite"},
                               {"m16n8k64", "s32", "s4", "s4", "s32", 4, 2, 4, ""},
                               {"m16n8k32", "s32", "s4", "s4", "s32", 2, 1, 4, ""},
                               {"m16n8k64", "s32", "u4", "s4", "s32", 4, 2, 4, ""},
                               {"m8n8k32", "s32", "s4", "s4", "s32", 1, 1, 2, ""},
                               {"m16n8k256", "s32", "b1", "b1", "s32", 4, 2, 4, ".and.popc"},
                               {"m16n8k256", "s32", "b1", "b1", "s32", 4, 2, 4, ".xor.popc"},
                               {"m16n8k128", "s32", "b1", "b1", "s32", 2, 1, 4, ".and.popc"}};
  for (const Mma& f : kForms) {
    const string tail = f.tail;
    string opcode = string("mma.sync.aligned.") + f.shape + ".row.col";
    if (tail == ".satfinite") opcode += tail;
    opcode += string(".") + f.d + "." + f.a + "." + f.b + "." + f.c;
    if (tail.ends_with("popc")) opcode += tail;
    std::vector<Draw> kinds(12, kind_of(f.a));
    for (int k = 0; k < f.nb; ++k) kinds[static_cast<std::size_t>(f.na + k)] = kind_of(f.b);
    for (int k = 0; k < f.nd; ++k) kinds[static_cast<std::size_t>(f.na + f.nb + k)] = kind_of(f.c);
    all.push_back(thread_form(opcode,
                              opcode + " " + list("%o", 0, f.nd) + ", " + list("%a", 0, f.na) +
                                  ", " + list("%a", f.na, f.nb) + ", " +
                                  list("%a", f.na + f.nb, f.nd) + ";\n",
                              f.nd, kinds));
  }
  for (Form& f : sparse_mma_forms()) all.push_back(std::move(f));
  // f64: registers of 64 bits.
  all.push_back(thread_form(
      "mma.m8n8k4.f64",
      ".reg .f64 %d<8>;\nmov.b64 %d0, %q0;\nmov.b64 %d1, %q1;\nmov.b64 %d2, %q2;\nmov.b64 %d3, "
      "%q3;\n"
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d4, %d5}, {%d0}, {%d1}, {%d2, %d3};\n"
      "mov.b64 {%o0, %o1}, %d4;\nmov.b64 {%o2, %o3}, %d5;\n",
      4, Draw::f64));
  return all;
}

namespace {

struct Wgmma {
  string d, a, b;
  int n, k;
  bool registers = false;
  int swizzle_a = 1, swizzle_b = 1;  // 0 none, 1 128, 2 64, 3 32 bytes
  bool trans_a = false, trans_b = false, minus_a = false, minus_b = false, accumulate = true;
  int lbo = 0, sbo = 1024, offset = 0;  // bytes
  int selector = -1;                    // of a sparse A; -1: dense
  string tail;
};

constexpr int kRoomA = 16384, kRoomB = 49152;

Form wgmma_form(const Wgmma& x) {
  Form f;
  f.threads = 128;
  f.shared_bytes = kRoomA + kRoomB;
  f.cases = 6;
  const bool half = x.d == "f16", integer = x.d == "s32";
  const int count = half ? x.n / 4 : x.n / 2;
  f.output_bytes = count * 128 * 4;
  const bool sparse = x.selector >= 0;
  const string opcode = string("wgmma.mma_async") + (sparse ? ".sp" : "") + ".sync.aligned.m64n" +
                        std::to_string(x.n) + "k" + std::to_string(x.k) + "." + x.d + "." + x.a +
                        "." + x.b + x.tail;
  const auto digit = [](bool b) { return b ? "1" : "0"; };
  f.name = opcode + (x.registers ? "/rs" : "/ss") + "/s" + std::to_string(x.swizzle_a) +
           std::to_string(x.swizzle_b) + "/t" + digit(x.trans_a) + digit(x.trans_b) + "/n" +
           digit(x.minus_a) + digit(x.minus_b) + "/c" + digit(x.accumulate) + "/o" +
           std::to_string(x.offset) + (sparse ? "/f" + std::to_string(x.selector) : "");
  const auto descriptor = [&](int swizzle) {
    const auto field = [](int bytes) { return static_cast<unsigned long long>(bytes >> 4); };
    return std::to_string(field(x.lbo) << 16 | field(x.sbo) << 32 |
                          static_cast<unsigned long long>(swizzle) << 62) +
           "U";
  };
  const int words = (kRoomA + kRoomB) / 4 +
                    128 * (count + 4);  // of a case: shared memory, C and A of each thread
  const string regs = half || integer ? ".b32" : ".f32";
  string p =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 room[];\n"
      ".visible .entry form(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %in, %out, %off, %x, "
      "%y, %da, %db;\n.reg .b32 %t, %c, %i, %s, %w<4>;\n.reg .pred %p;\n.reg .b32 %a<4>;\n.reg " +
      regs + " %d<" + std::to_string(count) +
      ">;\n"
      "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\nmov.u32 %c, "
      "%ctaid.x;\n"
      "mul.wide.u32 %off, %c, " +
      std::to_string(words * 4) +
      ";\nadd.s64 %in, %in, %off;\n"
      "mul.wide.u32 %off, %t, 16;\nadd.s64 %x, %in, %off;\nmov.u32 %s, room;\nmad.lo.u32 %i, %t, "
      "16, %s;\nmov.u32 %c, 0;\n"
      "$fill:\nld.global.v4.u32 {%w0, %w1, %w2, %w3}, [%x];\nst.shared.v4.u32 [%i], {%w0, %w1, "
      "%w2, %w3};\nadd.s64 %x, %x, 2048;\nadd.u32 %i, %i, 2048;\nadd.u32 %c, %c, "
      "2048;\nsetp.lt.u32 %p, %c, " +
      std::to_string(kRoomA + kRoomB) +
      ";\n@%p bra $fill;\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
      "mul.wide.u32 %off, %t, " +
      std::to_string((count + 4) * 4) + ";\nadd.s64 %y, %in, %off;\nadd.s64 %y, %y, " +
      std::to_string(kRoomA + kRoomB) + ";\n";
  for (int k = 0; k < 4; ++k)
    p += "ld.global.u32 %a" + std::to_string(k) + ", [%y+" + std::to_string(4 * k) + "];\n";
  for (int k = 0; k < count; ++k)
    p += "ld.global" + string(half || integer ? ".u32" : ".f32") + " %d" + std::to_string(k) +
         ", [%y+" + std::to_string(16 + 4 * k) + "];\n";
  p += "and.b32 %s, %s, 0x3ffff;\nadd.u32 %i, %s, " + std::to_string(x.offset) +
       ";\nshr.u32 %i, %i, 4;\ncvt.u64.u32 %da, %i;\nor.b64 %da, %da, " + descriptor(x.swizzle_a) +
       ";\n"
       "add.u32 %i, %s, " +
       std::to_string(kRoomA + x.offset) +
       ";\nshr.u32 %i, %i, 4;\ncvt.u64.u32 %db, %i;\nor.b64 %db, %db, " + descriptor(x.swizzle_b) +
       ";\n" +
       (sparse ? "mov.u32 %c, %ctaid.x;\nmad.lo.u32 %c, %c, 128, %t;\n" +
                     metadata(x.a, "%c", "%w0", "%w1", "%w2")
               : "") +
       "wgmma.fence.sync.aligned;\n" + opcode + " " + list("%d", 0, count) + ", " +
       (x.registers ? "{%a0, %a1, %a2, %a3}" : "%da") + ", %db, " +
       (sparse ? "%w0, " + std::to_string(x.selector) + ", " : "") + digit(x.accumulate);
  if (!integer) p += string(", ") + (x.minus_a ? "-1" : "1") + ", " + (x.minus_b ? "-1" : "1");
  if (x.a == "f16" || x.a == "bf16")
    p += (x.registers ? string() : string(", ") + digit(x.trans_a)) + ", " + digit(x.trans_b);
  p += ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
       "mov.u32 %c, %ctaid.x;\nmad.lo.u32 %i, %c, 128, %t;\nmul.wide.u32 %off, %i, " +
       std::to_string(4 * count) + ";\nadd.s64 %out, %out, %off;\n";
  for (int k = 0; k < count; ++k)
    p += "st.global" + string(half || integer ? ".u32" : ".f32") + " [%out+" +
         std::to_string(4 * k) + "], %d" + std::to_string(k) + ";\n";
  f.ptx = p + "ret;\n}\n";
  Random random(f.name);
  const Draw ka = kind_of(x.a), kb = kind_of(x.b),
             kc = half      ? Draw::f16
                  : integer ? Draw::bits
                            : Draw::f32;
  f.input.resize(static_cast<std::size_t>(f.cases) * static_cast<std::size_t>(words) * 4);
  for (std::size_t at = 0; at < f.input.size(); at += 4) {
    const int word = static_cast<int>(at / 4) % words, rest = word - (kRoomA + kRoomB) / 4;
    const Draw kind = word < kRoomA / 4 ? ka : rest < 0 ? kb : rest % (count + 4) < 4 ? ka : kc;
    const std::uint32_t value = draw(random, kind);
    for (std::size_t k = 0; k < 4; ++k)
      f.input[at + k] = static_cast<std::uint8_t>(value >> (8 * k));
  }
  return f;
}

}  // namespace

std::vector<Form> wgmma_forms() {
  std::vector<Form> all;
  struct Types {
    const char *d, *a, *b;
    int k;
  };
  static const Types kTypes[] = {
      {"f32", "bf16", "bf16", 16}, {"f32", "f16", "f16", 16},   {"f16", "f16", "f16", 16},
      {"f32", "tf32", "tf32", 8},  {"f32", "e4m3", "e4m3", 32}, {"f32", "e5m2", "e5m2", 32},
      {"f32", "e4m3", "e5m2", 32}, {"f16", "e5m2", "e4m3", 32}, {"s32", "s8", "s8", 32},
      {"s32", "u8", "u8", 32},     {"s32", "s8", "u8", 32}};
  for (const Types& t : kTypes) {
    const bool wide = string(t.a) == "bf16" || string(t.a) == "f16", integer = t.d[0] == 's';
    Wgmma x{.d = t.d, .a = t.a, .b = t.b, .n = 64, .k = t.k};
    for (const int n : {8, 24, 128, 256}) {
      x.n = n;
      all.push_back(wgmma_form(x));
    }
    x.n = 32;
    x.registers = true;
    all.push_back(wgmma_form(x));
    x.registers = false;
    for (const int swizzle :
         {0, 2, 3}) {  // rows of 16, 64, 32 bytes: eight rows take 128, 512, 256
      x.swizzle_a = x.swizzle_b = swizzle;
      x.sbo = swizzle == 0 ? 256 : swizzle == 2 ? 512 : 256;
      x.lbo = 128;
      all.push_back(wgmma_form(x));
    }
    x.swizzle_a = x.swizzle_b = 1;
    x.sbo = 1024;
    x.lbo = 0;
    x.offset = 32;  // the next step along K
    all.push_back(wgmma_form(x));
    x.offset = 0;
    x.accumulate = false;
    all.push_back(wgmma_form(x));
    x.accumulate = true;
    if (!integer) {
      x.minus_a = true;
      all.push_back(wgmma_form(x));
      x.minus_b = true;
      all.push_back(wgmma_form(x));
      x.minus_a = x.minus_b = false;
    }
    if (!wide) continue;
    for (const int swizzle : {0, 1, 2, 3})
      for (const int which : {1, 2, 3}) {
        x.trans_a = (which & 1) != 0;
        x.trans_b = (which & 2) != 0;
        x.n = 64;
        x.swizzle_a = x.swizzle_b = swizzle;
        x.sbo = swizzle == 0 ? 256 : 1024;
        x.lbo = swizzle == 0 ? 1024 : 2048;
        all.push_back(wgmma_form(x));
      }
  }
  // Sparse: half of A's row is stored, B's is twice as long.
  for (const Types& t : kTypes) {
    const string a = t.a;
    if (a != t.b || a == "e5m2" || a == "u8") continue;
    Wgmma x{.d = t.d, .a = t.a, .b = t.b, .n = 32, .k = 2 * t.k};
    for (x.selector = 0; x.selector < (a == "e4m3" || a == "s8" ? 1 : 2); ++x.selector) {
      all.push_back(wgmma_form(x));
      x.registers = true;
      all.push_back(wgmma_form(x));
      x.registers = false;
    }
  }
  for (const bool registers : {false, true}) {
    for (const char* a : {"s8", "u8"}) {
      all.push_back(wgmma_form({.d = "s32",
                                .a = a,
                                .b = "u8",
                                .n = 48,
                                .k = 32,
                                .registers = registers,
                                .tail = ".satfinite"}));
      all.push_back(wgmma_form({.d = "s32",
                                .a = a,
                                .b = "s8",
                                .n = 96,
                                .k = 64,
                                .registers = registers,
                                .selector = 0}));
    }
    all.push_back(
        wgmma_form({.d = "s32", .a = "u8", .b = "s8", .n = 64, .k = 32, .registers = registers}));
    for (const int n : {8, 64})
      all.push_back(wgmma_form({.d = "s32",
                                .a = "b1",
                                .b = "b1",
                                .n = n,
                                .k = 256,
                                .registers = registers,
                                .tail = ".and.popc"}));
    for (const char* d : {"f16", "f32"})
      all.push_back(wgmma_form({.d = d,
                                .a = "e5m2",
                                .b = "e4m3",
                                .n = 32,
                                .k = 64,
                                .registers = registers,
                                .selector = 0}));
  }
  return all;
}

}  // namespace assay::model::golden
