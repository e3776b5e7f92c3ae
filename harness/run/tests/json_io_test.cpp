// SPDX-License-Identifier: Apache-2.0
#include "harness/run/json_io.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "harness/error.hpp"
#include "harness/machine/files.hpp"
#include "harness/tests/scratch.hpp"

namespace assay {
namespace {

using JsonIo = ScratchFolder;

TEST_F(JsonIo, WritesAMeasurementWithAllItHas) {
  const Measurement m{
      .name = "a/b/c",
      .probe = "a/b",
      .kind = Kind::kernel,
      .pace = Pace::dram,
      .params = {{"bytes", 64}, {"type", "bf16"}},
      .primary = "tflops",
      .metrics = {{.name = "tflops",
                   .unit = "TFLOP/s",
                   .value = 2,
                   .low = 1,
                   .high = 3,
                   .limit = 4,
                   .limit_source = "arithmetic",
                   .spread = Spread{1, 2, 3}}},
      .samples = {{"time_ns", {1, 2}}},
      .series = {{.name = "tflops",
                  .unit = "TFLOP/s",
                  .axes = {{"warps", {1, 2}}, {"kind", {"a"}}},
                  .values = {3, std::nan("")}}},
      .conditions = {.sm_clock_mhz = 1980, .sample_count = 2, .seed = 7},
      .sass =
          SassRecord{.kernel = "k", .target = "sm_90a", .loop = {{"FFMA", 64}}, .verified = true},
      .baselines =
          {{.name = "other",
            .speedup = {.name = "speedup", .value = 1, .low = 1, .high = 1},
            .time_us = {.name = "time_us", .unit = "us", .value = 5, .low = 5, .high = 5}}},
      .flags = {"emulated"},
      .duration_s = 0.5};
  const Json json = to_json(m);
  EXPECT_EQ(json["name"], "a/b/c");
  EXPECT_EQ(json["kind"], "kernel");
  EXPECT_EQ(json["status"], "ok");
  EXPECT_FALSE(json.contains("reason"));
  EXPECT_EQ(json["params"], (Json{{"bytes", 64}, {"type", "bf16"}}));
  EXPECT_EQ(json["metrics"]["tflops"]["ci95"], (Json{1.0, 3.0}));
  EXPECT_EQ(json["metrics"]["tflops"]["limit"], 4);
  EXPECT_EQ(json["metrics"]["tflops"]["spread"]["max"], 3);
  EXPECT_EQ(json["series"][0]["axes"][0], (Json{{"name", "warps"}, {"points", {1, 2}}}));
  EXPECT_EQ(json["series"][0]["axes"][1]["points"], (Json{"a"}));
  EXPECT_EQ(json["series"][0]["values"], (Json{3.0, nullptr}));
  EXPECT_EQ(json["conditions"]["clock_domain"], "dram");
  EXPECT_EQ(json["conditions"]["sm_clock_mhz"], 1980);
  EXPECT_FALSE(json["conditions"].contains("power_w"));
  EXPECT_EQ(json["sass"]["loop"]["FFMA"], 64);
  EXPECT_EQ(json["baselines"][0]["name"], "other");
  EXPECT_EQ(json["command"], "assay run '^a/b/c$'");
}

TEST_F(JsonIo, IntervalsOfPointsAreWrittenWhereThereAreAny) {
  Series curve{"rate", "op/clk", {{"warps", {1, 2}}}, {}};
  curve.add(3);
  curve.add({4, 3.5, 4.25});
  EXPECT_EQ(to_json(Measurement{.series = {curve}})["series"][0]["ci95"],
            (Json{nullptr, {3.5, 4.25}}));
  Series bare{"rate", "op/clk", {{"warps", {1}}}, {}};
  bare.add(3);
  EXPECT_FALSE(to_json(Measurement{.series = {bare}})["series"][0].contains("ci95"));
}

TEST_F(JsonIo, LetsNothingThroughThatIsNotFinite) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const Measurement m{.metrics = {{.name = "x", .value = bad}}};
    EXPECT_THROW(to_json(m), Error);
  }
}

TEST_F(JsonIo, OptionsComeBackAsTheyWere) {
  RunOptions options{
      .seed = 42, .counters = true, .alone = true, .sweeps = false, .extra_percent = -4};
  options.sampling.half_width = 0.01;
  options.sampling.time_cap_s = 3;
  const Json json = to_json(options);
  const JsonSource source{"journal.jsonl"};
  const RunOptions back = options_from_json(Field(json, source));
  EXPECT_EQ(back.seed, 42u);
  EXPECT_TRUE(back.counters);
  EXPECT_FALSE(back.profile);
  EXPECT_TRUE(back.alone);
  EXPECT_FALSE(back.sweeps);
  EXPECT_EQ(back.extra_percent, -4);
  EXPECT_FALSE(options_from_json(Field(to_json(RunOptions{}), source)).extra_percent);
  EXPECT_EQ(back.sampling.half_width, 0.01);
  EXPECT_EQ(back.sampling.time_cap_s, 3);
}

TEST_F(JsonIo, ReadsWhatItWrote) {
  const auto path = folder() / "run.json";
  write_atomically(path, R"({"schema": "assay.run/1"})");
  const Json json = read_json(path);
  require_schema(json, {path.string()});
  write_atomically(path, "{}");
  EXPECT_EQ(read_json(path), Json::object());
  EXPECT_FALSE(std::filesystem::exists(folder() / "run.json.part"));
}

TEST_F(JsonIo, SaysWhyAFileCannotBeRead) {
  const std::string here = folder().string();
  EXPECT_EQ(message_of(ExitCode::usage, [&] { read_json(folder() / "none.json"); }),
            "cannot read " + here + "/none.json: No such file or directory");

  std::ofstream(folder() / "torn.json") << "{\"schema\": \"assay.run/1\",\n \"measurements\": [";
  const std::string torn = message_of(ExitCode::usage, [&] { read_json(folder() / "torn.json"); });
  EXPECT_TRUE(torn.starts_with(here + "/torn.json is not valid JSON at line 2, column 19")) << torn;
  EXPECT_TRUE(torn.ends_with("is it a complete run file?")) << torn;

  std::ofstream(folder() / "secret.json") << "{}";
  std::filesystem::permissions(folder() / "secret.json", std::filesystem::perms::none);
  const AsNobody nobody(folder());
  EXPECT_EQ(message_of(ExitCode::usage, [&] { read_json(folder() / "secret.json"); }),
            "cannot read " + here + "/secret.json: Permission denied");
}

TEST_F(JsonIo, SaysWhatAFileIsInstead) {
  const auto said = [](const Json& json) {
    return message_of(ExitCode::usage, [&] { require_schema(json, {"x.json"}); });
  };
  EXPECT_EQ(said({{"schema", "assay.run/2"}}),
            "x.json: schema 'assay.run/2' is not the 'assay.run/1' this program reads: use the "
            "assay that wrote it");
  EXPECT_EQ(said({{"schema", "other/1"}}), "x.json: schema 'other/1' is not an assay run file's");
  for (const Json& json : {Json::array(), Json::object(), Json{{"schema", 1}}})
    EXPECT_EQ(said(json),
              "x.json is not an assay run file: its field 'schema' is missing; give a run.json "
              "made by `assay run`");
}

// /dev/full takes nothing, as a full disk does.
TEST_F(JsonIo, AFullDiskLeavesTheOldFile) {
  const auto path = folder() / "run.json";
  write_atomically(path, "old");
  std::filesystem::create_symlink("/dev/full", folder() / "run.json.part");
  EXPECT_EQ(message_of(ExitCode::io, [&] { write_atomically(path, "new"); }),
            "cannot write " + path.string() +
                ": No space left on device: free some space, or choose another folder with --out");
  EXPECT_EQ(content_of(path), "old");
}

TEST_F(JsonIo, NoPermissionIsSaid) {
  std::filesystem::permissions(folder(), std::filesystem::perms(0555));
  const AsNobody nobody(folder());
  EXPECT_EQ(message_of(ExitCode::io, [&] { write_atomically(folder() / "run.json", "new"); }),
            "cannot write " + (folder() / "run.json").string() +
                ": Permission denied: choose a folder you may write to with --out");
}

}  // namespace
}  // namespace assay
