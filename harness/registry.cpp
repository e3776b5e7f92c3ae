// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "harness/error.hpp"
#include "harness/probe.hpp"

namespace assay {
namespace {

struct Registered {
  std::vector<std::unique_ptr<Probe>> probes;
  struct Maker {
    Probe (*make)();
    const char* source;
  };
  std::vector<Maker> makers;
};

Registered& registered() {
  static Registered all;  // function-local: safe before main()
  return all;
}

void add(Probe probe, const char* source) {
  probe.source = source;
  registered().probes.push_back(std::make_unique<Probe>(std::move(probe)));
}

const Value& lookup(const Case& c, std::string_view key) {
  const auto found = c.params.find(key);
  if (found == c.params.end())
    throw Error(ExitCode::usage, "case '" + c.name + "' has no parameter '" + std::string(key) +
                                     "': add it to .params of its registration");
  return found->second;
}

[[noreturn]] void wrong_type(const Case& c, std::string_view key, const char* wanted) {
  throw Error(ExitCode::usage, "case '" + c.name + "': parameter '" + std::string(key) +
                                   "' is not " + wanted + ": mend its registration");
}

}  // namespace

std::int64_t Case::i64(std::string_view key) const {
  if (const auto* number = std::get_if<std::int64_t>(&lookup(*this, key))) return *number;
  wrong_type(*this, key, "an integer");
}

const std::string& Case::text(std::string_view key) const {
  if (const auto* words = std::get_if<std::string>(&lookup(*this, key))) return *words;
  wrong_type(*this, key, "a text");
}

bool Probe::exists_on(const Case& c, Target target) const {
  return std::ranges::find(targets_of(c), target) != targets_of(c).end();
}

Registration::Registration(Probe probe, std::source_location where) {
  add(std::move(probe), where.file_name());
}

Registration::Registration(Probe (*make)(), std::source_location where) {
  registered().makers.push_back({make, where.file_name()});
}

const std::vector<const Probe*>& probes() {
  static const std::vector<const Probe*> sorted = [] {
    std::vector<const Probe*> all;
    std::set<std::string> names;
    for (const auto& [make, source] : std::exchange(registered().makers, {})) add(make(), source);
    for (const auto& probe : registered().probes) {
      all.push_back(probe.get());
      for (const Case& c : probe->cases)
        if (!names.insert(probe->full_name(c)).second)
          throw Error(ExitCode::usage, "two cases are named '" + probe->full_name(c) +
                                           "': rename one of their registrations");
    }
    std::ranges::sort(all, {},
                      [](const Probe* probe) -> const std::string& { return probe->name; });
    return all;
  }();
  return sorted;
}

}  // namespace assay
