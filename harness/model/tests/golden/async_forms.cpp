// SPDX-License-Identifier: Apache-2.0
// Golden forms of asynchronous operations without a tensor, of mbarriers, and of clusters.
#include "harness/model/tests/golden/forms.hpp"

namespace assay::model::golden {
namespace {

using std::string;

// Two CTAs are a cluster.
Form in_pairs(Form f) {
  const string head = "(.param .u64 in, .param .u64 out)\n";
  f.ptx.replace(f.ptx.find(head), head.size(), head + ".reqnctapercluster 2, 1, 1\n");
  return f;
}

// Shared memory with an mbarrier of the CTA; 16 bytes of each thread hold %a8 to %a11. %base is
// the input of the case, %other the CTA beside this one.
const char* kRoom =
    ".shared .align 128 .b8 room[1024];\n.shared .align 8 .b64 bar;\n.shared .align 8 .b64 "
    "bars[32];\n.reg .b32 %s, %b, %where, %there, %rank, %other, %n, %theirs;\n.reg .b64 %w, %x, "
    "%base, %generic, %policy, %s0, %s1, %s2;\n.reg .pred %p, %q, %one;\n";
const char* kBegin =
    "mov.u32 %s, room;\nmov.u32 %b, bar;\nmad.lo.u32 %where, %t, 16, %s;\nadd.u32 %there, %where, "
    "512;\nmul.wide.u32 %w, %t, 48;\nsub.s64 %base, %in, %w;\nsetp.eq.u32 %one, %t, 0;\n"
    "st.shared.v4.b32 [%where], {%a8, %a9, %a10, %a11};\nst.shared.v4.b32 [%there], {%a4, %a5, "
    "%a6, %a7};\n@%one mbarrier.init.shared::cta.b64 [%b], 1;\n@%one "
    "fence.mbarrier_init.release.cluster;\nfence.proxy.async;\nbar.sync 0;\n";
const char* kWait =
    "$wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p, [%b], 0;\n@!%p bra $wait;\n";
const char* kMeet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
const char* kLoad = "ld.shared.v4.b32 {%o0, %o1, %o2, %o3}, [%where];\n";
const char* kPeer =
    "mov.u32 %rank, %cluster_ctarank;\nxor.b32 %other, %rank, 1;\nmapa.shared::cluster.u32 "
    "%theirs, %where, %other;\nmapa.shared::cluster.u32 %n, %b, %other;\n";

std::vector<Form> small_copy_forms() {
  std::vector<Form> all;
  const auto add = [&](const string& name, const string& copy, const string& wait) {
    all.push_back(thread_form(
        name,
        kBegin + copy + wait + "bar.sync 0;\nld.shared.v4.b32 {%o0, %o1, %o2, %o3}, [%where];\n", 4,
        Draw::bits, kRoom));
  };
  const string group = "cp.async.commit_group;\ncp.async.wait_group 0;\n";
  for (const char* form :
       {"ca.shared.global [%where], [%in], 4", "ca.shared.global [%where], [%in], 8",
        "ca.shared.global [%where], [%in], 16", "cg.shared.global [%where], [%in], 16",
        "cg.shared.global.L2::128B [%where], [%in], 16",
        "ca.shared::cta.global.L2::64B [%where], [%in], 8"}) {
    string name = string("cp.async.") + form;
    name = name.substr(0, name.find(' ')) + "/" + name.substr(name.rfind(' ') + 1);
    add(name, string("cp.async.") + form + ";\n", group);
  }
  for (const char* bytes : {"4", "8", "16"}) {
    add(string("cp.async.ca.shared.global/") + bytes + "/sized",
        string("rem.u32 %n, %a7, ") + bytes +
            ";\nadd.u32 %n, %n, 1;\nand.b32 %a6, %a6, 3;\nsetp"
            ".eq.u32 %p, %a6, 0;\n@%p mov.u32 %n, 0;\ncp.async.ca.shared.global [%where], [%in], " +
            bytes + ", %n;\n",
        group);
    add(string("cp.async.ca.shared.global/") + bytes + "/ignored",
        string("setp.lt.s32 %p, %a7, 0;\ncp.async.ca.shared.global [%where], [%in], ") + bytes +
            ", %p;\n",
        group);
  }
  add("cp.async.cg.shared.global/16/sized/hint",
      "and.b32 %n, %a7, 15;\ncreatepolicy.fractional.L2::evict_last.b64 %policy, "
      "1.0;\ncp.async.cg.shared.global.L2::cache_hint [%where], [%in], 16, %n, %policy;\n",
      group);
  add("cp.async.cg.shared.global/16/hint",
      "createpolicy.fractional.L2::evict_first.b64 %policy, 1.0;\ncp.async.cg.shared.global.L2"
      "::cache_hint [%where], [%in], 16, %policy;\n",
      group);
  add("cp.async.wait_all", "cp.async.ca.shared.global [%where], [%in], 16;\n",
      "cp.async.wait_all;\n");
  add("cp.async.wait_group.1",
      "cp.async.ca.shared.global [%where], [%in], 16;\ncp.async.commit_group;\ncp.async.ca.shared"
      ".global [%there], [%in+16], 16;\ncp.async.commit_group;\n",
      "cp.async.wait_group 1;\nld.shared.v2.b32 {%a0, %a1}, [%where];\ncp.async.wait_group "
      "0;\nld.shared.v2.b32 {%a2, %a3}, [%there];\nst.shared.v4.b32 [%where], {%a0, %a1, %a2, "
      "%a3};\n");
  for (const char* noinc : {"", ".noinc"}) {
    const string own =
        "mov.u32 %n, bars;\nmad.lo.u32 %n, %t, 8, %n;\nmbarrier.init.shared::cta.b64 "
        "[%n], 1;\n";
    add(string("cp.async.mbarrier.arrive") + noinc,
        own + "cp.async.ca.shared.global [%where], [%in], 16;\ncp.async.mbarrier.arrive" + noinc +
            ".shared::cta.b64 [%n];\n" +
            (string(noinc).empty() ? "mbarrier.arrive.shared::cta.b64 _, [%n];\n" : ""),
        "$wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p, [%n], 0;\n@!%p bra $wait;\n");
  }
  return all;
}

// 512 bytes at once. All CTAs of a pair copy to the other one.
std::vector<Form> bulk_forms() {
  std::vector<Form> all;
  const string expect = "@%one mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 512;\n";
  all.push_back(thread_form("cp.async.bulk.shared::cluster.global",
                            kBegin + expect +
                                "@%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx"
                                "::bytes [%s], [%base], 512, [%b];\n" +
                                kWait + kLoad,
                            4, Draw::bits, kRoom));
  all.push_back(thread_form(
      "cp.async.bulk.shared::cta.global/hint",
      kBegin + expect +
          "createpolicy.fractional.L2::evict_first.b64 %policy, 1.0;\n@%one cp.async.bulk.shared"
          "::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%s], [%base], 512, [%b], "
          "%policy;\n" +
          kWait + kLoad,
      4, Draw::bits, kRoom));
  all.push_back(in_pairs(thread_form(
      "cp.async.bulk.shared::cluster.shared::cta",
      kBegin + expect + kMeet + kPeer +
          "mapa.shared::cluster.u32 %theirs, %s, %other;\nadd.u32 %there, %s, 512;\n@%one "
          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%theirs], "
          "[%there], 512, [%n];\n" +
          kWait + kMeet + kLoad,
      4, Draw::bits, kRoom)));
  // Each half of what comes is sent to both by one of them.
  all.push_back(in_pairs(thread_form(
      "cp.async.bulk.multicast::cluster",
      kBegin + expect + kMeet + kPeer +
          "mul.lo.u32 %n, %rank, 256;\nadd.u32 %s, %s, %n;\ncvt.u64.u32 %w, %n;\nadd.s64 %base, "
          "%base, %w;\n.reg .b16 %mask;\nmov.b16 %mask, 3;\n@%one cp.async.bulk.shared::cluster"
          ".global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%base], 256, [%b], "
          "%mask;\n" +
          kWait + kMeet + kLoad,
      4, Draw::bits, kRoom)));
  const string end =
      "@%one cp.async.bulk.commit_group;\n@%one cp.async.bulk.wait_group 0;\nbar.sync 0;\nmul.wide"
      ".u32 %w, %t, 16;\nadd.s64 %base, %base, %w;\nld.global.v4.b32 {%o0, %o1, %o2, %o3}, "
      "[%base];\n";
  all.push_back(thread_form("cp.async.bulk.global.shared::cta",
                            string(kBegin) +
                                "@%one cp.async.bulk.global.shared::cta.bulk_group [%base], [%s], "
                                "512;\n" +
                                end,
                            4, Draw::bits, kRoom));
  struct Reduction {
    const char *operation, *type;
    Draw kind = Draw::bits;
  };
  for (const Reduction& r : {Reduction{"add", "u32"},
                             {"add", "s32"},
                             {"add", "u64"},
                             {"add", "f32", Draw::f32},
                             {"add", "f64", Draw::f64},
                             {"add.noftz", "f16", Draw::f16},
                             {"add.noftz", "bf16", Draw::bf16},
                             {"min", "u32"},
                             {"min", "s32"},
                             {"min", "u64"},
                             {"min", "s64"},
                             {"min", "f16", Draw::f16},
                             {"min", "bf16", Draw::bf16},
                             {"max", "u32"},
                             {"max", "s32"},
                             {"max", "u64"},
                             {"max", "s64"},
                             {"max", "f16", Draw::f16},
                             {"max", "bf16", Draw::bf16},
                             {"inc", "u32"},
                             {"dec", "u32"},
                             {"and", "b32"},
                             {"or", "b32"},
                             {"xor", "b32"},
                             {"and", "b64"},
                             {"or", "b64"},
                             {"xor", "b64"}}) {
    const string name =
        string("cp.reduce.async.bulk.global.shared::cta.bulk_group.") + r.operation + "." + r.type;
    all.push_back(thread_form(name, kBegin + ("@%one " + name) + " [%base], [%s], 512;\n" + end, 4,
                              r.kind, kRoom));
  }
  for (const char* operation : {"add.u32", "add.s32", "add.u64", "min.u32", "min.s32", "max.u32",
                                "max.s32", "inc.u32", "dec.u32", "and.b32", "or.b32", "xor.b32"}) {
    const string name =
        string("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.") +
        operation;
    all.push_back(in_pairs(thread_form(
        name,
        kBegin + expect + kMeet + kPeer +
            "mapa.shared::cluster.u32 %theirs, %s, %other;\nadd.u32 %there, %s, 512;\n@%one " +
            name + " [%theirs], [%there], 512, [%n];\n" + kWait + kMeet + kLoad,
        4, Draw::bits, kRoom)));
  }
  return all;
}

// A store to the CTA beside this one, by each of its threads.
std::vector<Form> remote_forms() {
  std::vector<Form> all;
  struct Store {
    const char *type, *list;
    int bytes;
  };
  for (const Store& s : {Store{"b32", "%a4", 4},
                         {"u32", "%a4", 4},
                         {"s32", "%a4", 4},
                         {"b64", "%q2", 8},
                         {"u64", "%q2", 8},
                         {"s64", "%q2", 8},
                         {"f32", "%a4", 4},
                         {"f64", "%q2", 8},
                         {"v2.b32", "{%a4, %a5}", 8},
                         {"v4.b32", "{%a4, %a5, %a6, %a7}", 16},
                         {"v2.b64", "{%q2, %q3}", 16},
                         {"v4.f32", "{%a4, %a5, %a6, %a7}", 16}}) {
    const string opcode =
        string("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.") + s.type;
    all.push_back(in_pairs(thread_form(
        opcode,
        kBegin +
            ("@%one mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], " +
             std::to_string(32 * s.bytes) + ";\n") +
            kMeet + kPeer + opcode + " [%theirs], " + s.list + ", [%n];\n" + kWait + kMeet + kLoad,
        4, Draw::bits, kRoom)));
  }
  for (const char* operation : {"inc.u32", "dec.u32", "min.u32", "min.s32", "max.u32", "max.s32",
                                "add.u32", "add.s32", "and.b32", "or.b32", "xor.b32", "add.u64"}) {
    const string opcode =
        string("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.") +
        operation;
    const bool wide = string(operation).ends_with("64");
    all.push_back(
        in_pairs(thread_form(opcode,
                             kBegin +
                                 ("@%one mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], " +
                                  std::to_string(wide ? 256 : 128) + ";\n") +
                                 kMeet + kPeer + opcode + " [%theirs], " + (wide ? "%q2" : "%a4") +
                                 ", [%n];\n" + kWait + kMeet + kLoad,
                             4, Draw::bits, kRoom)));
  }
  all.push_back(in_pairs(thread_form(
      "ld.shared::cluster",
      string(kBegin) + kMeet + kPeer +
          "ld.shared::cluster.v2.b32 {%o0, %o1}, [%theirs];\nmapa.u64 %generic, %w, "
          "%other;\ncvt.u64.u32 %w, %where;\ncvta.shared.u64 %w, %w;\nmapa.u64 %generic, %w, "
          "%other;\nld.v2.b32 {%o2, %o3}, [%generic+8];\ngetctarank.u64 %n, "
          "%generic;\ngetctarank.shared::cluster.u32 %rank, %theirs;\nxor.b32 %o4, %n, "
          "%other;\nxor.b32 %o5, %rank, %other;\nmov.u32 %o6, %cluster_nctarank;\nmov.u32 %o7, "
          "%clusterid.x;\n" +
          kMeet,
      8, Draw::bits, kRoom)));
  all.push_back(
      in_pairs(thread_form("st.shared::cluster",
                           string(kBegin) + kMeet + kPeer +
                               "st.shared::cluster.v2.b32 [%theirs], {%a4, %a5};\n" + kMeet + kLoad,
                           4, Draw::bits, kRoom)));
  for (const char* operation : {"add.u32", "max.s32", "exch.b32", "xor.b32"})
    all.push_back(in_pairs(thread_form(string("atom.shared::cluster.") + operation + "/other",
                                       string(kBegin) + kMeet + kPeer +
                                           "atom.relaxed.cluster.shared::cluster." + operation +
                                           " %o4, [%theirs], %a4;\n" + kMeet + kLoad,
                                       5, Draw::bits, kRoom)));
  return all;
}

// An mbarrier of each thread, that it alone uses.
std::vector<Form> mbarrier_forms() {
  std::vector<Form> all;
  const string own =
      "mov.u32 %n, bars;\nmad.lo.u32 %n, %t, 8, %n;\nand.b32 %a0, %a0, 7;\nadd.u32 "
      "%a1, %a0, 4;\nmbarrier.init.shared::cta.b64 [%n], %a1;\n";
  const auto flag = [](const string& test, const string& out) {
    return test + ";\nselp.u32 " + out + ", 1, 0, %p;\n";
  };
  const auto count = [](const string& state, const string& out) {
    return "mbarrier.pending_count.b64 " + out + ", " + state + ";\n";
  };
  const auto add = [&](const string& name, const string& body) {
    all.push_back(thread_form(name, own + body, 8, Draw::bits, kRoom));
  };
  for (const char* words : {"", ".release.cta", ".relaxed.cta", ".release.cluster"}) {
    const string w = words, arrive = "mbarrier.arrive" + w + ".shared::cta.b64";
    const string tests = w.find("relaxed") != string::npos   ? ".relaxed.cta"
                         : w.find("cluster") != string::npos ? ".acquire.cluster"
                         : w.empty()                         ? ""
                                                             : ".acquire.cta";
    add("mbarrier.arrive" + w,
        arrive + " %s0, [%n], 2;\n" + count("%s0", "%o0") + arrive + " %s1, [%n];\n" +
            count("%s1", "%o1") +
            flag("mbarrier.test_wait" + tests + ".shared::cta.b64 %p, [%n], %s0", "%o2") + arrive +
            " %s2, [%n], %a1;\n");
    all.pop_back();  // more than are expected: undefined
    add("mbarrier.arrive" + w,
        arrive + " %s0, [%n], 2;\n" + count("%s0", "%o0") + arrive + " %s1, [%n];\n" +
            count("%s1", "%o1") +
            flag("mbarrier.test_wait" + tests + ".shared::cta.b64 %p, [%n], %s0", "%o2") +
            "add.u32 %a2, %a0, 1;\n" + arrive + " %s2, [%n], %a2;\n" + count("%s2", "%o3") +
            flag("mbarrier.test_wait" + tests + ".shared::cta.b64 %p, [%n], %s2", "%o4") +
            flag("mbarrier.test_wait.parity" + tests + ".shared::cta.b64 %p, [%n], 0", "%o5") +
            flag("mbarrier.try_wait.parity" + tests + ".shared::cta.b64 %p, [%n], 0", "%o6") +
            arrive + " %s1, [%n];\n" + count("%s1", "%o7"));
    add("mbarrier.arrive_drop" + w,
        "mbarrier.arrive_drop" + w + ".shared::cta.b64 %s0, [%n], 2;\n" + count("%s0", "%o0") +
            "add.u32 %a2, %a0, 2;\n" + arrive + " %s1, [%n], %a2;\n" + count("%s1", "%o1") +
            flag("mbarrier.test_wait" + tests + ".shared::cta.b64 %p, [%n], %s1", "%o2") + arrive +
            " %s2, [%n];\n" + count("%s2", "%o3") +
            flag("mbarrier.test_wait" + tests + ".shared::cta.b64 %p, [%n], %s2", "%o4") +
            flag("mbarrier.test_wait.parity" + tests + ".shared::cta.b64 %p, [%n], 1", "%o5") +
            "mbarrier.arrive_drop" + w + ".shared::cta.b64 %s1, [%n];\n" + count("%s1", "%o6"));
    const string relaxed = w.find("relaxed") != string::npos ? ".relaxed.cta" : w;
    add("mbarrier.expect_tx" + w,
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%n], 48;\nadd.u32 %a2, %a0, 3;\n" +
            arrive + " %s0, [%n], %a2;\nmbarrier.arrive.expect_tx" + relaxed +
            ".shared::cta.b64 %s1, [%n], 16;\n" + count("%s1", "%o0") +
            flag("mbarrier.test_wait" + tests + ".shared::cta.b64 %p, [%n], %s1", "%o1") +
            "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%n], 48;\n" +
            flag("mbarrier.test_wait" + tests + ".shared::cta.b64 %p, [%n], %s1", "%o2") +
            "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%n], 16;\n" +
            flag("mbarrier.test_wait" + tests + ".shared::cta.b64 %p, [%n], %s1", "%o3") +
            "mbarrier.arrive_drop.expect_tx" + relaxed + ".shared::cta.b64 %s2, [%n], 32;\n" +
            count("%s2", "%o4") + arrive + " %s0, [%n], %a2;\n" + count("%s0", "%o5") +
            flag("mbarrier.try_wait" + tests + ".shared::cta.b64 %p, [%n], %s0, 16", "%o6") +
            "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%n], 32;\n" +
            flag("mbarrier.try_wait.parity" + tests + ".shared::cta.b64 %p, [%n], 1", "%o7"));
  }
  add("mbarrier.arrive.noComplete",
      "mbarrier.arrive.noComplete.shared::cta.b64 %s0, [%n], 2;\n" + count("%s0", "%o0") +
          "mbarrier.arrive_drop.noComplete.shared::cta.b64 %s1, [%n], 1;\n" + count("%s1", "%o1") +
          flag("mbarrier.test_wait.shared::cta.b64 %p, [%n], %s1", "%o2") +
          "mbarrier.inval.shared::cta.b64 [%n];\nmbarrier.init.shared::cta.b64 [%n], "
          "3;\nmbarrier.arrive.shared::cta.b64 %s2, [%n];\n" +
          count("%s2", "%o3"));
  add("mbarrier.generic",
      "cvt.u64.u32 %w, %n;\ncvta.shared.u64 %w, %w;\nmbarrier.arrive.b64 %s0, [%w];\n" +
          count("%s0", "%o0") + flag("mbarrier.test_wait.b64 %p, [%w], %s0", "%o1"));
  // An arrival at the barrier of the CTA beside this one.
  for (const char* what : {"arrive", "arrive.expect_tx"})
    all.push_back(in_pairs(thread_form(
        string("mbarrier.") + what + ".shared::cluster",
        kBegin +
            (string(kMeet) + kPeer +
             (string(what) == "arrive"
                  ? "@%one mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%n];\n"
                  : "@%one mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%n], "
                    "64;\n@%one mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%n], "
                    "64;\n")) +
            "$wait:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [%b], 0;\n@!%p "
            "bra $wait;\nmov.u32 %o0, 1;\n" +
            kMeet,
        1, Draw::bits, kRoom)));
  return all;
}

}  // namespace

std::vector<Form> async_forms() {
  std::vector<Form> all;
  for (auto make : {small_copy_forms, bulk_forms, remote_forms, mbarrier_forms})
    for (Form& f : make()) all.push_back(std::move(f));
  return all;
}

}  // namespace assay::model::golden
