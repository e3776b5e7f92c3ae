// SPDX-License-Identifier: Apache-2.0
// Golden forms of one thread: integers, floating-point numbers, conversions.
#include "harness/model/tests/golden/forms.hpp"

namespace assay::model::golden {
namespace {

using std::string;

// Registers of a width hold what the words say: 16 bits of %a0, %a1, %a2, or 64 bits.
struct Operands {
  string declarations, load, in[3], out, store;
};

Operands of_width(int bits) {
  if (bits == 64)
    return {".reg .b64 %w;\n", "", {"%q0", "%q1", "%q2"}, "%w", "mov.b64 {%o0, %o1}, %w;\n"};
  if (bits == 16)
    return {".reg .b16 %h<4>, %z;\n",
            "mov.b32 {%h0, %z}, %a0;\nmov.b32 {%h1, %z}, %a1;\nmov.b32 {%h2, %z}, %a2;\n",
            {"%h0", "%h1", "%h2"},
            "%h3",
            "mov.b16 %z, 0;\nmov.b32 %o0, {%h3, %z};\n"};
  return {"", "", {"%a0", "%a1", "%a2"}, "%o0", ""};
}

Form of(const string& opcode, int bits, int operands, Draw kind, const string& tail = {}) {
  const Operands o = of_width(bits);
  string body = o.load + opcode + " " + o.out;
  for (int k = 0; k < operands; ++k) body += ", " + o.in[k];
  return thread_form(opcode + (tail.empty() ? "" : "/" + tail.substr(2)),
                     body + tail + ";\n" + o.store, bits == 64 ? 2 : 1, kind, o.declarations);
}

int width(const string& type) {
  if (type.find("64") != string::npos) return 64;
  if (type.find("x2") != string::npos) return 32;
  return type.find("16") != string::npos ? 16 : 32;
}

Draw kind_of(const string& type) {
  if (type.starts_with("f16")) return Draw::f16;
  if (type.starts_with("bf16")) return Draw::bf16;
  if (type == "f32") return Draw::f32;
  if (type == "f64") return Draw::f64;
  return Draw::bits;
}

}  // namespace

std::vector<Form> integer_forms() {
  std::vector<Form> all;
  const auto add = [&](const string& opcode, int operands, const std::vector<string>& types) {
    for (const string& t : types)
      all.push_back(of(opcode + "." + t, width(t), operands, Draw::bits));
  };
  const std::vector<string> integers = {"u16", "s16", "u32", "s32", "u64", "s64"};
  add("add", 2, integers);
  add("sub", 2, integers);
  add("mul.lo", 2, integers);
  add("mul.hi", 2, integers);
  add("mad.lo", 3, {"u32", "s32", "u64"});
  add("mad.hi", 3, {"u32", "s32"});
  add("mul24.lo", 2, {"u32", "s32"});
  add("mul24.hi", 2, {"u32", "s32"});
  add("mad24.lo", 3, {"u32", "s32"});
  add("mad24.hi", 3, {"u32", "s32"});
  add("min", 2, {"u32", "s32", "u64", "s64", "u16x2", "s16x2"});
  add("max", 2, {"u32", "s32", "u64", "s64", "u16x2", "s16x2"});
  add("abs", 1, {"s16", "s32", "s64"});
  add("neg", 1, {"s16", "s32", "s64"});
  add("div", 2, {"u32", "s32"});
  add("rem", 2, {"u32", "s32"});
  add("sad", 3, {"u32", "s32"});
  add("add.sat", 2, {"s32"});
  add("sub.sat", 2, {"s32"});
  add("and", 2, {"b32", "b64", "b16"});
  add("or", 2, {"b32"});
  add("xor", 2, {"b32"});
  add("not", 1, {"b32"});
  add("popc", 1, {"b32"});
  add("clz", 1, {"b32"});
  add("brev", 1, {"b32", "b64"});
  add("bfind", 1, {"u32", "s32"});
  add("bfind.shiftamt", 1, {"u32", "s32"});
  add("shf.l.wrap", 3, {"b32"});
  add("shf.l.clamp", 3, {"b32"});
  add("shf.r.wrap", 3, {"b32"});
  add("shf.r.clamp", 3, {"b32"});
  add("prmt", 3, {"b32"});
  for (const char* mode : {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"})
    all.push_back(of(string("prmt.b32.") + mode, 32, 3, Draw::bits));
  for (const char* table : {"0x96", "0xe8", "0xca", "0x1d", "0x80"})
    all.push_back(of("lop3.b32", 32, 3, Draw::bits, string(", ") + table));
  for (const char* t : {"b16", "b32", "b64", "u32", "s32", "s64"}) {
    const string type = t;
    for (const char* op : {"shl", "shr"}) {
      if (string(op) == "shl" && type[0] != 'b') continue;
      const Operands o = of_width(width(type));
      all.push_back(thread_form(string(op) + "." + type,
                                o.load + "and.b32 %a4, %a4, 127;\n" + op + "." + type + " " +
                                    o.out + ", " + o.in[0] + ", %a4;\n" + o.store,
                                width(type) == 64 ? 2 : 1, Draw::bits, o.declarations));
    }
  }
  // The words that are clamped are near the edges, and far beyond them.
  const string near = "shr.s32 %a0, %a0, 14;\nshr.s32 %a1, %a1, 23;\n";
  for (const char* t : {"s16", "u16"})
    all.push_back(thread_form(string("cvt.pack.sat.") + t + ".s32",
                              near + "cvt.pack.sat." + t + ".s32 %o0, %a0, %a1;\n", 1));
  for (const char* t : {"s8", "u8", "s4", "u4", "s2", "u2"})
    all.push_back(thread_form(
        string("cvt.pack.sat.") + t + ".s32.b32",
        near + "shr.s32 %a0, %a0, 9;\ncvt.pack.sat." + t + ".s32.b32 %o0, %a0, %a1, %a2;\n", 1));
  for (const char* op : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"})
    for (const char* types : {"u32.u32.u32", "s32.s32.s32"})
      for (const char* rest : {"", ".sat", ".add"})
        for (const char* count : {"2.", "4."})
          all.push_back(of(string(op) + count + types + rest, 32, 3, Draw::bits));
  for (const char* t : {"u32", "s32"}) {
    all.push_back(thread_form(
        string("bfe.") + t,
        string("and.b32 %a1, %a1, 63;\nand.b32 %a2, %a2, 63;\nbfe.") + t + " %o0, %a0, %a1, %a2;\n",
        1, Draw::bits));
    all.push_back(thread_form(
        string("mul.wide.") + t,
        string(".reg .b64 %w;\nmul.wide.") + t + " %w, %a0, %a1;\nmov.b64 {%o0, %o1}, %w;\n", 2));
    all.push_back(thread_form(
        string("mad.wide.") + t,
        string(".reg .b64 %w;\nmad.wide.") + t + " %w, %a0, %a1, %q1;\nmov.b64 {%o0, %o1}, %w;\n",
        2));
  }
  all.push_back(thread_form(
      "bfi.b32", "and.b32 %a2, %a2, 63;\nand.b32 %a3, %a3, 63;\nbfi.b32 %o0, %a0, %a1, %a2, %a3;\n",
      1));
  all.push_back(thread_form(
      "add.cc", "add.cc.u32 %o0, %a0, %a1;\naddc.cc.u32 %o1, %a2, %a3;\naddc.u32 %o2, %a4, %a5;\n",
      3));
  all.push_back(thread_form(
      "sub.cc", "sub.cc.u32 %o0, %a0, %a1;\nsubc.cc.u32 %o1, %a2, %a3;\nsubc.u32 %o2, %a4, %a5;\n",
      3));
  for (const char* t : {"u32", "s32", "f32", "f16x2", "bf16x2", "u64", "f64"})
    for (const char* c : {"eq", "lt", "ge", "neu", "nan"}) {
      const string type = t, op = c;
      const bool real = type[0] == 'f' || type[0] == 'b';
      if (op.size() == 3 && !real) continue;
      const bool pair = type.ends_with("x2"), wide = width(type) == 64;
      const string x = wide ? "%q0" : "%a0", y = wide ? "%q1" : "%a1";
      all.push_back(thread_form("setp." + op + "." + type,
                                ".reg .pred %p, %s;\nsetp." + op + "." + type + " %p|%s, " + x +
                                    ", " + y +
                                    ";\nselp.u32 %o0, 1, 0, %p;\nselp.u32 %o1, 1, 0, %s;\n",
                                2, kind_of(type)));
      (void)pair;
    }
  return all;
}

std::vector<Form> floating_forms() {
  std::vector<Form> all;
  const auto add = [&](const string& opcode, int operands, const std::vector<string>& types) {
    for (const string& t : types)
      all.push_back(of(opcode + "." + t, width(t), operands, kind_of(t)));
  };
  for (const char* r : {"rn", "rz", "rm", "rp"})
    for (const char* op : {"add", "sub", "mul"}) add(string(op) + "." + r, 2, {"f32", "f64"});
  for (const char* r : {"rn", "rz", "rm", "rp"}) add(string("fma.") + r, 3, {"f32", "f64"});
  for (const char* op : {"add", "sub", "mul"}) {
    add(string(op) + ".ftz", 2, {"f32"});
    add(string(op) + ".sat", 2, {"f32"});
    add(string(op) + ".rn", 2, {"f16", "f16x2", "bf16", "bf16x2"});
  }
  add("fma.rn", 3, {"f16", "f16x2", "bf16", "bf16x2"});
  add("fma.rn.relu", 3, {"f16x2", "bf16x2"});
  add("fma.rn.ftz.sat", 3, {"f32"});
  for (const char* op : {"min", "max"}) {
    add(op, 2, {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"});
    add(string(op) + ".NaN", 2, {"f32", "f16x2", "bf16x2"});
    add(string(op) + ".xorsign.abs", 2, {"f32", "f16x2", "bf16x2"});
  }
  add("neg", 1, {"f32", "f64", "f16x2", "bf16x2"});
  add("abs", 1, {"f32", "f64", "f16x2", "bf16x2"});
  add("div.rn", 2, {"f32", "f64"});
  add("sqrt.rn", 1, {"f32", "f64"});
  add("rcp.rn", 1, {"f32", "f64"});
  add("copysign", 2, {"f32"});
  return all;
}

std::vector<Form> conversion_forms() {
  std::vector<Form> all;
  const auto simple = [&](const string& name, const string& from, const string& to) {
    const Operands in = of_width(width(from)), out = of_width(width(to));
    string declarations = ".reg .b64 %w;\n.reg .b16 %h<4>, %z;\n";
    const bool packed8 = false;
    (void)packed8;
    all.push_back(thread_form(name,
                              in.load + name + " " + out.out + ", " + in.in[0] + ";\n" + out.store,
                              width(to) == 64 ? 2 : 1, kind_of(from), declarations));
  };
  for (const char* t : {"u16", "s16", "u32", "s32", "u64", "s64"}) {
    for (const char* f : {"f32", "f64"}) {
      for (const char* r : {"rni", "rzi", "rmi", "rpi"})
        simple(string("cvt.") + r + "." + t + "." + f, f, t);
      for (const char* r : {"rn", "rz", "rp"}) simple(string("cvt.") + r + "." + f + "." + t, t, f);
    }
  }
  for (const char* r : {"rn", "rz", "rm", "rp"})
    simple(string("cvt.") + r + ".f32.f64", "f64", "f32");
  for (const char* r : {"rn", "rz"}) {
    simple(string("cvt.") + r + ".f16.f32", "f32", "f16");
    simple(string("cvt.") + r + ".bf16.f32", "f32", "bf16");
  }
  simple("cvt.f64.f32", "f32", "f64");
  simple("cvt.f32.f16", "f16", "f32");
  simple("cvt.f32.bf16", "bf16", "f32");
  simple("cvt.rni.f32.f32", "f32", "f32");
  simple("cvt.rzi.f32.f32", "f32", "f32");
  simple("cvt.rn.f16.s32", "s32", "f16");
  simple("cvt.rna.tf32.f32", "f32", "f32");
  simple("cvt.sat.f32.f32", "f32", "f32");
  for (const char* p :
       {"u32.u16", "s32.s16", "u32.s16", "u64.u32", "s64.s32", "u16.u32", "u32.u64"}) {
    const string pair = p;
    simple("cvt." + pair, pair.substr(pair.find('.') + 1), pair.substr(0, pair.find('.')));
  }
  simple("cvt.sat.s16.s32", "s32", "s16");
  simple("cvt.sat.u16.s32", "s32", "u16");
  for (const char* n : {"rn.f16x2.f32", "rn.bf16x2.f32", "rz.f16x2.f32", "rz.bf16x2.f32",
                        "rn.relu.f16x2.f32", "rn.relu.bf16x2.f32"})
    all.push_back(
        thread_form(string("cvt.") + n, string("cvt.") + n + " %o0, %a0, %a1;\n", 1, Draw::f32));
  for (const char* n : {"e4m3x2", "e5m2x2"}) {
    const string type = n;
    for (const char* relu : {"", ".relu"}) {
      all.push_back(thread_form("cvt.rn.satfinite" + string(relu) + "." + type + ".f32",
                                ".reg .b16 %h;\ncvt.rn.satfinite" + string(relu) + "." + type +
                                    ".f32 %h, %a0, %a1;\ncvt.u32.u16 %o0, %h;\n",
                                1, Draw::f32));
      all.push_back(thread_form("cvt.rn.satfinite" + string(relu) + "." + type + ".f16x2",
                                ".reg .b16 %h;\ncvt.rn.satfinite" + string(relu) + "." + type +
                                    ".f16x2 %h, %a0;\ncvt.u32.u16 %o0, %h;\n",
                                1, Draw::f16));
      all.push_back(thread_form("cvt.rn" + string(relu) + ".f16x2." + type,
                                ".reg .b16 %h, %z;\nmov.b32 {%h, %z}, %a0;\ncvt.rn" + string(relu) +
                                    ".f16x2." + type + " %o0, %h;\n",
                                1, Draw::bits));
    }
  }
  return all;
}

}  // namespace assay::model::golden
