// SPDX-License-Identifier: Apache-2.0
// Golden forms of what the threads of a CTA do together, and of fences.
#include "harness/model/tests/golden/forms.hpp"

namespace assay::model::golden {

using std::string;

std::vector<Form> together_forms() {
  std::vector<Form> all;
  const char* parts = ".reg .pred %p, %q;\nsetp.lt.s32 %p, %a0, 0x50000000;\n";
  for (const char* how : {"popc.u32", "and.pred", "or.pred"})
    for (const char* barrier : {"bar.red", "barrier.red", "barrier.red.aligned"}) {
      const string name = string(barrier) == "barrier.red.aligned"
                              ? "barrier.red.aligned." + string(how)
                              : string(barrier) + "." + how;
      const bool counts = string(how) == "popc.u32";
      all.push_back(
          thread_form(name,
                      parts + (counts ? name + " %o0, 0, %p;\n" + name + " %o1, 1, 32, !%p;\n"
                                      : name + " %q, 0, %p;\nselp.u32 %o0, 1, 0, %q;\n" + name +
                                            " %q, 1, 32, !%p;\nselp.u32 %o1, 1, 0, %q;\n"),
                      2));
    }
  // In halves of a warp, each with its own member mask.
  const string halves = ".reg .b32 %m;\nand.b32 %m, %t, 16;\nshl.b32 %m, 0xffff, %m;\n";
  all.push_back(
      thread_form("redux.sync.add.s32/halves", halves + "redux.sync.add.s32 %o0, %a0, %m;\n", 1));
  all.push_back(thread_form("vote.sync.ballot/halves",
                            halves + ".reg .pred %p;\nsetp.lt.s32 %p, %a0, 0;\nvote.sync.ballot"
                                     ".b32 %o0, %p, %m;\n",
                            1));
  all.push_back(thread_form("match.any.sync.b64",
                            "and.b32 %a0, %a0, 1;\nand.b32 %a1, %a1, 1;\nmov.b64 %q0, {%a0, "
                            "%a1};\nmatch.any.sync.b64 %o0, %q0, 0xffffffff;\n",
                            1));
  all.push_back(thread_form("shfl.sync.bfly/halves",
                            halves + "and.b32 %a1, %a1, 15;\nshfl.sync.bfly.b32 %o0, %a0, %a1, "
                                     "4127, %m;\n",
                            1));
  all.push_back(thread_form("bar.warp.sync",
                            "mov.u32 %m, room;\nmad.lo.u32 %n, %t, 4, %m;\nst.shared.b32 [%n], "
                            "%a0;\nbar.warp.sync 0xffffffff;\nxor.b32 %n, %t, 5;\nmad.lo.u32 %n, "
                            "%n, 4, %m;\nld.shared.b32 %o0, [%n];\n",
                            1, Draw::bits, ".shared .b32 room[32];\n.reg .b32 %m, %n;\n"));
  for (const char* fence :
       {"fence.sc.gpu", "fence.acq_rel.cta", "fence.acq_rel.cluster", "membar.gl", "membar.cta",
        "fence.proxy.async", "fence.proxy.alias", "membar.proxy.alias"})
    all.push_back(thread_form(
        fence, string("st.global.b32 [%in], %a4;\n") + fence + ";\nld.global.b32 %o0, [%in];\n",
        1));
  for (const char* barrier : {"barrier.sync 1, 32", "barrier.sync.aligned 2", "bar.sync 3, 32"})
    all.push_back(thread_form(
        string(barrier).substr(0, string(barrier).find(' ')) + "/exchange",
        string("mov.u32 %m, room;\nmad.lo.u32 %n, %t, 4, %m;\nst.shared.b32 [%n], %a0;\n") +
            barrier +
            ";\nxor.b32 %n, %t, 9;\nmad.lo.u32 %n, %n, 4, %m;\nld.shared.b32 %o0, [%n];\n",
        1, Draw::bits, ".shared .b32 room[32];\n.reg .b32 %m, %n;\n"));
  return all;
}

}  // namespace assay::model::golden
