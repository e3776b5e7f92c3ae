// SPDX-License-Identifier: Apache-2.0
// JSON from outside: the one place where its size, depth, duplicates, numbers and types are
// checked. What is wrong is said in one line, with the file and the field. Only .cpp files include
// this: the JSON header is heavy.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

using Json = nlohmann::ordered_json;

inline constexpr std::size_t kLargestJsonFile = std::size_t{256}
                                                << 20;     // bytes; a full run has 4 MB
inline constexpr std::size_t kMostJsonValues = 8'000'000;  // about 0.5 GB in memory
inline constexpr std::size_t kDeepestJson = 64;            // nested objects and arrays

// Where a text is from, for messages: "out/run.json", "out/journal.jsonl: line 3"; and what to do
// about a wrong one.
struct JsonSource {
  std::string name, mend = "is it a complete run file?";
};

using Names = std::vector<std::string_view>;  // of members of objects

// Throws Error(usage) if it is not JSON, or beyond a limit above, or has a key twice or a number
// that no double holds. Members of the names in `left_out`, at whatever depth, are passed over.
Json parse_json(std::string_view text, const JsonSource& source, const Names& left_out = {});

// The same of a file, which must be a regular one.
Json read_json(const std::filesystem::path& path, const Names& left_out = {});

// A value and its place in a document. Each function refuses what is of another type or out of
// range with an Error(usage) that names the place.
class Field {
 public:
  // `json` and `source` must outlive all fields.
  Field(const Json& json, const JsonSource& source, std::string path = {})
      : json_(&json), source_(&source), path_(std::move(path)) {}

  Field at(const std::string& key) const;  // must be there
  bool has(const std::string& key) const { return require_object().json_->contains(key); }
  std::optional<Field> find(const std::string& key) const;  // absent and null are nothing
  bool is_empty() const { return json_->empty(); }
  bool is_null() const { return json_->is_null(); }

  const Field& require_object() const;
  const std::string& text() const;
  double number(double low = -std::numeric_limits<double>::max(),
                double high = std::numeric_limits<double>::max()) const;
  std::int64_t integer(std::int64_t low, std::int64_t high) const;
  std::uint64_t seed() const;  // any of 64 bits
  bool flag() const;
  void require_numbers() const;  // an array of them
  void for_each_member(const std::function<void(const std::string& key, const Field&)>& f) const;
  void for_each_item(const std::function<void(const Field&)>& f) const;

  [[noreturn]] void refuse(const std::string& problem) const;

 private:
  [[noreturn]] void refuse_type(const char* wanted) const;

  const Json* json_;
  const JsonSource* source_;
  std::string path_;
};

// What a member of an object is, if it is there and of this type: for what may be of any.
std::string text_in(const Json& object, const char* key);
double number_in(const Json& object, const char* key, double otherwise);

}  // namespace assay
