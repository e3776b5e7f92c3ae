// SPDX-License-Identifier: Apache-2.0
// Golden forms of floating-point numbers that go wrong: NaNs and what becomes of their bits,
// infinities, subnormal numbers, ends of ranges. The other forms meet few of them, and no f64 is.
#include "harness/model/tests/golden/forms.hpp"

namespace assay::model::golden {
namespace {

using std::string;

int width(const string& type) {
  if (type.ends_with("64")) return 64;
  return type.ends_with("32") || type.ends_with("x2") ? 32 : 16;
}

Draw kind_of(const string& type) {
  if (type.starts_with("f16")) return Draw::special_f16;
  if (type.starts_with("bf16")) return Draw::special_bf16;
  return type == "f32" ? Draw::special_f32 : Draw::special_f64;
}

// One instruction of so many sources of type `from`, with a result of type `to`.
Form special(const string& opcode, const string& to, const string& from, int sources) {
  const auto source = [&](int k) {
    const char* kinds[] = {"%h", "%a", "%q"};
    return kinds[width(from) / 32] + std::to_string(k);
  };
  const string out = width(to) == 64 ? "%w" : width(to) == 32 ? "%o0" : "%h3";
  string body = "mov.b16 %z, 0;\n";
  if (width(from) == 16)
    for (int k = 0; k < 3; ++k)
      body += "mov.b32 {%h" + std::to_string(k) + ", %x}, %a" + std::to_string(k) + ";\n";
  body += opcode + " " + out;
  for (int k = 0; k < sources; ++k) body += ", " + source(k);
  body += ";\n";
  if (width(to) == 64) body += "mov.b64 {%o0, %o1}, %w;\n";
  if (width(to) == 16) body += "mov.b32 %o0, {%h3, %z};\n";
  return thread_form(opcode + "/special", body, width(to) == 64 ? 2 : 1, kind_of(from),
                     ".reg .b16 %h<4>, %x, %z;\n.reg .b64 %w;\n");
}

}  // namespace

std::vector<Form> special_forms() {
  std::vector<Form> all;
  const auto convert = [&](const string& how, const string& to, const string& from) {
    all.push_back(special("cvt." + how + to + "." + from, to, from, 1));
  };
  for (const char* from : {"f16", "bf16", "f32", "f64"})
    for (const char* to : {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"})
      if (string(to).size() > 2 || string(from) != "bf16") convert("rzi.", to, from);
  for (const char* from : {"f32", "f64"})
    for (const char* how : {"rni.", "rmi.", "rpi."}) {
      convert(how, "s32", from);
      convert(how, from, from);
    }
  for (const char* how : {"rn.", "rz.", "rm.", "rp."}) convert(how, "f32", "f64");
  for (const char* to : {"f16", "bf16"}) {
    convert("rn.", to, "f64");
    for (const char* how : {"rn.", "rz.", "rn.relu."}) convert(how, to, "f32");
    convert("", "f32", to);
    convert("", "f64", to);
  }
  convert("", "f64", "f32");
  convert("ftz.", "f64", "f32");
  convert("rn.ftz.", "f32", "f64");
  convert("rn.sat.", "f32", "f64");
  convert("sat.", "f32", "f32");
  for (const char* how : {"rna.", "rn.", "rz.", "rn.relu."})
    all.push_back(special(string("cvt.") + how + "tf32.f32", "u32", "f32", 1));
  for (const char* to : {"f16x2", "bf16x2"})
    for (const char* how : {"rn.", "rz.", "rn.relu."})
      all.push_back(special(string("cvt.") + how + to + ".f32", to, "f32", 2));
  for (const char* to : {"e4m3x2", "e5m2x2"})
    for (const char* how : {"rn.satfinite.", "rn.satfinite.relu."})
      all.push_back(special(string("cvt.") + how + to + ".f32", "b16", "f32", 2));

  const auto compute = [&](const string& how, int sources, std::initializer_list<string> types) {
    for (const string& type : types) all.push_back(special(how + "." + type, type, type, sources));
  };
  for (const char* how : {"add.rn", "sub.rn", "mul.rn"})
    compute(how, 2, {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"});
  for (const char* how : {"add.rz", "mul.rm"}) compute(how, 2, {"f32", "f64"});
  compute("fma.rn", 3, {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"});
  compute("fma.rn.relu", 3, {"f16", "bf16x2"});
  compute("fma.rn.sat", 3, {"f32", "f16"});
  for (const char* how : {"min", "max"}) {
    compute(how, 2, {"f32", "f64", "f16", "f16x2", "bf16x2"});
    compute(string(how) + ".NaN", 2, {"f32", "f16", "bf16x2"});
  }
  compute("max.ftz.NaN.xorsign.abs", 2, {"f32"});
  compute("div.rn", 2, {"f32", "f64"});
  compute("copysign", 2, {"f32", "f64"});
  for (const char* how : {"sqrt.rn", "rcp.rn", "sqrt.rz", "rcp.rp"})
    compute(how, 1, {"f32", "f64"});
  for (const char* how : {"neg", "abs"}) compute(how, 1, {"f32", "f64", "f16", "bf16x2"});
  for (const char* how : {"neg.ftz", "abs.ftz"}) compute(how, 1, {"f32", "f16"});
  for (const char* how : {"set.ltu", "set.eq", "set.num"})
    for (const char* type : {"f32", "f64"})
      all.push_back(special(string(how) + ".u32." + type, "u32", type, 2));
  return all;
}

}  // namespace assay::model::golden
