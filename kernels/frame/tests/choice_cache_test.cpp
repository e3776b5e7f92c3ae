// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/choice_cache.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay::kernels {
namespace {

TEST(ChoiceCache, MakesAChoiceOnceForEachKey) {
  ChoiceCache<int, std::string> cache;
  int made = 0;
  const auto get = [&](int key) {
    return cache.get(key, [&] {
      ++made;
      return std::to_string(key);
    });
  };
  for (int round = 0; round < 3; ++round)
    for (const int key : {7, 8}) EXPECT_EQ(get(key), std::to_string(key));
  EXPECT_EQ(made, 2);
}

// Beyond its room it begins anew: what it gives stays right.
TEST(ChoiceCache, HoldsSoManyAtMost) {
  ChoiceCache<int, int> cache;
  int made = 0;
  const auto get = [&](int key) { return cache.get(key, [&] { return ++made, -key; }); };
  constexpr int kKeys = 70000;
  for (int key = 0; key < kKeys; ++key) EXPECT_EQ(get(key), -key);
  EXPECT_EQ(get(kKeys - 1), 1 - kKeys);
  EXPECT_EQ(made, kKeys);
  EXPECT_EQ(get(0), 0);
  EXPECT_EQ(made, kKeys + 1);
}

}  // namespace
}  // namespace assay::kernels
