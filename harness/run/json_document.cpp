// SPDX-License-Identifier: Apache-2.0
#include "harness/run/json_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "harness/error.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/machine/files.hpp"

namespace assay {
namespace {

[[noreturn]] void refuse_document(const JsonSource& source, const std::string& problem) {
  throw Error(ExitCode::usage, fmt::format("{} {}: {}", source.name, problem, source.mend));
}

std::string member_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

// Builds the document as the parser reads it, so that nothing is made that is beyond a limit.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(const JsonSource& source, bool is_one_line, const Names& left_out)
      : source_(source), mark_(is_one_line ? "column" : "line"), left_out_(left_out) {}
  Json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON has none
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    if (passed_over_ > 0) return true;
    Open& object = open_.back();
    object.key = key;
    if (!object.is_new(key)) refuse("is there twice");
    passes_over_next_ = std::ranges::find(left_out_, key) != left_out_.end();
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    const std::string words = e.what();
    // "[json.exception.out_of_range.406] number overflow parsing '1e999'"
    if (const auto at = words.find("number overflow parsing "); at != words.npos)
      refuse(
          fmt::format("is a number beyond all that are read, {}", excerpt(words.substr(at + 24))));
    // "[json.exception.parse_error.101] parse error at line 3, column 7: ..."
    const auto at = words.find(mark_);
    refuse_document(source_, fmt::format("is not valid JSON at {}{}",
                                         excerpt(at == words.npos ? words : words.substr(at)),
                                         path().empty() ? "" : ", in field '" + path() + "'"));
  }

 private:
  struct Open {
    Json* json;
    std::string key;  // of the member that is being read
    std::unordered_set<std::string> many_keys = {};

    bool is_new(const std::string& name) {
      constexpr std::size_t kFew = 32;
      const auto& members = json->get_ref<const Json::object_t&>();
      if (members.size() < kFew)
        return std::ranges::none_of(members, [&](const auto& m) { return m.first == name; });
      if (many_keys.empty())
        for (const auto& [known, value] : members) many_keys.insert(known);
      return many_keys.insert(name).second;
    }
  };

  template <class Value>
  bool put(Value&& value) {
    if (passes_over()) return true;
    add(std::forward<Value>(value));
    return true;
  }

  // A pointer to what was added stays valid until its parent grows, which is after it is closed.
  Json* add(Json value) {
    if (++count_ > kMostJsonValues)
      refuse_document(source_, fmt::format("holds more than {} values", kMostJsonValues));
    if (open_.empty()) return &(root_ = std::move(value));
    Json& parent = *open_.back().json;
    if (parent.is_array()) return &parent.get_ref<Json::array_t&>().emplace_back(std::move(value));
    auto& members = parent.get_ref<Json::object_t&>();
    // Known to be new: without the search that operator[] begins with.
    static_cast<Json::object_t::Container&>(members).emplace_back(open_.back().key,
                                                                  std::move(value));
    return &members.back().second;
  }

  bool open(Json container) {
    if (open_.size() + passed_over_ == kDeepestJson)
      refuse_document(source_, fmt::format("is nested more than {} deep, in field '{}'",
                                           kDeepestJson, excerpt(path())));
    if (passes_over()) {
      ++passed_over_;
      return true;
    }
    Json* added = add(std::move(container));
    open_.push_back({added, {}});
    return true;
  }

  bool close() {
    if (passed_over_ > 0)
      --passed_over_;
    else
      open_.pop_back();
    return true;
  }

  // Whether what comes now is left out, or in what is.
  bool passes_over() { return std::exchange(passes_over_next_, false) || passed_over_ > 0; }

  std::string path() const {
    std::string path;
    for (const Open& open : open_) {
      // All but the last hold what is open after them already.
      const std::size_t index = open.json->size() - (&open == &open_.back() ? 0 : 1);
      if (open.json->is_array())
        path += fmt::format("[{}]", index);
      else if (!open.key.empty())
        path = member_path(path, open.key);
    }
    return excerpt(path);
  }

  [[noreturn]] void refuse(const std::string& problem) const {
    refuse_document(source_, fmt::format("has a field '{}' that {}", path(), problem));
  }

  const JsonSource& source_;
  const char* mark_;  // where the place begins in the parser's words
  Json root_;
  std::vector<Open> open_;
  std::size_t count_ = 0;
  const Names& left_out_;
  bool passes_over_next_ = false;
  std::size_t passed_over_ = 0;  // objects and arrays that are open in what is left out
};

}  // namespace

Json parse_json(std::string_view text, const JsonSource& source, const Names& left_out) {
  if (text.size() > kLargestJsonFile)
    refuse_document(
        source, fmt::format("has {} bytes; at most {} are read", text.size(), kLargestJsonFile));
  Builder builder(source, text.find('\n') == text.npos, left_out);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

Json read_json(const std::filesystem::path& path, const Names& left_out) {
  return parse_json(read_file(path, kLargestJsonFile), {path.string()}, left_out);
}

void Field::refuse(const std::string& problem) const {
  throw Error(ExitCode::usage,
              fmt::format("{}: {} {}: {}", source_->name,
                          path_.empty() ? "the document" : "field '" + excerpt(path_) + "'",
                          problem, source_->mend));
}

void Field::refuse_type(const char* wanted) const {
  refuse(fmt::format("is {} {}, not {}", json_->is_array() || json_->is_object() ? "an" : "a",
                     json_->type_name(), wanted));
}

const Field& Field::require_object() const {
  if (!json_->is_object()) refuse_type("an object");
  return *this;
}

Field Field::at(const std::string& key) const {
  require_object();
  const auto found = json_->find(key);
  if (found == json_->end()) Field(*json_, *source_, member_path(path_, key)).refuse("is missing");
  return {*found, *source_, member_path(path_, key)};
}

std::optional<Field> Field::find(const std::string& key) const {
  require_object();
  const auto found = json_->find(key);
  if (found == json_->end() || found->is_null()) return std::nullopt;
  return Field{*found, *source_, member_path(path_, key)};
}

const std::string& Field::text() const {
  if (!json_->is_string()) refuse_type("a text");
  return json_->get_ref<const std::string&>();
}

double Field::number(double low, double high) const {
  if (!json_->is_number()) refuse_type("a number");
  const double value = json_->get<double>();
  if (!(value >= low && value <= high))
    refuse(fmt::format("is {}, not a number from {} to {}", value, low, high));
  return value;
}

std::int64_t Field::integer(std::int64_t low, std::int64_t high) const {
  if (!json_->is_number_integer()) refuse_type("a whole number");
  const bool fits =
      !json_->is_number_unsigned() || json_->get<std::uint64_t>() <= std::uint64_t{INT64_MAX};
  const auto value = json_->get<std::int64_t>();
  if (!fits || value < low || value > high)
    refuse(fmt::format("is {}, not a whole number from {} to {}", json_->dump(), low, high));
  return value;
}

std::uint64_t Field::seed() const {
  if (!json_->is_number_unsigned()) refuse_type("a whole number from 0 on");
  return json_->get<std::uint64_t>();
}

bool Field::flag() const {
  if (!json_->is_boolean()) refuse_type("true or false");
  return json_->get<bool>();
}

void Field::require_numbers() const {
  if (!json_->is_array()) refuse_type("an array of numbers");
  for (std::size_t i = 0; i < json_->size(); ++i)
    if (!(*json_)[i].is_number())
      Field((*json_)[i], *source_, fmt::format("{}[{}]", path_, i)).refuse_type("a number");
}

void Field::for_each_member(
    const std::function<void(const std::string& key, const Field&)>& f) const {
  require_object();
  for (const auto& [key, value] : json_->items())
    f(key, Field(value, *source_, member_path(path_, key)));
}

void Field::for_each_item(const std::function<void(const Field&)>& f) const {
  if (!json_->is_array()) refuse_type("an array");
  for (std::size_t i = 0; i < json_->size(); ++i)
    f(Field((*json_)[i], *source_, fmt::format("{}[{}]", path_, i)));
}

std::string text_in(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

double number_in(const Json& object, const char* key, double otherwise) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

}  // namespace assay
