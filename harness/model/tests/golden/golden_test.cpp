// SPDX-License-Identifier: Apache-2.0
// The model against silicon: silicon.txt has what an H200 left of every form, as hashes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <sstream>

#include "harness/model/model.hpp"
#include "harness/model/semantics/number.hpp"
#include "harness/model/tests/golden/forms.hpp"

namespace assay::model::golden {
namespace {

std::vector<std::uint8_t> in_model(const Form& f, Outcome& outcome) {
  Gpu gpu(f.ptx);
  const auto size = static_cast<std::size_t>(f.cases) * static_cast<std::size_t>(f.output_bytes);
  const Address in = gpu.allocate("input", f.input.size()), out = gpu.allocate("output", size);
  std::vector<std::uint8_t> data = f.input;
  const auto patch = [&](Address address) { std::memcpy(data.data(), &address, 8); };
  if (f.map_of_input >= 0) patch(in + static_cast<Address>(f.map_of_input));
  if (f.map_of_output >= 0) patch(out + static_cast<Address>(f.map_of_output));
  gpu.write(in, data);
  gpu.write(out, std::vector<std::uint8_t>(size, 0));
  outcome = gpu.launch("form",
                       {.grid = {f.cases, 1, 1},
                        .block = {f.threads, 1, 1},
                        .dynamic_shared_bytes = static_cast<std::uint32_t>(f.shared_bytes)},
                       Arguments().push(in).push(out), {.seed = 7});
  return gpu.read<std::uint8_t>(out, size);
}

std::vector<std::uint32_t> hashes_of(const Form& f, std::span<const std::uint8_t> bytes) {
  std::vector<std::uint32_t> hashes;
  for (int c = 0; c < f.cases; ++c)
    hashes.push_back(crc32(bytes.subspan(static_cast<std::size_t>(c * f.output_bytes),
                                         static_cast<std::size_t>(f.output_bytes))));
  return hashes;
}

// The numbers that scripts/record_golden.py writes as letters.
std::vector<std::int64_t> numbers_of(const std::string& text) {
  std::vector<std::int64_t> all;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    std::int64_t number = c == '0' ? 0 : c >= 'a' ? c - 96 : 64 - c;
    if (c == '(') {
      number = std::stoll(text.substr(at + 1));
      at = text.find(')', at);
    }
    std::size_t count = 1;
    if (at + 1 < text.size() && text[at + 1] == '*') {
      count = std::stoul(text.substr(at + 2));
      at = text.find('.', at);
    }
    all.insert(all.end(), count, number);
  }
  return all;
}

std::vector<std::int64_t> numbers_of(const Form& f, std::span<const std::uint8_t> bytes) {
  std::vector<std::int64_t> all;
  const auto width = static_cast<std::size_t>(f.values_of / 8);
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, width);
    all.push_back(static_cast<std::int64_t>(word << (64 - 8 * width)) >> (64 - 8 * width));
  }
  return all;
}

// Distances from the right numbers, as a form leaves them: none is beyond its bound.
void expect_near(const Form& f, std::vector<std::int64_t> apart, const char* whose) {
  const Approximation& a = f.approximation;
  Number n;
  parse_number(a.type, n);
  n.count = 1;
  if (n.bits == 64) {  // two words each
    for (std::size_t k = 0; k < apart.size() / 2; ++k)
      apart[k] = static_cast<std::int64_t>(static_cast<std::uint64_t>(apart[2 * k]) & 0xffffffff) |
                 apart[2 * k + 1] << 32;
    apart.resize(apart.size() / 2);
  }
  ASSERT_EQ(apart.size(), a.right.size()) << f.name;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - n.bits);
  for (std::size_t k = 0; k < apart.size(); ++k) {
    if (!a.stated[k]) continue;
    const double right = to_double(n, a.right[k]),
                 left = to_double(n, (a.right[k] + static_cast<std::uint64_t>(apart[k])) & mask);
    if (std::isnan(right))
      ASSERT_TRUE(std::isnan(left)) << f.name << ": value " << k << " of " << whose;
    else if (std::isinf(right))
      ASSERT_EQ(left, right) << f.name << ": value " << k << " of " << whose;
    else
      ASSERT_LE(std::fabs(left - right), std::fabs(right) * a.relative + a.absolute)
          << f.name << ": value " << k << " of " << whose << " is " << left << ", and not "
          << right;
  }
}

// What silicon.txt has of a form: hashes of its cases, of approximations also their numbers.
struct Left {
  std::vector<std::uint32_t> hashes;
  std::vector<std::int64_t> numbers;
};

std::map<std::string, Left> on_silicon() {
  std::map<std::string, Left> all;
  std::ifstream file(ASSAY_SOURCE_DIR "/harness/model/tests/golden/silicon.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.ends_with(" failed")) continue;
    if (const auto at = line.find(" = "); at != line.npos) {
      all[line.substr(0, at)].numbers = numbers_of(line.substr(at + 3));
      continue;
    }
    std::istringstream words(line);
    std::string name;
    words >> name >> std::hex;
    for (std::uint32_t h = 0; words >> h;) all[name].hashes.push_back(h);
  }
  return all;
}

// What a form left on silicon, if ASSAY_GOLDEN_BYTES names the folder of record_golden.py --bytes:
// the first word that differs from the model's.
std::string first_difference(const Form& f, std::span<const std::uint8_t> model) {
  const char* folder = std::getenv("ASSAY_GOLDEN_BYTES");
  if (folder == nullptr) return "";
  std::string name = f.name;
  std::ranges::replace(name, '/', '_');
  std::ifstream file(std::string(folder) + "/" + name + ".bin", std::ios::binary);
  const std::vector<char> left{std::istreambuf_iterator<char>(file), {}};
  if (left.size() != model.size()) return ", and its bytes are not in " + std::string(folder);
  const auto word = [](const auto* bytes, std::size_t at) {
    std::uint32_t w = 0;
    std::memcpy(&w, bytes + at, 4);
    return w;
  };
  const auto size = static_cast<std::size_t>(f.output_bytes);
  for (std::size_t at = 0; at + 4 <= left.size(); at += 4)
    if (word(left.data(), at) != word(model.data(), at))
      return fmt::format(", first in case {}, byte {}: {:08x} on silicon, {:08x} in the model",
                         at / size, at % size, word(left.data(), at), word(model.data(), at));
  return ", and its bytes in " + std::string(folder) + " are the model's";
}

// Runs the form in the model. Whatever is wrong there is a failure.
std::vector<std::uint8_t> run_clean(const Form& f) {
  Outcome outcome;
  auto bytes = in_model(f, outcome);
  EXPECT_TRUE(outcome.finished) << f.name;
  for (const Finding& finding : outcome.findings)
    ADD_FAILURE() << f.name << ": " << to_text(finding);
  if (f.values_of > 0) expect_near(f, numbers_of(f, bytes), "the model's");
  return bytes;
}

TEST(ModelGolden, LeavesTheBitsThatSiliconLeft) {
  const auto silicon = on_silicon();
  std::size_t cases = 0, forms = 0, approximations = 0;
  for (const Form& f : all_forms()) {
    const auto known = silicon.find(f.name);
    if (known == silicon.end()) continue;
    const auto bytes = run_clean(f);
    if (f.values_of > 0) {
      expect_near(f, known->second.numbers, "silicon's");
      ++approximations;
      continue;
    }
    EXPECT_EQ(hashes_of(f, bytes), known->second.hashes) << f.name << first_difference(f, bytes);
    cases += known->second.hashes.size();
    ++forms;
  }
  EXPECT_GE(cases, 39'000u);
  EXPECT_GE(forms, 2'000u);
  EXPECT_GE(approximations, 30u);
}

TEST(ModelGolden, FormsThatSiliconIsStillToBeAskedOf) {
  const auto silicon = on_silicon();
  std::set<std::string> known;
  std::string missing;
  int count = 0;
  for (const Form& f : all_forms()) {
    known.insert(f.name);
    if (silicon.contains(f.name)) continue;
    run_clean(f);
    missing += " " + f.name;
    ++count;
  }
  for (const auto& [name, left] : silicon)
    EXPECT_TRUE(known.contains(name)) << "silicon.txt has a form that is no more: " << name;
  if (count > 0)
    GTEST_SKIP() << count << " forms ran in the model alone, as silicon.txt lacks them. "
                 << "scripts/record_golden.py says how to record them:" << missing;
}

}  // namespace
}  // namespace assay::model::golden
