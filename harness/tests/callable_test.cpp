// SPDX-License-Identifier: Apache-2.0
#include "harness/callable.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

namespace assay {
namespace {

int twice(int value) { return 2 * value; }

TEST(Callable, TakesWhateverCanBeCalled) {
  int added = 3;
  const Callable<int(int)> plain = twice, capturing = [&](int value) { return value + added; },
                           library = std::function<int(int)>(twice);
  EXPECT_EQ(plain(4), 8);
  EXPECT_EQ(library(4), 8);
  added = 5;
  EXPECT_EQ(capturing(4), 9);
}

TEST(Callable, IsEmptyUntilItIsGivenSomething) {
  Callable<void()> function;
  EXPECT_FALSE(function);
  EXPECT_FALSE(Callable<void()>(nullptr));
  function = [] {};
  EXPECT_TRUE(function);
  function = {};
  EXPECT_FALSE(function);
}

TEST(Callable, CopiesShareNothing) {
  Callable<int()> first = [count = 0]() mutable { return ++count; };
  EXPECT_EQ(first(), 1);
  const Callable<int()> second = first;
  EXPECT_EQ(first(), 2);
  EXPECT_EQ(second(), 2);
}

TEST(Callable, DestroysWhatItOwnsOnce) {
  const auto owned = std::make_shared<int>(0);
  {
    Callable<void()> first = [owned] {}, second = first, third = std::move(first);
    EXPECT_EQ(owned.use_count(), 3);
    second = third;
    third = {};
    EXPECT_EQ(owned.use_count(), 2);
  }
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(Callable, PassesReferencesAndMovesValues) {
  const Callable<void(std::string&)> change = [](std::string& text) { text = "changed"; };
  std::string text = "as it was";
  change(text);
  EXPECT_EQ(text, "changed");
  const Callable<std::string(std::string)> give_back = [](std::string given) { return given; };
  EXPECT_EQ(give_back(std::string("moved")), "moved");
  const Callable<void(int)> drops_the_result = twice;
  drops_the_result(1);
}

}  // namespace
}  // namespace assay
