// SPDX-License-Identifier: Apache-2.0
#include "harness/run/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "harness/run/json_io.hpp"
#include "harness/tests/scratch.hpp"

namespace assay {
namespace {

class JournalTest : public ScratchFolder {
 protected:
  std::filesystem::path run() const { return folder() / "deep" / "run"; }
  std::filesystem::path file() const { return run() / "journal.jsonl"; }
  void append_raw(const std::string& text) const { std::ofstream(file(), std::ios::app) << text; }
};

const Json kHeader = {{"schema", kSchema}, {"environment", {{"gpu", nullptr}}}};
Json measurement(const std::string& name, int repetition = 0) {
  return {{"name", name},
          {"kind", "probe"},
          {"status", "skipped"},
          {"reason", "it is made up"},
          {"repetition", repetition}};
}
std::string line_of(const std::string& name) {
  return Json{{"measurement", measurement(name)}}.dump() + "\n";
}

TEST_F(JournalTest, GoesOnWhereItStopped) {
  {
    Journal journal = Journal::create(run(), kHeader);
    journal.append(measurement("a"));
    journal.append(measurement("b", 1));
  }
  Journal journal = Journal::resume(run());
  EXPECT_EQ(journal.header(), kHeader);
  EXPECT_TRUE(journal.has("a", 0));
  EXPECT_TRUE(journal.has("b", 1));
  EXPECT_FALSE(journal.has("b", 0));
  EXPECT_FALSE(journal.has("c", 0));
  journal.append(measurement("c"));
  const Json written = read_json(journal.write_run_file());
  EXPECT_EQ(written["schema"], kSchema);
  ASSERT_EQ(written["measurements"].size(), 3u);
  EXPECT_EQ(written["measurements"][1], measurement("b", 1));
}

TEST_F(JournalTest, DropsATornLastLineWhereverItIsTorn) {
  { Journal::create(run(), kHeader).append(measurement("a")); }
  const std::string whole = content_of(file());
  const std::string next = line_of("b");
  for (std::size_t cut = 0; cut < next.size(); ++cut) {
    std::ofstream(file()) << whole << next.substr(0, cut);
    Journal journal = Journal::resume(run());
    EXPECT_EQ(journal.measurements().size(), 1u) << cut;
    EXPECT_EQ(content_of(file()), whole) << cut;
    journal.append(measurement("c"));
    EXPECT_EQ(content_of(file()), whole + line_of("c"));
  }
}

TEST_F(JournalTest, RefusesToStartOverARun) {
  { Journal::create(run(), kHeader).append(measurement("a")); }
  const std::string before = content_of(file());
  EXPECT_EQ(message_of(ExitCode::usage, [&] { Journal::create(run(), kHeader); }),
            run().string() + " holds a run already: go on with --resume " + run().string() +
                ", or choose another folder with --out");
  EXPECT_EQ(content_of(file()), before);
}

TEST_F(JournalTest, HasOneWriter) {
  const Journal first = Journal::create(run(), kHeader);
  EXPECT_EQ(message_of(ExitCode::usage, [&] { Journal::resume(run()); }),
            "another process is measuring into " + run().string() +
                ": wait until it ends, or choose another folder with --out");
}

TEST_F(JournalTest, SaysWhyThereIsNothingToResume) {
  const auto said = [&] { return message_of(ExitCode::usage, [&] { Journal::resume(run()); }); };
  EXPECT_EQ(said(), run().string() + " holds no run to resume: there is no journal.jsonl in it");
  std::filesystem::create_directories(run());
  append_raw("{\"schema\": ");
  EXPECT_EQ(said(), file().string() +
                        " was cut off before its first line was whole: delete the folder and "
                        "start again");
  append_raw("\"assay.run/9\"}\n");
  EXPECT_EQ(said(), file().string() +
                        ": schema 'assay.run/9' is not the 'assay.run/1' this program reads: use "
                        "the assay that wrote it");
}

// A line that is broken although more was written after it was broken by someone else.
TEST_F(JournalTest, LosesNothingAfterABrokenLine) {
  { Journal::create(run(), kHeader).append(measurement("a")); }
  append_raw("{\"measurement\": {\"na\n" + line_of("b"));
  const std::string before = content_of(file());
  EXPECT_EQ(message_of(ExitCode::usage, [&] { Journal::resume(run()); }),
            file().string() +
                ": line 3 is not valid JSON at column 21: syntax error while parsing object key - "
                "invalid string: missing closing quote; last read: '\"na'; expected string "
                "literal, in field 'measurement': "
                "restore the file or delete that line, then --resume again");
  EXPECT_EQ(content_of(file()), before);
}

// What somebody edited is refused with its line and its field.
TEST_F(JournalTest, SaysWhatWasChanged) {
  { Journal::create(run(), kHeader).append(measurement("a")); }
  const std::string before = content_of(file());
  Json ok = measurement("b");
  ok.update(Json::parse(R"({"status": "ok", "primary": "time_us", "duration_s": 1, "flags": [],
      "metrics": {"time_us": {"unit": "us", "value": 2, "ci95": [1, 3], "better": "lower"}},
      "series": [{"name": "s", "unit": "", "axes": [{"name": "n", "points": [1, 2, 3]}],
                  "values": [1, null, 3], "ci95": [[1, 2], null, null]}],
      "samples": {"time_ns": [2000]}, "conditions": {"stop": "converged"}, "baselines": []})"));
  const auto said = [&](const Json& changed) {
    std::ofstream(file()) << before << Json{{"measurement", changed}}.dump() << "\n";
    const std::string words = message_of(ExitCode::usage, [&] { Journal::resume(run()); });
    const std::string begin = file().string() + ": line 3: field 'measurement";
    const std::string end = ": restore the file or delete that line, then --resume again";
    EXPECT_TRUE(words.starts_with(begin) && words.ends_with(end)) << words;
    return words.substr(begin.size(), words.size() - begin.size() - end.size());
  };
  const auto with = [&](const char* pointer, const Json& value) {
    Json changed = ok;
    changed[Json::json_pointer(pointer)] = value;
    return changed;
  };
  EXPECT_EQ(said(with("/name", 7)), ".name' is a number, not a text");
  EXPECT_EQ(said(with("/name", "a")), "' is 'a' again, which line 2 holds");
  EXPECT_EQ(said(with("/status", "fine")),
            ".status' is 'fine', not one of ok, failed, skipped, not_run");
  EXPECT_EQ(said(with("/repetition", -1)),
            ".repetition' is -1, not a whole number from 0 to 1000000");
  EXPECT_EQ(said(with("/repetition", 0.5)), ".repetition' is a number, not a whole number");
  EXPECT_EQ(said(with("/primary", "other")), ".metrics.other' is missing");
  EXPECT_EQ(said(with("/samples", Json::array())), ".samples' is an array, not an object");
  EXPECT_EQ(said(with("/samples/time_ns", Json::array())), ".samples.time_ns' holds no sample");
  EXPECT_EQ(said(with("/samples/time_ns/0", "2000")),
            ".samples.time_ns[0]' is a string, not a number");
  EXPECT_EQ(said(with("/metrics/time_us/ci95", {3, 1})),
            ".metrics.time_us.ci95' is not an interval [low, high]");
  EXPECT_EQ(said(with("/metrics/time_us/ci95", {3, 4})),
            ".metrics.time_us.ci95' does not hold the value");
  EXPECT_EQ(said(with("/metrics/time_us",
                      {{"unit", "us"}, {"value", 0}, {"ci95", {0, 0}}, {"better", "lower"}})),
            ".metrics.time_us' cannot be: time_us of 0 us is no time");
  EXPECT_EQ(said(with("/metrics/x", {{"unit", "GB/s"},
                                     {"value", 5000},
                                     {"ci95", {4990, 5010}},
                                     {"better", "higher"},
                                     {"limit", 4814}})),
            ".metrics.x' cannot be: x of 5000 GB/s is above its limit of 4814 (as the file says)");
  EXPECT_EQ(said(with("/series/0/ci95/0", {2, 1})),
            ".series[0].ci95[0]' is not an interval [low, high]");
  for (const char* place : {"0", "1"})
    EXPECT_EQ(
        said(with(fmt::format("/series/0/ci95/{}", place).c_str(), {2, 3})),
        fmt::format(".series[0].ci95[{}]' does not hold the value of its place; measure again",
                    place));
  for (const Json& few : {Json::array({Json{1, 2}}), Json::array()})
    EXPECT_EQ(
        said(with("/series/0/ci95", few)),
        fmt::format(".series[0].ci95' has {} intervals for 3 values; give one or null for each",
                    few.size()));
  EXPECT_EQ(said(with("/conditions/stop", nullptr)), ".conditions.stop' is a null, not a text");
  std::ofstream(file()) << before << Json{{"measurement", ok}}.dump() << "\n";
  EXPECT_EQ(Journal::resume(run()).measurements().size(), 2u);
}

TEST_F(JournalTest, KnowsAnotherBuildGpuAndHost) {
  const Json here = Json::parse(R"({"gpu": {"name": "NVIDIA H200", "id": "00aa"},
      "driver": "580.1", "host": {"cpu": "A", "logical_cores": 8},
      "assay": {"version": "1", "commit": "c0ffee", "dirty": false}})");
  const Journal journal = Journal::create(run(), {{"schema", kSchema}, {"environment", here}});
  EXPECT_EQ(journal.difference_from(here), "");
  const auto with = [&](const char* pointer, const Json& value) {
    Json changed = here;
    changed[Json::json_pointer(pointer)] = value;
    return journal.difference_from(changed);
  };
  EXPECT_EQ(with("/assay/commit", "decade"),
            R"(another build of assay (commit: "c0ffee", here "decade"))");
  EXPECT_EQ(with("/gpu/id", "00ab"), R"(another GPU (id: "00aa", here "00ab"))");
  EXPECT_EQ(with("/gpu", nullptr), R"(another GPU (name: "NVIDIA H200", here null))");
  EXPECT_EQ(with("/gpu", {{"name", "NVIDIA H100"}}),
            R"(another GPU (name: "NVIDIA H200", here "NVIDIA H100"))");
  EXPECT_EQ(with("/gpu/name", "the same by another name"), "");
  EXPECT_EQ(with("/driver", "581"), R"(another driver (driver: "580.1", here "581"))");
  EXPECT_EQ(with("/host/logical_cores", 9), "another host (logical_cores: 8, here 9)");
}

TEST_F(JournalTest, AFolderDeletedMeanwhileIsMadeAgain) {
  Journal journal = Journal::create(run(), kHeader);
  journal.append(measurement("a"));
  const std::string before = content_of(file());
  std::filesystem::remove_all(run());
  testing::internal::CaptureStderr();
  journal.append(measurement("b"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "assay: " + file().string() +
                " was deleted: it is made again with the 1 measurements so far\n");
  EXPECT_TRUE(content_of(file()).starts_with(before));
  EXPECT_EQ(read_json(journal.write_run_file())["measurements"].size(), 2u);
  std::filesystem::remove_all(run());
  std::ofstream(folder() / "deep" / "run") << "in the way";
  message_of(ExitCode::io, [&] { journal.append(measurement("c")); });
}

TEST_F(JournalTest, NothingIsWrittenOverARunFile) {
  std::filesystem::create_directories(run());
  std::ofstream(run() / "run.json") << "{}";
  EXPECT_TRUE(message_of(ExitCode::usage, [&] {
                Journal::create(run(), kHeader);
              }).starts_with(run().string() + " holds a run already"));
  EXPECT_EQ(content_of(run() / "run.json"), "{}");
}

// Puts /dev/full, which takes nothing, in the place of the descriptor that is open on `path`.
void fill_disk_under(const std::filesystem::path& path) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed;
    if (std::filesystem::read_symlink(entry, closed) == path)
      ::dup3(full, std::stoi(entry.path().filename()), O_CLOEXEC);
  }
  ::close(full);
}

TEST_F(JournalTest, AFullDiskLosesNothingFinished) {
  {
    Journal journal = Journal::create(run(), kHeader);
    journal.append(measurement("a"));
    fill_disk_under(file());
    EXPECT_EQ(message_of(ExitCode::io, [&] { journal.append(measurement("b")); }),
              "cannot write " + file().string() +
                  ": No space left on device: free some space, then go on with --resume");
    EXPECT_FALSE(journal.has("b", 0));
  }
  EXPECT_EQ(Journal::resume(run()).measurements().size(), 1u);
}

TEST_F(JournalTest, NoPermissionIsSaid) {
  { const Journal journal = Journal::create(run(), kHeader); }
  std::filesystem::permissions(file(), std::filesystem::perms(0444));
  const AsNobody nobody(folder());
  EXPECT_EQ(message_of(ExitCode::io, [&] { Journal::create(folder() / "new", kHeader); }),
            "cannot write " + (folder() / "new/journal.jsonl").string() +
                ": Permission denied: choose a folder you may write to with --out");
  EXPECT_EQ(message_of(ExitCode::io, [&] { Journal::resume(run()); }),
            "cannot write " + file().string() +
                ": Permission denied: choose a folder you may write to with --out");
}

TEST_F(JournalTest, AFileInTheWayIsSaid) {
  std::ofstream(folder() / "deep") << "a file";
  const std::string said = message_of(ExitCode::io, [&] { Journal::create(run(), kHeader); });
  EXPECT_TRUE(said.starts_with("cannot write " + file().string() + ": Not a directory")) << said;
}

}  // namespace
}  // namespace assay
