// SPDX-License-Identifier: Apache-2.0
// Golden forms of mma.sync: the shapes, types and layouts that matrix_forms.cpp leaves out.
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

struct Mma {
  string shape, d, a, b;
  int na, nb, nd;
  string tail;  // .satfinite or .and.popc
};

Form dense_form(const Mma& x) {
  string opcode = "mma.sync.aligned." + x.shape + ".row.col";
  if (x.tail == ".satfinite") opcode += x.tail;
  opcode += "." + x.d + "." + x.a + "." + x.b + "." + x.d;
  if (x.tail.ends_with("popc")) opcode += x.tail;
  std::vector<Draw> kinds(12, kind_of(x.a));
  for (int k = 0; k < x.nb; ++k) kinds[static_cast<std::size_t>(x.na + k)] = kind_of(x.b);
  for (int k = 0; k < x.nd; ++k) kinds[static_cast<std::size_t>(x.na + x.nb + k)] = kind_of(x.d);
  return thread_form(opcode,
                     opcode + " " + list("%o", 0, x.nd) + ", " + list("%a", 0, x.na) + ", " +
                         list("%a", x.na, x.nb) + ", " + list("%a", x.na + x.nb, x.nd) + ";\n",
                     x.nd, kinds);
}

// Four products of 8 x 8 x 4 by four lanes of each half of a warp.
Form quad_pairs(const string& a, const string& b, const string& d, const string& c) {
  const string opcode = "mma.sync.aligned.m8n8k4." + a + "." + b + "." + d + ".f16.f16." + c;
  const int nc = c == "f32" ? 8 : 4, nd = d == "f32" ? 8 : 4;
  std::vector<Draw> kinds(12, Draw::f16);
  if (c == "f32")
    for (std::size_t k = 4; k < 12; ++k) kinds[k] = Draw::f32;
  return thread_form(
      opcode,
      opcode + " " + list("%o", 0, nd) + ", {%a0, %a1}, {%a2, %a3}, " + list("%a", 4, nc) + ";\n",
      nd, kinds);
}

// Registers of 64 bits: more than there are inputs, so that some differ from others by their sign
// and lowest bits alone.
Form doubles(const string& shape, int na, int nb, int nc) {
  const string opcode = "mma.sync.aligned." + shape + ".row.col.f64.f64.f64.f64";
  string body = ".reg .b64 %x<16>, %d<4>;\n";
  for (int k = 0; k < na + nb + nc; ++k)
    body += "xor.b64 %x" + std::to_string(k) + ", %q" + std::to_string(k % 6) + ", " +
            (k < 6 ? string("0") : "0x8000000000000" + std::to_string(100 + 37 * k)) + ";\n";
  body += opcode + " " + list("%d", 0, nc) + ", " + list("%x", 0, na) + ", " + list("%x", na, nb) +
          ", " + list("%x", na + nb, nc) + ";\n";
  for (int k = 0; k < nc; ++k)
    body += "mov.b64 " + list("%o", 2 * k, 2) + ", %d" + std::to_string(k) + ";\n";
  return thread_form(opcode, body, 2 * nc, Draw::f64);
}

struct Sparse {
  string shape, d, a, b;
  int n, selectors;  // registers of A, and of B
  bool ordered = true;
  string tail;
};

Form sparse_form(const Sparse& x, int selector) {
  const string opcode = string(x.ordered ? "mma.sp::ordered_metadata" : "mma.sp") +
                        ".sync.aligned." + x.shape + ".row.col" + x.tail + "." + x.d + "." + x.a +
                        "." + x.b + "." + x.d;
  const int results = x.d == "f16" ? 2 : 4;
  std::vector<Draw> kinds(12, kind_of(x.a));
  for (int k = 0; k < x.n; ++k) kinds[static_cast<std::size_t>(x.n + k)] = kind_of(x.b);
  for (int k = 0; k < results; ++k) kinds[static_cast<std::size_t>(2 * x.n + k)] = kind_of(x.d);
  return thread_form(opcode + "/f" + std::to_string(selector),
                     ".reg .b32 %e, %x, %y;\n" + metadata(x.a, "%i", "%e", "%x", "%y") + opcode +
                         " " + list("%o", 0, results) + ", " + list("%a", 0, x.n) + ", " +
                         list("%a", x.n, x.n) + ", " + list("%a", 2 * x.n, results) + ", %e, " +
                         std::to_string(selector) + ";\n",
                     results, kinds);
}

}  // namespace

std::vector<Form> more_matrix_forms() {
  std::vector<Form> all;
  for (const Mma& x : {Mma{"m16n8k32", "f16", "e4m3", "e4m3", 4, 2, 2},
                       {"m16n8k32", "f16", "e5m2", "e4m3", 4, 2, 2},
                       {"m16n8k16", "f32", "e4m3", "e4m3", 2, 1, 4},
                       {"m16n8k16", "f32", "e5m2", "e4m3", 2, 1, 4},
                       {"m16n8k16", "f16", "e4m3", "e5m2", 2, 1, 2},
                       {"m16n8k16", "f16", "e4m3", "e4m3", 2, 1, 2},
                       {"m16n8k16", "f16", "e5m2", "e4m3", 2, 1, 2},
                       {"m16n8k16", "f16", "e5m2", "e5m2", 2, 1, 2},
                       {"m16n8k16", "f32", "e4m3", "e5m2", 2, 1, 4},
                       {"m16n8k16", "f32", "e5m2", "e5m2", 2, 1, 4},
                       {"m16n8k32", "f16", "e4m3", "e5m2", 4, 2, 2},
                       {"m16n8k32", "f16", "e5m2", "e5m2", 4, 2, 2},
                       {"m16n8k32", "s32", "s8", "u8", 4, 2, 4},
                       {"m16n8k16", "s32", "u8", "u8", 2, 1, 4},
                       {"m16n8k16", "s32", "s8", "u8", 2, 1, 4},
                       {"m8n8k16", "s32", "u8", "u8", 1, 1, 2},
                       {"m8n8k16", "s32", "u8", "s8", 1, 1, 2},
                       {"m16n8k64", "s32", "u4", "u4", 4, 2, 4},
                       {"m16n8k64", "s32", "s4", "u4", 4, 2, 4},
                       {"m16n8k32", "s32", "u4", "u4", 2, 1, 4},
                       {"m8n8k32", "s32", "u4", "u4", 1, 1, 2},
                       {"m16n8k128", "s32", "b1", "b1", 2, 1, 4, ".xor.popc"},
                       {"m8n8k128", "s32", "b1", "b1", 1, 1, 2, ".xor.popc"},
                       {"m8n8k128", "s32", "b1", "b1", 1, 1, 2, ".and.popc"}})
    all.push_back(dense_form(x));
  for (const char* types : {"s8", "u8", "s4", "u4"}) {
    const bool four = types[1] == '4';
    all.push_back(
        dense_form({four ? "m16n8k64" : "m16n8k32", "s32", types, types, 4, 2, 4, ".satfinite"}));
    if (string(types) == "s8") all.pop_back();  // in matrix_forms.cpp
    all.push_back(
        dense_form({four ? "m16n8k32" : "m16n8k16", "s32", types, types, 2, 1, 4, ".satfinite"}));
    all.push_back(
        dense_form({four ? "m8n8k32" : "m8n8k16", "s32", types, types, 1, 1, 2, ".satfinite"}));
  }
  for (const char* a : {"row", "col"})
    for (const char* b : {"row", "col"})
      for (const char* d : {"f16", "f32"})
        for (const char* c : {"f16", "f32"}) {
          if (string(d) == "f16" && string(c) == "f32") continue;  // ptxas has no such form
          all.push_back(quad_pairs(a, b, d, c));
        }
  all.push_back(doubles("m16n8k4", 2, 1, 4));
  all.push_back(doubles("m16n8k8", 4, 2, 4));
  all.push_back(doubles("m16n8k16", 8, 4, 4));
  for (const Sparse& x : {Sparse{"m16n8k16", "f16", "f16", "f16", 2, 4},
                          {"m16n8k16", "f32", "bf16", "bf16", 2, 4},
                          {"m16n8k16", "f32", "f16", "f16", 2, 4, false},
                          {"m16n8k32", "f32", "f16", "f16", 4, 2, false},
                          {"m16n8k8", "f32", "tf32", "tf32", 2, 4, false},
                          {"m16n8k16", "f32", "tf32", "tf32", 4, 2, false},
                          {"m16n8k64", "f32", "e4m3", "e5m2", 4, 1},
                          {"m16n8k64", "f32", "e5m2", "e4m3", 4, 1},
                          {"m16n8k64", "f32", "e5m2", "e5m2", 4, 1},
                          {"m16n8k64", "s32", "s8", "u8", 4, 1},
                          {"m16n8k64", "s32", "u8", "u8", 4, 1},
                          {"m16n8k128", "s32", "u4", "u4", 4, 1},
                          {"m16n8k64", "f32", "e5m2", "e4m3", 4, 1, false},
                          {"m16n8k32", "s32", "u8", "u8", 2, 2},
                          {"m16n8k32", "s32", "s8", "u8", 2, 2, false},
                          {"m16n8k64", "s32", "u8", "s8", 4, 1},
                          {"m16n8k64", "s32", "u8", "u8", 4, 1, false, ".satfinite"},
                          {"m16n8k64", "s32", "s4", "s4", 2, 2},
                          {"m16n8k64", "s32", "u4", "s4", 2, 2, false},
                          {"m16n8k128", "s32", "s4", "s4", 4, 1},
                          {"m16n8k128", "s32", "u4", "u4", 4, 1, true, ".satfinite"}})
    for (int selector = 0; selector < x.selectors; ++selector)
      all.push_back(sparse_form(x, selector));
  return all;
}

}  // namespace assay::model::golden
