// SPDX-License-Identifier: Apache-2.0
// Golden forms of what the suite's tables measure and no other file here has, one instruction each.
#include "harness/model/tests/golden/forms.hpp"

namespace assay::model::golden {
namespace {

using std::string;

const char* kRegisters = ".reg .b16 %h<4>, %z;\n.reg .b64 %w;\n.reg .pred %p<3>;\n";

Draw kind_of(const string& type) {
  if (type.starts_with("f16")) return Draw::f16;
  if (type.starts_with("bf16")) return Draw::bf16;
  if (type == "f32") return Draw::f32;
  return type == "f64" ? Draw::f64 : Draw::bits;
}

// cvt.*.to.from of one register, of 8 and 16 bits in one of 16.
Form conversion(const string& opcode, const string& to, const string& from) {
  const auto width = [](const string& t) {
    return t.ends_with("64") ? 64 : t.ends_with("32") ? 32 : 16;
  };
  const string name = "cvt." + opcode + (opcode.empty() ? "" : ".") + to + "." + from;
  string body = "mov.b32 {%h0, %z}, %a0;\n";
  const string in = width(from) == 64 ? "%q0" : width(from) == 32 ? "%a0" : "%h0";
  const string out = width(to) == 64 ? "%w" : width(to) == 32 ? "%o0" : "%h1";
  body += name + " " + out + ", " + in + ";\n";
  if (width(to) == 64) body += "mov.b64 {%o0, %o1}, %w;\n";
  if (width(to) == 16) body += "cvt.u32.u16 %o0, %h1;\n";
  return thread_form(name, body, width(to) == 64 ? 2 : 1, kind_of(from), kRegisters);
}

}  // namespace

std::vector<Form> measured_forms() {
  std::vector<Form> all;
  for (const char* operation : {"add", "mul"})
    for (const char* type : {"f32", "f16x2"})
      for (const char* modifier : {".ftz", ".sat"}) {
        const string name = string(operation) + ".rn" + modifier + "." + type;
        all.push_back(thread_form(name, name + " %o0, %a0, %a1;\n", 1, kind_of(type)));
      }
  all.push_back(
      thread_form("fma.rn.ftz.f32", "fma.rn.ftz.f32 %o0, %a0, %a1, %a2;\n", 1, Draw::f32));
  all.push_back(
      thread_form("fma.rn.oob.f16x2", "fma.rn.oob.f16x2 %o0, %a0, %a1, %a2;\n", 1, Draw::f16));
  for (const char* operation : {"min", "max"}) {
    const string name = string(operation) + ".s16x2.relu";
    all.push_back(thread_form(name, name + " %o0, %a0, %a1;\n", 1));
  }
  struct Conversion {
    const char *opcode, *to, *from;
  };
  for (const Conversion& c :
       {Conversion{"", "f64", "f16"}, {"ftz", "f32", "f32"},      {"rmi", "f32", "f32"},
        {"rpi", "f32", "f32"},        {"rni", "f64", "f64"},      {"rmi.ftz", "s32", "f32"},
        {"rn", "bf16", "s32"},        {"rn", "f16", "f64"},       {"rn", "f16", "s16"},
        {"rn", "f16", "u16"},         {"rn", "f16", "u32"},       {"rn", "f32", "s8"},
        {"rn", "f32", "u8"},          {"rn.relu", "tf32", "f32"}, {"rn", "tf32", "f32"},
        {"rz", "tf32", "f32"},        {"rzi", "s32", "bf16"},     {"rzi", "s32", "f16"},
        {"rzi", "s8", "f32"},         {"rzi", "u32", "f16"},      {"rzi", "u8", "f32"},
        {"sat", "u8", "s32"}})
    all.push_back(conversion(c.opcode, c.to, c.from));
  all.push_back(thread_form("cvt.rn.satfinite.f16x2.f32",
                            "cvt.rn.satfinite.f16x2.f32 %o0, %a0, %a1;\n", 1, Draw::f32));
  all.push_back(thread_form("lop3.or.b32",
                            "setp.lt.s32 %p0, %a3, 0;\nand.b32 %a2, %a2, %a0;\nlop3.or.b32 "
                            "%o0|%p1, %a0, %a1, %a2, 0x80, %p0;\nselp.u32 %o1, 1, 0, %p1;\n",
                            2, Draw::bits, kRegisters));
  all.push_back(thread_form("match.all.sync.b64",
                            "and.b32 %a0, %c, 1;\nand.b32 %a0, %a0, %t;\nmov.b64 %q0, {%a0, "
                            "%c};\nmatch.all.sync.b64 %o0|%p0, %q0, 0xffffffff;\nselp.u32 %o1, 1, "
                            "0, %p0;\nmatch.any.sync.b64 %o2, %q0, 0xffffffff;\n",
                            3, Draw::bits, kRegisters));
  for (const char* type : {"s32", "f64", "bf16x2"}) {
    const bool wide = string(type) == "f64";
    all.push_back(thread_form(string("setp.lt.xor.") + type,
                              string("setp.lt.s32 %p2, %a9, 0;\nsetp.lt.xor.") + type +
                                  " %p0|%p1, " + (wide ? "%q0, %q1" : "%a0, %a1") +
                                  ", %p2;\nselp.u32 %o0, 1, 0, %p0;\nselp.u32 %o1, 1, 0, %p1;\n",
                              2, kind_of(type), kRegisters));
  }
  all.push_back(thread_form("shr.u64",
                            "and.b32 %a4, %a4, 127;\nshr.u64 %w, %q0, %a4;\nmov.b64 {%o0, %o1}, "
                            "%w;\n",
                            2, Draw::bits, kRegisters));
  all.push_back(thread_form("red.relaxed.gpu.global.max.u64",
                            "red.relaxed.gpu.global.max.u64 [%in], %q1;\nld.global.b64 %w, "
                            "[%in];\nmov.b64 {%o0, %o1}, %w;\nst.global.b64 [%in], "
                            "%q2;\nst.global.b32 [%in+4], %a0;\nld.global.v2.b32 {%o2, %o3}, "
                            "[%in];\n",
                            4, Draw::bits, kRegisters));
  // One of the functions that are called.
  Form call = thread_form("call",
                          "{\n.param .b32 %x;\n.param .b32 %r;\nst.param.b32 [%x], "
                          "%a0;\ncall (%r), twice, (%x);\nld.param.b32 %o0, [%r];\n}\n",
                          1);
  const string head = ".visible .entry";
  call.ptx.insert(call.ptx.find(head),
                  ".func (.param .b32 %r) twice(.param .b32 %x)\n{\n.reg .b32 %v;\nld.param.b32 "
                  "%v, [%x];\nmad.lo.u32 %v, %v, 2, 5;\nst.param.b32 [%r], %v;\nret;\n}\n");
  all.push_back(std::move(call));
  return all;
}

}  // namespace assay::model::golden
