// SPDX-License-Identifier: Apache-2.0
// Golden forms of comparisons and selections, of bits, and of what a thread does beside arithmetic.
#include "harness/model/tests/golden/forms.hpp"

namespace assay::model::golden {
namespace {

using std::string;

// Of each type two sources and a third, in registers.
struct Sources {
  string load, a, b, c;
};

Sources sources(int bits) {
  if (bits == 64) return {"", "%q0", "%q1", "%q2"};
  if (bits == 32) return {"", "%a0", "%a2", "%a4"};
  return {"mov.b32 {%h0, %z}, %a0;\nmov.b32 {%h1, %z}, %a2;\nmov.b32 {%h2, %z}, %a4;\n", "%h0",
          "%h1", "%h2"};
}

const char* kHalves = ".reg .b16 %h<5>, %z;\n.reg .pred %p<12>, %same;\n.reg .b64 %w;\n";

// Now and then both sources are the same.
const char* kSame =
    "and.b32 %a9, %a9, 3;\nsetp.eq.u32 %same, %a9, 0;\n@%same mov.b32 %a2, %a0;\n@%same mov.b32 "
    "%a3, %a1;\nmov.b64 %q1, {%a2, %a3};\n";

Draw kind_of(const string& type) {
  if (type.starts_with("f16")) return Draw::f16;
  if (type.starts_with("bf16")) return Draw::bf16;
  if (type == "f32") return Draw::f32;
  if (type == "f64") return Draw::f64;
  return Draw::bits;
}

int width(const string& type) {
  if (type.ends_with("64")) return 64;
  return type.ends_with("16") ? 16 : 32;
}

std::vector<string> tests_of(const string& type) {
  if (kind_of(type) != Draw::bits)
    return {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
            "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  if (type[0] == 'b') return {"eq", "ne"};
  if (type[0] == 's') return {"eq", "ne", "lt", "le", "gt", "ge"};
  return {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"};
}

// All comparisons of a type, a bit of the result each. Of one half there is no second predicate.
Form all_setp(const string& type, const string& modifier) {
  const Sources s = sources(width(type));
  const bool single = type.ends_with("f16");
  string body = kSame + s.load;
  int bit = 0;
  for (const string& test : tests_of(type)) {
    body += "setp." + test + modifier + "." + type + (single ? " %p0, " : " %p0|%p1, ") + s.a +
            ", " + s.b + ";\n";
    for (const char* p : {"%p0", "%p1"}) {
      if (single && p[2] == '1') break;
      body +=
          "selp.u32 %t, " + std::to_string(1u << bit++) + ", 0, " + p + ";\nor.b32 %o0, %o0, %t;\n";
    }
  }
  return thread_form("setp.all" + modifier + "." + type, body, 1, kind_of(type), kHalves);
}

// A comparison joined with a predicate.
Form joined_setp(const string& join, const string& type) {
  const Sources s = sources(width(type));
  string body = kSame + s.load + "setp.lt.s32 %p4, %a7, 0;\n";
  int bit = 0;
  for (const char* third : {"%p4", "!%p4"})
    for (const char* test : {"lt", "ge", "ne"}) {
      body += string("setp.") + test + "." + join + "." + type + " %p0|%p1, " + s.a + ", " + s.b +
              ", " + third + ";\n";
      for (const char* p : {"%p0", "%p1"})
        body += "selp.u32 %t, " + std::to_string(1u << bit++) + ", 0, " + p +
                ";\nor.b32 %o0, %o0, %t;\n";
    }
  return thread_form("setp.joined." + join + "." + type, body, 1, kind_of(type), kHalves);
}

// Some comparisons with their results in registers, each of its own.
Form set_form(const string& to, const string& from, const string& modifier) {
  const Sources s = sources(width(from));
  const std::vector<string> tests = tests_of(from);
  string body = kSame + s.load + "setp.lt.s32 %p4, %a7, 0;\nmov.b16 %h4, 0;\n";
  const bool joins = modifier == ".and" || modifier == ".or" || modifier == ".xor";
  const bool half = to == "f16" || to == "bf16" || to == "u16" || to == "s16";
  for (int k = 0; k < 8; ++k) {
    const string& test = tests[static_cast<std::size_t>(k) * 5 % tests.size()];
    const string out = "%o" + std::to_string(k);
    body += "set." + test + modifier + "." + to + "." + from + " " + (half ? "%h3" : out) + ", " +
            s.a + ", " + s.b + (joins ? k % 2 ? ", !%p4" : ", %p4" : "") + ";\n";
    // Not by cvt.u32.u16: after set.f16.f16 and set.bf16.bf16 the assembler of CUDA 13.0 takes the
    // upper half for zero, and HSET2 leaves the result there too.
    if (half) body += "mov.b32 " + out + ", {%h3, %h4};\n";
  }
  return thread_form("set" + modifier + "." + to + "." + from, body, 8, kind_of(from), kHalves);
}

Form select_form(const string& type, const string& by, const string& ftz) {
  const int bits = width(type);
  const Sources s = sources(bits);
  string body = s.load;
  const string out = bits == 64 ? "%w" : bits == 16 ? "%h3" : "%o0";
  body += "slct" + ftz + "." + type + "." + by + " " + out + ", " + s.a + ", " + s.b + ", %a6;\n";
  if (bits == 64) body += "mov.b64 {%o0, %o1}, %w;\n";
  if (bits == 16) body += "cvt.u32.u16 %o0, %h3;\n";
  std::vector<Draw> kinds(12, Draw::bits);
  if (by == "f32") kinds[6] = Draw::f32;
  return thread_form("slct" + ftz + "." + type + "." + by, body, bits == 64 ? 2 : 1, kinds,
                     kHalves);
}

}  // namespace

std::vector<Form> comparison_forms() {
  std::vector<Form> all;
  for (const char* type : {"b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f16",
                           "f16x2", "bf16", "bf16x2", "f32", "f64"})
    all.push_back(all_setp(type, ""));
  for (const char* type : {"f16", "f16x2", "f32"}) all.push_back(all_setp(type, ".ftz"));
  for (const char* join : {"and", "or", "xor"})
    for (const char* type : {"u32", "f32", "f16x2"}) all.push_back(joined_setp(join, type));
  for (const char* from :
       {"u16", "s16", "b16", "u32", "s32", "b32", "u64", "s64", "b64", "f32", "f64", "f16", "bf16"})
    for (const char* to : {"u32", "s32", "f32"}) {
      const string f = from, t = to;
      if (f.ends_with("f16") && t == "f32") continue;
      all.push_back(set_form(to, from, ""));
    }
  for (const char* modifier : {".ftz", ".and", ".or", ".xor"})
    all.push_back(set_form("u32", "f32", modifier));
  for (const char* modifier : {".and", ".or", ".xor"}) {
    all.push_back(set_form("f32", "s32", modifier));
    all.push_back(set_form("f16x2", "f16x2", modifier));
  }
  for (const char* from : {"u16", "s16", "u32", "s32", "u64", "s64", "f16", "f32", "f64"})
    all.push_back(set_form("f16", from, ""));
  for (const char* from : {"u16", "s16", "u32", "s32", "u64", "s64", "bf16", "f32", "f64"})
    all.push_back(set_form("bf16", from, ""));
  for (const char* to : {"u16", "s16"})
    for (const char* from : {"f16", "bf16"}) all.push_back(set_form(to, from, ""));
  for (const char* from : {"f16x2", "bf16x2"}) {
    for (const char* to : {"u32", "s32"}) all.push_back(set_form(to, from, ""));
    all.push_back(set_form(from, from, ""));
  }
  all.push_back(set_form("f16", "f16", ".ftz"));
  all.push_back(set_form("f16x2", "f16x2", ".ftz"));
  for (const char* type :
       {"b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"})
    all.push_back(select_form(type, "s32", ""));
  for (const char* type : {"b16", "s32", "f32", "f64"}) {
    all.push_back(select_form(type, "f32", ""));
    all.push_back(select_form(type, "f32", ".ftz"));
  }
  for (const char* type : {"f32", "f64"})
    for (const char* what : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
      const string name = string("testp.") + what + "." + type;
      all.push_back(thread_form(name,
                                name + " %p0, " + (string(type) == "f32" ? "%a0" : "%q0") +
                                    ";\nselp.u32 %o0, 1, 0, %p0;\n",
                                1,
                                string(type) == "f32" ? std::vector<Draw>{Draw::f32}
                                                      : std::vector<Draw>{Draw::bits, Draw::f32},
                                kHalves));
    }
  for (const char* type : {"b16", "b32", "b64", "u16", "u64", "f32", "f64", "s32"}) {
    const int bits = width(type);
    const Sources s = sources(bits);
    const string out = bits == 64 ? "%w" : bits == 16 ? "%h3" : "%o0";
    all.push_back(thread_form(string("selp.") + type,
                              s.load + "setp.lt.s32 %p0, %a7, 0;\nselp." + type + " " + out + ", " +
                                  s.a + ", " + s.b + ", %p0;\n" +
                                  (bits == 64   ? "mov.b64 {%o0, %o1}, %w;\n"
                                   : bits == 16 ? "cvt.u32.u16 %o0, %h3;\n"
                                                : ""),
                              bits == 64 ? 2 : 1, Draw::bits, kHalves));
  }
  return all;
}

std::vector<Form> bit_forms() {
  std::vector<Form> all;
  for (const char* type : {"b16", "b32", "b64"}) {
    const int bits = width(type);
    for (const char* op : {"cnot", "not"}) {
      if (string(op) == "not" && bits == 32) continue;  // among the integers
      const Sources s = sources(bits);
      const string out = bits == 64 ? "%w" : bits == 16 ? "%h3" : "%o0";
      all.push_back(thread_form(string(op) + "." + type,
                                "setp.lt.s32 %p0, %a7, 0;\n@%p0 mov.b32 %a0, 0;\n@%p0 mov.b32 %a1, "
                                "0;\nmov.b64 %q0, {%a0, "
                                "%a1};\n" +
                                    s.load + op + "." + type + " " + out + ", " + s.a + ";\n" +
                                    (bits == 64   ? "mov.b64 {%o0, %o1}, %w;\n"
                                     : bits == 16 ? "cvt.u32.u16 %o0, %h3;\n"
                                                  : ""),
                                bits == 64 ? 2 : 1, Draw::bits, kHalves));
    }
    for (const char* op : {"or", "xor"}) {
      if (bits == 32) continue;
      const Sources s = sources(bits);
      const string out = bits == 64 ? "%w" : "%h3";
      all.push_back(
          thread_form(string(op) + "." + type,
                      s.load + op + "." + type + " " + out + ", " + s.a + ", " + s.b + ";\n" +
                          (bits == 64 ? "mov.b64 {%o0, %o1}, %w;\n" : "cvt.u32.u16 %o0, %h3;\n"),
                      bits == 64 ? 2 : 1, Draw::bits, kHalves));
    }
  }
  for (const char* op : {"and", "or", "xor", "not"})
    all.push_back(thread_form(string(op) + ".pred",
                              string("setp.lt.s32 %p0, %a0, 0;\nsetp.lt.s32 %p1, %a1, 0;\n") + op +
                                  ".pred %p2, %p0" + (string(op) == "not" ? "" : ", %p1") +
                                  ";\nselp.u32 %o0, 1, 0, %p2;\n",
                              1, Draw::bits, kHalves));
  for (const char* op : {"popc", "clz"})
    all.push_back(thread_form(string(op) + ".b64", string(op) + ".b64 %o0, %q0;\n", 1));
  for (const char* op : {"bfind.u64", "bfind.s64", "bfind.shiftamt.u64", "bfind.shiftamt.s64"})
    all.push_back(thread_form(op, string(op) + " %o0, %q0;\n", 1));
  for (const char* type : {"u64", "s64"})
    all.push_back(thread_form(string("bfe.") + type,
                              string("and.b32 %a2, %a2, 127;\nand.b32 %a3, %a3, 127;\nbfe.") +
                                  type + " %w, %q0, %a2, %a3;\nmov.b64 {%o0, %o1}, %w;\n",
                              2, Draw::bits, kHalves));
  all.push_back(thread_form("bfi.b64",
                            "and.b32 %a4, %a4, 127;\nand.b32 %a5, %a5, 127;\nbfi.b64 %w, %q0, %q1, "
                            "%a4, %a5;\nmov.b64 {%o0, %o1}, %w;\n",
                            2, Draw::bits, kHalves));
  // Positions and counts mostly within the word, now and then far beyond it.
  const string near =
      "setp.lt.s32 %p0, %a7, 0x60000000;\n@%p0 and.b32 %a1, %a1, 63;\n"
      "@%p0 and.b32 %a2, %a2, 63;\n";
  for (const char* mode : {"clamp", "wrap"}) {
    all.push_back(thread_form(string("bmsk.") + mode + ".b32",
                              near + "bmsk." + mode + ".b32 %o0, %a1, %a2;\n", 1, Draw::bits,
                              kHalves));
    for (const char* type : {"u32", "s32"})
      all.push_back(thread_form(string("szext.") + mode + "." + type,
                                near + "szext." + mode + "." + type + " %o0, %a0, %a1;\n", 1,
                                Draw::bits, kHalves));
  }
  for (const char* a : {"u32", "s32"})
    for (const char* b : {"u32", "s32"})
      for (const char* op : {"dp4a", "dp2a.lo", "dp2a.hi"}) {
        const string name = string(op) + "." + a + "." + b;
        all.push_back(thread_form(name, name + " %o0, %a0, %a1, %a2;\n", 1));
      }
  const auto scalar = [&](const string& name, int operands, int bits, Draw kind = Draw::bits) {
    const Sources s = sources(bits);
    const string out = bits == 64 ? "%w" : bits == 16 ? "%h3" : "%o0";
    string body = s.load + name + " " + out;
    for (int k = 0; k < operands; ++k) body += ", " + (k == 0 ? s.a : k == 1 ? s.b : s.c);
    body += ";\n";
    if (bits == 64) body += "mov.b64 {%o0, %o1}, %w;\n";
    if (bits == 16) body += "cvt.u32.u16 %o0, %h3;\n";
    all.push_back(thread_form(name, body, bits == 64 ? 2 : 1, kind, kHalves));
  };
  // What is left of the arithmetic.
  for (const char* type : {"u16", "s16", "u64", "s64"}) {
    const int bits = width(type);
    for (const char* op : {"div", "rem"}) scalar(string(op) + "." + type, 2, bits);
    scalar(string("sad.") + type, 3, bits);
    if (bits == 16)
      for (const char* op : {"min", "max"}) scalar(string(op) + "." + type, 2, bits);
    scalar(string("mad.hi.") + type, 3, bits);
    if (string(type) != "u64") scalar(string("mad.lo.") + type, 3, bits);
  }
  scalar("mad.hi.sat.s32", 3, 32);
  scalar("add.u16x2", 2, 32);
  scalar("add.s16x2", 2, 32);
  for (const char* op : {"min", "max"}) scalar(string(op) + ".relu.s32", 2, 32);
  for (const char* op : {"min", "max"}) scalar(string(op) + ".relu.s16x2", 2, 32);
  for (const char* op : {"sub", "add"}) {
    scalar(string(op) + ".sat.f16x2", 2, 32, Draw::f16);
    scalar(string(op) + ".ftz.f16", 2, 16, Draw::f16);
    scalar(string(op) + ".ftz.sat.f32", 2, 32, Draw::f32);
  }
  scalar("mul.sat.f16", 2, 16, Draw::f16);
  scalar("mul.ftz.f16x2", 2, 32, Draw::f16);
  scalar("fma.rn.ftz.f16x2", 3, 32, Draw::f16);
  scalar("fma.rn.sat.f16x2", 3, 32, Draw::f16);
  scalar("fma.rn.ftz.relu.f16", 3, 16, Draw::f16);
  scalar("fma.rn.relu.bf16", 3, 16, Draw::bf16);
  scalar("fma.rn.sat.f32", 3, 32, Draw::f32);
  scalar("fma.rz.ftz.f32", 3, 32, Draw::f32);
  for (const char* op : {"min", "max"}) {
    scalar(string(op) + ".ftz.f32", 2, 32, Draw::f32);
    scalar(string(op) + ".ftz.NaN.xorsign.abs.f32", 2, 32, Draw::f32);
    scalar(string(op) + ".ftz.f16", 2, 16, Draw::f16);
    scalar(string(op) + ".NaN.f16", 2, 16, Draw::f16);
    scalar(string(op) + ".NaN.xorsign.abs.bf16", 2, 16, Draw::bf16);
  }
  for (const char* op : {"abs", "neg"}) {
    scalar(string(op) + ".ftz.f32", 1, 32, Draw::f32);
    scalar(string(op) + ".f16", 1, 16, Draw::f16);
    scalar(string(op) + ".ftz.f16x2", 1, 32, Draw::f16);
    scalar(string(op) + ".bf16", 1, 16, Draw::bf16);
  }
  scalar("copysign.f64", 2, 64, Draw::f64);
  for (const char* r : {"rz", "rm", "rp"}) {
    scalar(string("div.") + r + ".f32", 2, 32, Draw::f32);
    scalar(string("div.") + r + ".f64", 2, 64, Draw::f64);
    scalar(string("sqrt.") + r + ".f32", 1, 32, Draw::f32);
    scalar(string("sqrt.") + r + ".f64", 1, 64, Draw::f64);
    scalar(string("rcp.") + r + ".f32", 1, 32, Draw::f32);
    scalar(string("rcp.") + r + ".f64", 1, 64, Draw::f64);
  }
  for (const char* op : {"div", "sqrt", "rcp"})
    scalar(string(op) + ".rn.ftz.f32", string(op) == "div" ? 2 : 1, 32, Draw::f32);
  // Packing and unpacking.
  all.push_back(thread_form("mov.v4.b16",
                            "mov.b64 {%h0, %h1, %h2, %h3}, %q0;\nmov.b64 %w, {%h2, %h0, %h3, "
                            "%h1};\nmov.b64 {%o0, %o1}, %w;\n",
                            2, Draw::bits, kHalves));
  all.push_back(thread_form("mov.v4.b8",
                            "mov.b32 {%y0, %y1, %y2, %y3}, %a0;\nmov.b32 %o0, {%y2, %y0, %y3, "
                            "%y1};\n",
                            1, Draw::bits, ".reg .b8 %y<4>;\n"));
  // Branches by a table, and a call.
  all.push_back(thread_form("brx.idx",
                            "and.b32 %a0, %a0, 3;\n$table: .branchtargets $one, $two, $three, "
                            "$four;\nbrx.idx %a0, $table;\n$one:\nadd.u32 %o0, %a1, 1;\nbra "
                            "$join;\n$two:\nsub.u32 %o0, %a1, %a2;\nbra $join;\n$three:\nxor.b32 "
                            "%o0, %a1, %a2;\nbra $join;\n$four:\nmul.lo.u32 %o0, %a1, "
                            "%a2;\n$join:\n",
                            1));
  all.push_back(thread_form(
      "bra.loop",
      "and.b32 %a0, %a0, 31;\n$loop:\nmad.lo.u32 %o0, %o0, 5, %a1;\nsub.u32 %a0, %a0, 1;\nsetp.gt"
      ".s32 %p0, %a0, 0;\n@%p0 bra $loop;\nactivemask.b32 %o1;\n",
      2, Draw::bits, kHalves));
  for (const char* space :
       {"global", "shared", "shared::cta", "shared::cluster", "local", "const", "param"})
    all.push_back(thread_form(
        string("isspacep.") + space,
        string("mov.u64 %w, room;\ncvta.shared.u64 %w, %w;\nisspacep.") + space +
            " %p0, %w;\nisspacep." + space +
            " %p1, %in;\nmov.u64 %w, own;\ncvta.local.u64 %w, %w;\nisspacep." + space +
            " %p2, %w;\nselp.u32 %o0, 1, 0, %p0;\nselp.u32 %o1, 1, 0, %p1;\nselp.u32 %o2, 1, 0, "
            "%p2;\n",
        3, Draw::bits,
        string(kHalves) + ".shared .align 16 .b8 room[16];\n.local .align 16 .b8 own[16];\n"));
  all.push_back(
      thread_form("cvta.to",
                  "mov.u64 %w, room;\ncvta.shared.u64 %w, %w;\ncvta.to.shared.u64 %w, "
                  "%w;\nmul.wide.u32 %off, %t, 4;\nadd.s64 %w, %w, %off;\nst.shared.b32 [%w], "
                  "%a0;\nmov.u32 %c, room;\nmad.lo.u32 %c, %t, 4, %c;\nld.shared.b32 %o0, [%c];\n",
                  1, {Draw::small}, string(kHalves) + ".shared .align 16 .b8 room[128];\n"));
  return all;
}

}  // namespace assay::model::golden
