// SPDX-License-Identifier: Apache-2.0
#include "harness/run/loop_texts.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

// reports/tests/test_loops.py has the same, and reads them back.
TEST(LoopTexts, LeaveOutAddressesThatFollow) {
  EXPECT_EQ(shortened_loop("0130  NOP\n0140  BRA 0x130\n0160  EXIT\n0170  NOP"),
            "0130  NOP\nBRA 0x130\n0160  EXIT\nNOP");
  EXPECT_EQ(shortened_loop("fff0  NOP\n10000  NOP\n10010  NOP"), "fff0  NOP\nNOP\nNOP");
  for (const char* whole :
       {"0130  NOP\nno address", "0130  NOP\n0130  NOP\n0120  NOP", "", "12  NOP\n22  NOP"})
    EXPECT_EQ(shortened_loop(whole), whole);
}

}  // namespace
}  // namespace assay
