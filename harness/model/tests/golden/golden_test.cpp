// SPDX-License-Identifier: Apache-2.0
// The model against silicon: silicon.txt has what an H200 left of every form, as hashes.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "harness/model/model.hpp"
#include "harness/model/tests/golden/forms.hpp"

namespace assay::model::golden {
namespace {

std::vector<std::uint32_t> in_model(const Form& f, Outcome& outcome) {
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
  const auto bytes = gpu.read<std::uint8_t>(out, size);
  std::vector<std::uint32_t> hashes;
  for (int c = 0; c < f.cases; ++c)
    hashes.push_back(crc32(std::span(bytes).subspan(static_cast<std::size_t>(c * f.output_bytes),
                                                    static_cast<std::size_t>(f.output_bytes))));
  return hashes;
}

// What silicon.txt has of a form: hashes of its cases, or nothing where it failed there.
std::map<std::string, std::vector<std::uint32_t>> on_silicon() {
  std::map<std::string, std::vector<std::uint32_t>> all;
  std::ifstream file(ASSAY_SOURCE_DIR "/harness/model/tests/golden/silicon.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.ends_with(" failed") || line.find(" = ") != line.npos)
      continue;
    std::istringstream words(line);
    std::string name;
    words >> name >> std::hex;
    for (std::uint32_t h = 0; words >> h;) all[name].push_back(h);
  }
  return all;
}

TEST(ModelGolden, LeavesTheBitsThatSiliconLeft) {
  const auto silicon = on_silicon();
  std::size_t cases = 0, forms = 0, missing = 0;
  std::string names;  // of what silicon has still to be asked
  for (const Form& f : all_forms()) {
    const auto known = silicon.find(f.name);
    Outcome outcome;
    const auto hashes = in_model(f, outcome);
    EXPECT_TRUE(outcome.finished) << f.name;
    for (const Finding& finding : outcome.findings)
      ADD_FAILURE() << f.name << ": " << to_text(finding);
    if (known == silicon.end()) {
      ++missing;
      names += " " + f.name;
      continue;
    }
    EXPECT_EQ(hashes, known->second) << f.name;
    cases += hashes.size();
    ++forms;
  }
  EXPECT_GE(cases, 5000u);
  EXPECT_GE(forms, 150u);
  if (missing > 0)
    GTEST_SKIP() << missing << " forms ran in the model alone, as silicon.txt lacks them (run "
                 << "scripts/record_golden.py):" << names;
}

}  // namespace
}  // namespace assay::model::golden
