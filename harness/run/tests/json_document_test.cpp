// SPDX-License-Identifier: Apache-2.0
#include "harness/run/json_document.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "harness/run/json_io.hpp"
#include "harness/tests/scratch.hpp"

namespace assay {
namespace {

const JsonSource kSource{"run.json", "mend it"};

std::string refusal(const std::string& text) {
  return message_of(ExitCode::usage, [&] { parse_json(text, kSource); });
}
std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

// {"k0": 0, "k1": 1, ... and no end.
std::string many_members(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text.append("\"k").append(std::to_string(i)).append("\": 0, ");
  return text;
}

TEST(ParseJson, IsTheDocument) {
  const std::string text =
      R"({"b":[1,-2,2.5,18446744073709551615,"\u00b5",true,null,{}],"a":{"c":[[]]}})";
  EXPECT_EQ(parse_json(text, kSource).dump(),
            R"({"b":[1,-2,2.5,18446744073709551615,"µ",true,null,{}],"a":{"c":[[]]}})");
  EXPECT_EQ(parse_json("7", kSource), 7);
  EXPECT_EQ(parse_json("\xef\xbb\xbf[7]", kSource)[0], 7);  // a byte order mark says nothing
  EXPECT_EQ(parse_json(many_members(1000) + "\"end\": 0}", kSource).size(), 1001u);
}

TEST(ParseJson, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(refusal(R"({"a": {"b": [0, {"c": 1, "c": 2}]}})"),
            "run.json has a field 'a.b[1].c' that is there twice: mend it");
  EXPECT_EQ(refusal(many_members(1000) + "\"k999\": 0}"),
            "run.json has a field 'k999' that is there twice: mend it");
  EXPECT_EQ(
      refusal(R"({"a": [1e999]})"),
      "run.json has a field 'a[0]' that is a number beyond all that are read, '1e999': mend it");
  EXPECT_EQ(refusal("{\"a\": 1,\n\"b\": }"),
            "run.json is not valid JSON at line 2, column 6: syntax error while parsing value - "
            "unexpected '}'; expected '[', '{', or a literal, in field 'b': mend it");
  EXPECT_TRUE(refusal("").starts_with("run.json is not valid JSON at column 1: "));
  EXPECT_TRUE(
      refusal("{\"a\": \"\xff\x1b[31m\"}").starts_with("run.json is not valid JSON at column 8: "));
}

TEST(ParseJson, HasLimits) {
  EXPECT_NO_THROW(parse_json(repeated("[", 64) + repeated("]", 64), kSource));
  EXPECT_TRUE(refusal(repeated("[", 50'000))
                  .starts_with("run.json is nested more than 64 deep, in field '[0]["));
  EXPECT_TRUE(refusal(repeated("{\"a\":", 50'000))
                  .starts_with("run.json is nested more than 64 deep, in field 'a.a.a"));
  EXPECT_EQ(refusal("[" + repeated("0,", kMostJsonValues) + "0]"),
            "run.json holds more than 8000000 values: mend it");
  EXPECT_LT(refusal("{\"" + std::string(50'000, 'a') + "\": 1e999}").size(), 500u);
}

TEST(FieldOfJson, RefusesWhatIsOfAnotherType) {
  const Json json =
      parse_json(R"({"text": "a", "number": 1.5, "whole": -3, "flag": true, "null": null,
      "numbers": [1, 2, "3"], "big": 18446744073709551615, "object": {}})",
                 kSource);
  const Field root(json, kSource);
  const auto said = [&](auto&& read) { return message_of(ExitCode::usage, [&] { read(); }); };
  EXPECT_EQ(root.at("text").text(), "a");
  EXPECT_EQ(root.at("number").number(), 1.5);
  EXPECT_EQ(root.at("whole").integer(-3, 3), -3);
  EXPECT_EQ(root.at("big").seed(), 18446744073709551615u);
  EXPECT_TRUE(root.at("flag").flag());
  EXPECT_FALSE(root.find("null"));
  EXPECT_FALSE(root.find("absent"));
  EXPECT_EQ(said([&] { root.at("absent"); }), "run.json: field 'absent' is missing: mend it");
  EXPECT_EQ(said([&] { root.at("object").at("deep"); }),
            "run.json: field 'object.deep' is missing: mend it");
  EXPECT_EQ(said([&] { root.at("text").at("deep"); }),
            "run.json: field 'text' is a string, not an object: mend it");
  EXPECT_EQ(said([&] { root.at("null").text(); }),
            "run.json: field 'null' is a null, not a text: mend it");
  EXPECT_EQ(said([&] { root.at("number").integer(0, 9); }),
            "run.json: field 'number' is a number, not a whole number: mend it");
  EXPECT_EQ(
      said([&] { root.at("big").integer(0, 9); }),
      "run.json: field 'big' is 18446744073709551615, not a whole number from 0 to 9: mend it");
  EXPECT_EQ(said([&] { root.at("number").number(2, 3); }),
            "run.json: field 'number' is 1.5, not a number from 2 to 3: mend it");
  EXPECT_EQ(said([&] { root.at("numbers").require_numbers(); }),
            "run.json: field 'numbers[2]' is a string, not a number: mend it");
  EXPECT_EQ(said([&] { root.at("whole").seed(); }),
            "run.json: field 'whole' is a number, not a whole number from 0 on: mend it");
  EXPECT_EQ(said([&] { root.at("text").flag(); }),
            "run.json: field 'text' is a string, not true or false: mend it");
}

TEST(FieldOfJson, LooksIntoWhatMayBeOfAnyType) {
  const Json json = {{"text", "a"}, {"number", 1}};
  EXPECT_EQ(text_in(json, "text"), "a");
  EXPECT_EQ(text_in(json, "number"), "");
  EXPECT_EQ(text_in(nullptr, "text"), "");
  EXPECT_EQ(number_in(json, "number", 2), 1);
  EXPECT_EQ(number_in(json, "text", 2), 2);
  EXPECT_EQ(number_in(Json::array(), "text", 2), 2);
}

TEST(ParseJson, PassesOverWhatIsLeftOutAtAnyDepth) {
  constexpr std::string_view kText =
      R"({"a": 1, "b": {"a": {"a": [[1], {"c": 2}], "c": 3}, "c": [4, {"a": null, "d": "x"}]}, "c": 5})";
  EXPECT_EQ(parse_json(kText, kSource, {"a"}),
            Json::parse(R"({"b": {"c": [4, {"d": "x"}]}, "c": 5})"));
  EXPECT_EQ(parse_json(kText, kSource, {"b", "c"}), Json::parse(R"({"a": 1})"));
  EXPECT_EQ(parse_json(kText, kSource, {"d", "e"}).size(), 3);
  const std::string deep =
      R"({"a": )" + std::string(kDeepestJson, '[') + std::string(kDeepestJson, ']') + "}";
  EXPECT_THROW(parse_json(deep, kSource, {"a"}), Error);
}

using ReadJson = ScratchFolder;

TEST_F(ReadJson, RefusesWhatIsNoFileByItsKind) {
  const auto pipe = folder() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& path : {pipe, std::filesystem::path("/dev/zero")})
    EXPECT_EQ(message_of(ExitCode::usage, [&] { read_json(path); }),
              "cannot read " + path.string() + ": it is a pipe or a device; give a regular file");
  EXPECT_EQ(message_of(ExitCode::usage, [&] { read_json(folder()); }),
            "cannot read " + folder().string() + ": it is a folder; give a file");
  const auto large = folder() / "large.json";
  std::ofstream(large).close();
  std::filesystem::resize_file(large, std::uintmax_t{5} << 30);  // takes no space
  EXPECT_EQ(
      message_of(ExitCode::usage, [&] { read_json(large); }),
      "cannot read " + large.string() + ": it has 5368709120 bytes; at most 268435456 are read");
}

TEST_F(ReadJson, CommittedResultsAreWhatTheSchemaSays) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(ASSAY_SOURCE_DIR "/results")) {
    if (entry.path().filename() != "run.json") continue;
    EXPECT_NO_THROW(read_run_file(entry.path())) << entry.path();
    ++count;
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace assay
