// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/commands/commands.hpp"

namespace assay {
namespace {

std::string output_of(const std::string& arguments) {
  CLI::App app;
  int exit_code = -1;
  commands::add_info(app, exit_code);
  ::testing::internal::CaptureStdout();
  app.parse(arguments);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(exit_code, 0);
  return text;
}

// True on every machine, GPU or not.
TEST(Info, TellsAPersonWhatWorks) {
  const std::string text = output_of("info");
  for (const char* part : {"GPUs\n", "Host\n", "NVIDIA software\n", "What works here\n",
                           "yes  measure the host", "sm_90a", "nvdisasm"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in:\n" << text;
}

TEST(Info, TellsAProgramTheSame) {
  const auto json = nlohmann::json::parse(output_of("info --json"));
  EXPECT_EQ(json.at("gpus").empty(), json.contains("no_gpu"));
  EXPECT_TRUE(json.at("host").at("logical_cores").is_number_integer());
  EXPECT_GE(json.at("software").size(), 8u);
  for (const auto& ability : json.at("abilities")) EXPECT_TRUE(ability.at("missing").is_string());
}

}  // namespace
}  // namespace assay
