// SPDX-License-Identifier: Apache-2.0
// Golden forms of memory: atomics and reductions of every operation and type, and loads and stores
// of every width.
#include "harness/model/tests/golden/forms.hpp"

namespace assay::model::golden {
namespace {

using std::string;

struct Atomic {
  string operation, type;  // "add.noftz", "f16x2"
  int bits;                // of one register
  Draw kind = Draw::bits;
};

std::vector<Atomic> atomics() {
  std::vector<Atomic> all;
  const auto add = [&](const char* operation, std::vector<const char*> types, int bits,
                       Draw kind = Draw::bits) {
    for (const char* type : types) all.push_back({operation, type, bits, kind});
  };
  add("add", {"u32", "s32"}, 32);
  add("add", {"u64"}, 64);
  add("add", {"f32"}, 32, Draw::f32);
  add("add", {"f64"}, 64, Draw::f64);
  add("add.noftz", {"f16"}, 16, Draw::f16);
  add("add.noftz", {"bf16"}, 16, Draw::bf16);
  add("add.noftz", {"f16x2"}, 32, Draw::f16);
  add("add.noftz", {"bf16x2"}, 32, Draw::bf16);
  for (const char* operation : {"min", "max"}) {
    add(operation, {"u32", "s32"}, 32);
    add(operation, {"u64", "s64"}, 64);
  }
  add("inc", {"u32"}, 32);
  add("dec", {"u32"}, 32);
  for (const char* operation : {"and", "or", "xor"}) {
    add(operation, {"b32"}, 32);
    add(operation, {"b64"}, 64);
  }
  add("exch", {"b32"}, 32);
  add("exch", {"b64"}, 64);
  add("exch", {"b128"}, 128);
  add("cas", {"b16"}, 16);
  add("cas", {"b32"}, 32);
  add("cas", {"b64"}, 64);
  add("cas", {"b128"}, 128);
  return all;
}

// Registers that hold what the words from `%a<first>` on say, and the instructions that load them.
struct Source {
  string load, name;
};

Source source(int bits, int first, const string& name) {
  const string a = "%a" + std::to_string(first), q = std::to_string(first / 2);
  if (bits == 16) return {"mov.b32 {%" + name + "h, %z}, " + a + ";\n", "%" + name + "h"};
  if (bits == 32) return {"", a};
  if (bits == 64) return {"", "%q" + q};
  return {"mov.b128 %" + name + "x, {%q" + q + ", %q" + std::to_string(first / 2 + 1) + "};\n",
          "%" + name + "x"};
}

// Each thread's 16 bytes in memory are %a0 to %a3, its operands %a4 to %a7 and %a8 to %a11. What
// the instruction returns, and what memory holds then.
const char* kDeclarations =
    ".shared .align 16 .b8 room[512];\n.reg .b16 %bh, %ch, %rh, %z;\n.reg .b128 %bx, %cx, "
    "%rx;\n.reg .b64 %place, %rq;\n.reg .b32 %where;\n.reg .pred %same;\n";

string place(const string& space) {
  if (space == "global") return "mov.b64 %place, %in;\n";
  if (space.starts_with("shared"))
    return "mov.u32 %where, room;\nmad.lo.u32 %where, %t, 16, %where;\nst.shared.v4.b32 [%where], "
           "{%a0, %a1, %a2, %a3};\n";
  return "mov.u64 %place, room;\ncvta.shared.u64 %place, %place;\nmul.wide.u32 %rq, %t, "
         "16;\nadd.s64 %place, %place, %rq;\nst.v4.b32 [%place], {%a0, %a1, %a2, %a3};\n";
}

// How an atomic is written: with the words for its order, scope and space.
Form atomic_form(const Atomic& a, bool returns, const string& order, const string& space,
                 bool one_place = false) {
  const bool cas = a.operation == "cas";
  const string in_space = space.empty() ? "" : "." + space;
  const string opcode =
      string(returns ? "atom" : "red") + order + in_space + "." + a.operation + "." + a.type;
  const string at = space.starts_with("shared") ? "[%where]" : "[%place]";
  const Source b = source(a.bits, 4, "b"), c = source(a.bits, 8, "c");
  string body = place(space);
  if (one_place)
    body += space == "global" ? "mad.lo.u32 %where, %c, -32, %i;\nmul.wide.u32 %rq, %where, "
                                "48;\nsub.s64 %place, %place, %rq;\nbar.sync 0;\n"
                              : "mov.u32 %where, room;\nbar.sync 0;\n";
  if (cas)  // finds what it compares with half of the time
    for (int k = 0; k < 4; ++k)
      body += (k ? string() : "setp.lt.s32 %same, %a11, 0;\n") + "@%same mov.b32 %a" +
              std::to_string(4 + k) + ", %a" + std::to_string(k) + ";\n";
  if (cas)
    for (int k = 0; k < 2; ++k)
      body += "mov.b64 %q" + std::to_string(2 + k) + ", {%a" + std::to_string(4 + 2 * k) + ", %a" +
              std::to_string(5 + 2 * k) + "};\n";
  body += b.load + (cas ? c.load : "");
  const string result = a.bits == 16 ? "%rh" : a.bits == 32 ? "%o0" : a.bits == 64 ? "%rq" : "%rx";
  body += opcode + " " + (returns ? result + ", " : "") + at + ", " + b.name +
          (cas ? ", " + c.name : "") + ";\n";
  if (returns) {
    if (a.bits == 16) body += "cvt.u32.u16 %o0, %rh;\n";
    if (a.bits == 64) body += "mov.b64 {%o0, %o1}, %rq;\n";
    if (a.bits == 128)
      body +=
          "mov.b128 {%place, %rq}, %rx;\nmov.b64 {%o0, %o1}, %place;\nmov.b64 {%o2, %o3}, "
          "%rq;\n" +
          (space == "global" ? string("mov.b64 %place, %in;\n") : string());
  }
  if (one_place) body += "bar.sync 0;\n";
  body += "ld" + in_space + ".v4.b32 {%o4, %o5, %o6, %o7}, " + at + ";\n";
  return thread_form(opcode + (one_place ? "/one" : ""), body, 8, a.kind, kDeclarations);
}

// Several elements at once, in global memory alone. PTX ISA 9.0, "atom", `.vec_16_bit` and so on.
std::vector<Form> vector_forms() {
  struct Vector {
    const char *operation, *type;
    std::vector<int> counts;
    int bits;
    Draw kind;
  };
  std::vector<Vector> vectors = {{"add", "f32", {2, 4}, 32, Draw::f32}};
  for (const char* operation : {"add.noftz", "min.noftz", "max.noftz"}) {
    vectors.push_back({operation, "f16", {2, 4, 8}, 16, Draw::f16});
    vectors.push_back({operation, "bf16", {2, 4, 8}, 16, Draw::bf16});
    vectors.push_back({operation, "f16x2", {2, 4}, 32, Draw::f16});
    vectors.push_back({operation, "bf16x2", {2, 4}, 32, Draw::bf16});
  }
  std::vector<Form> all;
  for (const Vector& v : vectors)
    for (const int count : v.counts)
      for (const bool returns : {true, false}) {
        const string operation = v.operation;
        const string opcode = string(returns ? "atom" : "red") + ".global." +
                              operation.substr(0, 3) + operation.substr(3) + ".v" +
                              std::to_string(count) + "." + v.type;
        const auto list = [&](const string& name, int first) {
          string text = "{";
          for (int k = 0; k < count; ++k)
            text += (k ? ", %" : "%") + name + std::to_string(first + k);
          return text + "}";
        };
        string body, after;
        string in = list("a", 4), out = list("o", 0);
        if (v.bits == 16) {
          for (int k = 0; k < count; k += 2) {
            const string pair = "{%h" + std::to_string(k) + ", %h" + std::to_string(k + 1) + "}";
            const string result = "{%r" + std::to_string(k) + ", %r" + std::to_string(k + 1) + "}";
            body += "mov.b32 " + pair + ", %a" + std::to_string(4 + k / 2) + ";\n";
            after += "mov.b32 %o" + std::to_string(k / 2) + ", " + result + ";\n";
          }
          in = list("h", 0);
          out = list("r", 0);
        }
        body += opcode + " " + (returns ? out + ", " : "") + "[%in], " + in + ";\n" +
                (returns ? after : "") + "ld.global.v4.b32 {%o4, %o5, %o6, %o7}, [%in];\n";
        all.push_back(thread_form(opcode, body, 8, v.kind, ".reg .b16 %h<8>, %r<8>;\n"));
      }
  return all;
}

// Loads and stores of every type: what lies around stays.
std::vector<Form> width_forms() {
  std::vector<Form> all;
  for (const char* space : {"global", "shared", "local"})
    for (const char* type : {"u8", "s8", "b8", "u16", "s16", "b16"}) {
      const bool narrow = type[1] == '8';
      const string t = type, at = string(space) == "global" ? "[%in+4]" : "[%where+4]";
      const string before =
          (string(space) == "shared" ? "mov.u32 %where, room;\nmad.lo.u32 %where, %t, 16, %where;\n"
           : string(space) == "local" ? "mov.u32 %where, own;\n"
                                      : "") +
          (string(space) == "global"
               ? ""
               : "st." + string(space) + ".v4.b32 [%where], {%a0, %a1, %a2, %a3};\n");
      const string whole = string(space) == "global" ? "[%in]" : "[%where]";
      all.push_back(
          thread_form("ld." + string(space) + "." + t,
                      before + "ld." + string(space) + "." + t + " %h, " + at + ";\ncvt." +
                          (t[0] == 's' ? "s32.s16" : "u32.u16") + " %o0, %h;\nld." + space + "." +
                          t + " %o1, " + at + ";\n",
                      2, Draw::bits,
                      ".shared .align 16 .b8 room[512];\n.local .align 16 .b8 own[16];\n.reg .b16 "
                      "%h;\n.reg .b32 %where;\n"));
      all.push_back(
          thread_form("st." + string(space) + "." + t,
                      before + "cvt.u16.u32 %h, %a5;\nst." + string(space) + "." + t + " " + at +
                          (narrow ? ", %a6" : ", %h") + ";\nld." + space +
                          ".v4.b32 {%o0, %o1, %o2, %o3}, " + whole + ";\n",
                      4, Draw::bits,
                      ".shared .align 16 .b8 room[512];\n.local .align 16 .b8 own[16];\n.reg .b16 "
                      "%h;\n.reg .b32 %where;\n"));
    }
  for (const char* cache :
       {"", ".nc", ".ca", ".cg", ".cs", ".lu", ".cv", ".nc.L1::no_allocate", ".L1::evict_last",
        ".L2::128B", ".relaxed.gpu", ".acquire.sys", ".volatile", ".relaxed.cluster"}) {
    const string c = cache;
    const string opcode = c.starts_with(".nc") || c.starts_with(".L") ? "ld.global" + c
                          : c.starts_with(".rel") || c.starts_with(".acq") || c == ".volatile"
                              ? "ld" + c + ".global"
                              : "ld.global" + c;
    all.push_back(thread_form(opcode + ".v2.u64",
                              opcode + ".v2.u64 {%x, %y}, [%in];\nmov.b64 {%o0, %o1}, %x;\nmov.b64 "
                                       "{%o2, %o3}, %y;\n",
                              4, Draw::bits, ".reg .b64 %x, %y;\n"));
  }
  all.push_back(
      thread_form("ldu.global.v4.u32", "ldu.global.v4.u32 {%o0, %o1, %o2, %o3}, [%in];\n", 4));
  for (const char* cache : {".wb", ".cg", ".cs", ".wt"})
    all.push_back(thread_form(string("st.global") + cache + ".v2.b64",
                              string("st.global") + cache +
                                  ".v2.b64 [%in], {%q2, %q4};\nld.global.v4.b32 {%o0, %o1, %o2, "
                                  "%o3}, [%in];\n",
                              4));
  all.push_back(thread_form("mov.b128",
                            "mov.b128 %x, {%q1, %q3};\nmov.b128 %y, %x;\nmov.b128 {%u, %v}, "
                            "%y;\nmov.b64 {%o0, %o1}, %u;\nmov.b64 {%o2, %o3}, %v;\n",
                            4, Draw::bits, ".reg .b128 %x, %y;\n.reg .b64 %u, %v;\n"));
  all.push_back(thread_form("ld.b128",
                            "ld.global.b128 %x, [%in];\nst.global.b128 [%in+16], %x;\nld.global.v4"
                            ".b32 {%o0, %o1, %o2, %o3}, [%in+16];\n",
                            4, Draw::bits, ".reg .b128 %x;\n"));
  return all;
}

}  // namespace

std::vector<Form> atomic_forms() {
  std::vector<Form> all;
  for (const Atomic& a : atomics()) {
    const bool swaps = a.operation == "exch" || a.operation == "cas";
    for (const char* space : {"global", "shared"}) {
      all.push_back(atomic_form(a, true, "", space));
      if (!swaps) all.push_back(atomic_form(a, false, "", space));
    }
  }
  const Atomic plain{"add", "u32", 32};
  for (const char* order : {".relaxed.cta", ".acquire.cluster", ".release.gpu", ".acq_rel.sys"})
    for (const char* space : {"global", "shared", "shared::cta", "shared::cluster", ""})
      all.push_back(atomic_form(plain, true, order, space));
  for (const char* order : {".relaxed.cta", ".release.cluster", ".relaxed.sys"})
    for (const char* space : {"global", "shared::cluster", ""})
      all.push_back(atomic_form(plain, false, order, space));
  // Of all threads at one place, where their order changes nothing.
  for (const char* operation : {"add", "min", "max"})
    for (const char* space : {"global", "shared"}) {
      all.push_back(atomic_form({operation, "s32", 32}, false, "", space, true));
      all.push_back(atomic_form({operation, string(operation) == "add" ? "u64" : "s64", 64}, false,
                                "", space, true));
    }
  for (const char* operation : {"and", "or", "xor"})
    all.push_back(atomic_form({operation, "b32", 32}, false, "", "shared", true));
  for (Form& f : vector_forms()) all.push_back(std::move(f));
  for (Form& f : width_forms()) all.push_back(std::move(f));
  return all;
}

}  // namespace assay::model::golden
