// SPDX-License-Identifier: Apache-2.0
// Every metric has a sentence, every sentence a metric, and all of them can be read.
#include "harness/measure/figures/metric_notes.hpp"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "harness/run/json_io.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

TEST(Descriptions, AreFoundByNameThenByPattern) {
  const Probe probe{.name = "p",
                    .question = "",
                    .metrics = {{"latency_of_*", "Latency in clusters of * CTAs."},
                                {"*_of_*", "What * is of *."},
                                {"latency_of_self", "Latency of the own memory."},
                                {"time_us", "Time of a call."}},
                    .run = {}};
  EXPECT_EQ(describe(probe, "latency_of_16"), "Latency in clusters of 16 CTAs.");
  EXPECT_EQ(describe(probe, "latency_of_self"), "Latency of the own memory.");
  EXPECT_EQ(describe(probe, "share_of_all"), "What share is of all.");
  EXPECT_EQ(describe(probe, "time_us"), "Time of a call.");
  EXPECT_EQ(describe(probe, "tflops"), find_meaning(standard_metrics(), "tflops"));
  EXPECT_EQ(describe(probe, "nothing"), "");
}

// Names of metrics and series in the committed results, by probe.
std::map<std::string, std::set<std::string>> recorded() {
  std::map<std::string, std::set<std::string>> names;
  for (const auto& entry : fs::recursive_directory_iterator(ASSAY_SOURCE_DIR "/results")) {
    if (entry.path().filename() != "run.json") continue;
    const Json run = read_json(entry.path());
    for (const Json& m : run.at("measurements")) {
      std::set<std::string>& of_probe = names[m.at("probe")];
      const Json metrics = m.value("metrics", Json::object());
      for (const auto& [name, figure] : metrics.items()) of_probe.insert(name);
      for (const Json& series : m.value("series", Json::array()))
        of_probe.insert(series.at("name"));
    }
  }
  return names;
}

TEST(Descriptions, ExistForAllThatWasEverRecorded) {
  const auto names = recorded();
  EXPECT_FALSE(names.empty());
  for (const Probe* probe : probes()) {
    const auto found = names.find(probe->name);
    if (found == names.end()) continue;
    for (const std::string& name : found->second)
      EXPECT_NE(describe(*probe, name), "") << probe->name << ": " << name;
  }
}

std::string read(const fs::path& file) {
  std::ostringstream content;
  content << std::ifstream(file).rdbuf();
  return content.str();
}

// All of the folder that registers the probe, and what of harness/measure it includes, which adds
// metrics for several; empty if that is none of the suite's.
std::string sources_of_family(const Probe& probe) {
  static std::map<fs::path, std::string> texts;
  const auto at = std::min(probe.source.rfind("probes/"), probe.source.rfind("kernels/"));
  if (at == std::string::npos) return {};
  const fs::path folder = (fs::path(ASSAY_SOURCE_DIR) / probe.source.substr(at)).parent_path();
  std::string& text = texts[folder];
  if (!text.empty()) return text;
  static const RE2 kMeasure(R"(#include "(harness/measure/\w+)\.hpp")");
  std::string included;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::string code = read(entry.path());
    for (re2::StringPiece rest(code); RE2::FindAndConsume(&rest, kMeasure, &included);)
      text += read(fs::path(ASSAY_SOURCE_DIR) / (included + ".cpp"));
    RE2::GlobalReplace(&code, R"(\{"[a-z0-9_*]+",\s*")", "");  // not the notes themselves
    text += code;
  }
  return text;
}

// As it is, or put together of two literals: name + "_capacity_bytes".
bool is_in(const std::string& text, const std::string& piece) {
  if (text.find(piece) != std::string::npos) return true;
  for (std::size_t at = 1; at < piece.size(); ++at)
    if (text.find(piece.substr(0, at) + '"') != std::string::npos &&
        text.find('"' + piece.substr(at)) != std::string::npos)
      return true;
  return false;
}

// A name made in a loop is there in pieces, which its pattern shows: "latency_cycles_of_".
TEST(Descriptions, AreOfMetricsThatThereAre) {
  const auto names = recorded();
  for (const Probe* probe : probes()) {
    const auto found = names.find(probe->name);
    for (const MetricNote& note : probe->metrics) {
      const std::vector<MetricNote> alone = {note};
      if (!find_meaning(standard_metrics(), note.name).empty()) continue;  // follows from the work
      if (found != names.end() && std::ranges::any_of(found->second, [&](const std::string& name) {
            return !find_meaning(alone, name).empty();
          }))
        continue;
      const std::string text = sources_of_family(*probe);
      std::istringstream pieces(note.name);
      for (std::string piece; std::getline(pieces, piece, '*');)
        EXPECT_TRUE(is_in(text, piece))
            << probe->name << " describes '" << note.name << "', which nothing measures";
    }
  }
}

void expect_sentence(const std::string& whose, const MetricNote& note) {
  const std::string where = whose + ": " + note.name + ": " + note.meaning;
  ASSERT_FALSE(note.meaning.empty()) << where;
  EXPECT_TRUE(std::isupper(static_cast<unsigned char>(note.meaning.front()))) << where;
  EXPECT_TRUE(note.meaning.ends_with('.')) << where;
  EXPECT_EQ(note.meaning.find("  "), std::string::npos) << where;
  EXPECT_LE(std::ranges::count(note.meaning, ' '), 24) << where;
  // More than its name said again with spaces.
  std::string spaced = note.name;
  std::ranges::replace(spaced, '_', ' ');
  std::string plain = note.meaning.substr(0, note.meaning.size() - 1);
  std::ranges::transform(plain, plain.begin(), [](unsigned char c) { return std::tolower(c); });
  EXPECT_NE(plain, spaced) << where;
  EXPECT_LE(std::ranges::count(note.meaning, '*'), std::ranges::count(note.name, '*')) << where;
}

TEST(Descriptions, AreSentences) {
  for (const MetricNote& note : standard_metrics()) expect_sentence("every probe", note);
  for (const Probe* probe : probes()) {
    std::set<std::string> names;
    for (const MetricNote& note : probe->metrics) {
      expect_sentence(probe->name, note);
      EXPECT_TRUE(names.insert(note.name).second)
          << probe->name << " describes " << note.name << " twice";
    }
  }
}

}  // namespace
}  // namespace assay
