// SPDX-License-Identifier: Apache-2.0
// Golden forms of wmma: from memory to memory, as the places in its fragments are left open.
#include "harness/model/tests/golden/forms.hpp"

namespace assay::model::golden {
namespace {

using std::string;

constexpr int kMatrix = 1024, kCases = 12;  // bytes of each matrix; C and D have the last two

struct Wmma {
  string shape, a, d;
  int m, n, k;
  int of_a, of_d;  // registers
  string row_a = "row", row_b = "col", row_c = "row", tail;
  int padding = 0;  // of the stride, in elements
};

Draw kind_of(const string& type) {
  if (type == "f16") return Draw::f16;
  if (type == "bf16") return Draw::bf16;
  if (type == "tf32" || type == "f32") return Draw::f32;
  return type == "f64" ? Draw::f64 : Draw::bits;
}

string registers(const string& name, int count) {
  string text = "{";
  for (int k = 0; k < count; ++k) text += (k ? ", %" : "%") + name + std::to_string(k);
  return text + "}";
}

Form wmma_form(const Wmma& x) {
  Form f;
  const bool half = x.a == "f16", bits = x.a == "b1";
  const string opcode = "wmma.mma" + (bits ? x.tail + ".popc" : string()) + ".sync.aligned." +
                        x.row_a + "." + x.row_b + "." + x.shape + (x.a == "f64" ? ".rn" : "") +
                        "." + x.d + (half ? "" : "." + x.a + "." + x.a) + "." + x.d +
                        (bits ? "" : x.tail);
  f.name = opcode + "/" + x.row_c + (x.padding ? "/p" + std::to_string(x.padding) : "");
  f.cases = kCases;
  f.output_bytes = 2 * kMatrix;
  const string of_ab = x.a == "f64" ? ".f64" : ".b32", of_cd = x.d == "f64"   ? ".f64"
                                                               : x.d == "f32" ? ".f32"
                                                                              : ".b32";
  string p =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry form(.param .u64 in, .param "
      ".u64 out)\n{\n.reg .b64 %in, %out, %off, %b, %c;\n.reg .b32 %i;\n.reg " +
      of_ab + " %x<8>, %y<8>;\n.reg " + of_cd +
      " %z<8>, %d<8>;\nld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %i, "
      "%ctaid.x;\nmul.wide.u32 %off, %i, " +
      std::to_string(4 * kMatrix) + ";\nadd.s64 %in, %in, %off;\nadd.s64 %b, %in, " +
      std::to_string(kMatrix) + ";\nadd.s64 %c, %in, " + std::to_string(2 * kMatrix) +
      ";\nmul.wide.u32 %off, %i, " + std::to_string(2 * kMatrix) + ";\nadd.s64 %out, %out, %off;\n";
  const auto stride = [&](const string& major, int rows, int columns) {
    return ", " + std::to_string((major == "row" ? columns : rows) + x.padding);
  };
  p += "wmma.load.a.sync.aligned." + x.row_a + "." + x.shape + ".global." + x.a + " " +
       registers("x", x.of_a) + ", [%in]" + stride(x.row_a, x.m, x.k) + ";\n";
  // B's registers are as many as A's but where one is the larger.
  const int of_b = half || x.m == x.n ? x.of_a : x.m * x.k * x.of_a == 0 ? 0 : x.of_a * x.n / x.m;
  p += "wmma.load.b.sync.aligned." + x.row_b + "." + x.shape + ".global." + x.a + " " +
       registers("y", of_b) + ", [%b]" + stride(x.row_b, x.k, x.n) + ";\n";
  p += "wmma.load.c.sync.aligned." + x.row_c + "." + x.shape + ".global." + x.d + " " +
       registers("z", x.of_d) + ", [%c]" + stride(x.row_c, x.m, x.n) + ";\n";
  p += opcode + " " + registers("d", x.of_d) + ", " + registers("x", x.of_a) + ", " +
       registers("y", of_b) + ", " + registers("z", x.of_d) + ";\n";
  p += "wmma.store.d.sync.aligned." + x.row_c + "." + x.shape + ".global." + x.d + " [%out], " +
       registers("d", x.of_d) + stride(x.row_c, x.m, x.n) + ";\nret;\n}\n";
  f.ptx = p;
  Random random(f.name);
  f.input.resize(static_cast<std::size_t>(4 * kMatrix * kCases));
  for (std::size_t at = 0; at < f.input.size(); at += 4) {
    const string& type = at % (4 * kMatrix) < 2 * kMatrix ? x.a : x.d;
    std::uint32_t word = draw(random, kind_of(type));
    if (type == "f64" && at % 8 == 4)
      word = (word & 0x800fffffu) | static_cast<std::uint32_t>(1017 + random.below(12)) << 20;
    for (std::size_t k = 0; k < 4; ++k)
      f.input[at + k] = static_cast<std::uint8_t>(word >> (8 * k));
  }
  return f;
}

}  // namespace

std::vector<Form> wmma_forms() {
  struct Shape {
    const char* name;
    int m, n, k;
  };
  static const Shape kShapes[] = {
      {"m16n16k16", 16, 16, 16}, {"m8n32k16", 8, 32, 16}, {"m32n8k16", 32, 8, 16}};
  std::vector<Form> all;
  for (const Shape& s : kShapes) {
    for (const char* d : {"f16", "f32"})
      all.push_back(wmma_form({.shape = s.name,
                               .a = "f16",
                               .d = d,
                               .m = s.m,
                               .n = s.n,
                               .k = s.k,
                               .of_a = 8,
                               .of_d = d[1] == '1' ? 4 : 8}));
    // Elements of A in four bytes each of a thread: m * k / 32 of them.
    all.push_back(wmma_form({.shape = s.name,
                             .a = "bf16",
                             .d = "f32",
                             .m = s.m,
                             .n = s.n,
                             .k = s.k,
                             .of_a = s.m / 4,
                             .of_d = 8}));
    for (const char* a : {"s8", "u8"})
      for (const char* tail : {"", ".satfinite"})
        all.push_back(wmma_form({.shape = s.name,
                                 .a = a,
                                 .d = "s32",
                                 .m = s.m,
                                 .n = s.n,
                                 .k = s.k,
                                 .of_a = s.m / 8,
                                 .of_d = 8,
                                 .tail = tail}));
  }
  Wmma x{.shape = "m16n16k16",
         .a = "f16",
         .d = "f32",
         .m = 16,
         .n = 16,
         .k = 16,
         .of_a = 8,
         .of_d = 8};
  for (const char* row_a : {"row", "col"})
    for (const char* row_b : {"row", "col"})
      for (const char* row_c : {"row", "col"}) {
        x.row_a = row_a;
        x.row_b = row_b;
        x.row_c = row_c;
        if (x.row_a == "row" && x.row_b == "col" && x.row_c == "row") continue;
        all.push_back(wmma_form(x));
      }
  all.push_back(wmma_form({.shape = "m16n16k8",
                           .a = "tf32",
                           .d = "f32",
                           .m = 16,
                           .n = 16,
                           .k = 8,
                           .of_a = 4,
                           .of_d = 8}));
  all.push_back(wmma_form(
      {.shape = "m8n8k4", .a = "f64", .d = "f64", .m = 8, .n = 8, .k = 4, .of_a = 1, .of_d = 2}));
  for (const char* a : {"s4", "u4"})
    all.push_back(wmma_form(
        {.shape = "m8n8k32", .a = a, .d = "s32", .m = 8, .n = 8, .k = 32, .of_a = 1, .of_d = 2}));
  for (const char* how : {".xor", ".and"})
    all.push_back(wmma_form({.shape = "m8n8k128",
                             .a = "b1",
                             .d = "s32",
                             .m = 8,
                             .n = 8,
                             .k = 128,
                             .of_a = 1,
                             .of_d = 2,
                             .tail = how}));
  return all;
}

}  // namespace assay::model::golden
