// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "harness/error.hpp"
#include "harness/probe.hpp"

namespace assay {
namespace {

const Registration probe{{.name = "registry_test/probe",
                          .question = "Is this probe found?",
                          .cases = {{.name = "small", .params = {{"bytes", 64}, {"way", "up"}}},
                                    {.name = "hopper", .targets = {Target::sm_90a}}},
                          .targets = {Target::sm_89, Target::host},
                          .run = [](State&) {}}};

int registrations_seen = 0;

const Registration made{[] {
  return Probe{.name = "registry_test/made",
               .cases = {{.name = std::to_string(registrations_seen)}},
               .targets = {Target::host},
               .run = [](State&) {}};
}};

// Stands for what registers itself later than the probe that depends on it.
const int registered_later = ++registrations_seen;

const Probe& registered(std::string_view name = "registry_test/probe") {
  return **std::ranges::find_if(probes(), [&](const Probe* p) { return p->name == name; });
}

TEST(Registry, HoldsWhatWasRegisteredAndWhere) {
  const Probe& found = registered();
  EXPECT_EQ(found.question, "Is this probe found?");
  EXPECT_TRUE(found.source.ends_with("registry_test.cpp")) << found.source;
  EXPECT_EQ(found.full_name(found.cases[0]), "registry_test/probe/small");
}

TEST(Registry, MakesAProbeOnceEverythingElseIsRegistered) {
  const Probe& found = registered("registry_test/made");
  ASSERT_EQ(found.cases.size(), 1u);
  EXPECT_EQ(found.cases[0].name, std::to_string(registered_later));
  EXPECT_TRUE(found.source.ends_with("registry_test.cpp")) << found.source;
}

TEST(Registry, IsSortedByName) {
  EXPECT_TRUE(std::ranges::is_sorted(probes(), {},
                                     [](const Probe* p) -> const std::string& { return p->name; }));
}

TEST(Registry, ACaseExistsWhereItSaysElseWhereItsProbeDoes) {
  const Probe& found = registered();
  EXPECT_TRUE(found.exists_on(found.cases[0], Target::host));
  EXPECT_FALSE(found.exists_on(found.cases[0], Target::sm_90a));
  EXPECT_TRUE(found.exists_on(found.cases[1], Target::sm_90a));
  EXPECT_FALSE(found.exists_on(found.cases[1], Target::host));
}

// The message of the Error that `action` throws.
template <class F>
std::string error_of(F&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Registry, ParametersHaveTheirTypes) {
  const Case& small = registered().cases[0];
  EXPECT_EQ(small.i64("bytes"), 64);
  EXPECT_EQ(small.text("way"), "up");
  EXPECT_EQ(error_of([&] { small.i64("stride"); }),
            "case 'small' has no parameter 'stride': add it to .params of its registration");
  EXPECT_EQ(error_of([&] { small.i64("way"); }),
            "case 'small': parameter 'way' is not an integer: mend its registration");
  EXPECT_EQ(error_of([&] { small.text("bytes"); }),
            "case 'small': parameter 'bytes' is not a text: mend its registration");
}

void list_with_a_double() {
  const Registration again{{.name = "registry_test", .cases = {{.name = "probe/small"}}}};
  try {
    probes();
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(static_cast<int>(error.code()));
  }
  std::exit(0);
}

// In a process of its own, whose list has not been made yet.
TEST(RegistryDeathTest, TwoCasesOfOneNameAreRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(list_with_a_double(), testing::ExitedWithCode(2),
              "two cases are named 'registry_test/probe/small'");
}

}  // namespace
}  // namespace assay
