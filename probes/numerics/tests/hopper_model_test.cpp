// SPDX-License-Identifier: Apache-2.0
// The sums that the host model computes for Hopper are those that were found on an H200: the
// probe's experiments, run on the model instead of the chip, end with the words that the results
// hold.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/model/matrix/arithmetic.hpp"
#include "probes/numerics/inference.hpp"

namespace assay::numerics {
namespace {

namespace matrix = model::matrix;

constexpr std::string_view kFolder = "numerics/accumulate/";

matrix::Arithmetic arithmetic_of(const std::string& name, const nlohmann::json& params) {
  const bool wgmma = name.find("/wgmma/") != std::string::npos;
  const auto type = [&](const char* which) {
    return *matrix::find_type(params.at(which).get<std::string>());
  };
  return matrix::arithmetic_of({.machine = matrix::Machine::hopper,
                                .unit = wgmma ? matrix::Unit::wgmma : matrix::Unit::mma_sync,
                                .a = type("a"),
                                .b = type("b"),
                                .c = type("accumulate"),
                                .d = type("accumulate"),
                                .m = wgmma ? 64 : 16,
                                .n = 8,
                                .k = params.at("k").get<int>()});
}

TEST(HopperModel, GivesTheWordsFoundOnAnH200) {
  std::ifstream file(ASSAY_SOURCE_DIR "/results/h200/2026-11-22-full/run.json");
  const auto run = nlohmann::json::parse(file);
  int compared = 0;
  for (const auto& measurement : run.at("measurements")) {
    const auto name = measurement.at("name").get<std::string>();
    if (!name.starts_with(kFolder) || !measurement.at("params").contains("addends")) continue;
    const auto& params = measurement.at("params");
    SCOPED_TRACE(name);
    ++compared;
    const matrix::Arithmetic x = arithmetic_of(name, params);
    EXPECT_EQ(x.certainty, matrix::Certainty::measured);
    const Evaluator chip = [&](const std::vector<Dot>& dots) {
      std::vector<Bits> found;
      for (const Dot& dot : dots) found.push_back(multiply_add(x.model, dot));
      return found;
    };
    const Findings f = experiment(x.model.a, x.model.accumulator, x.k, chip);
    for (const auto& [what, words] : f.words)
      EXPECT_EQ(words, params.at(what).get<std::string>()) << what;
    EXPECT_EQ(describe(x.model), params.at("finding").get<std::string>());
    const auto metric = [&](const char* which) {
      return measurement.at("metrics").at(which).at("value").get<double>();
    };
    EXPECT_EQ(metric("accumulator_fraction_bits"), x.model.fraction_bits);
    EXPECT_EQ(metric("c_fraction_bits"), f.c_fraction_bits);
    EXPECT_EQ(metric("result_fraction_bits"), x.model.result.fraction_bits);
    EXPECT_EQ(metric("model_agreement"), 1);
    // Where random data showed more than the experiments had, they show it here, too.
    bool enough = true;
    for (std::uint64_t round = 0; round < 5 && enough; ++round)
      for (const Data data : kAllData) {
        const auto dots = random_dots(x.model.a, x.model.accumulator, x.k, data, 200, 1 + round);
        enough = enough && agreement(f.model, dots, chip(dots)) == 1;
      }
    EXPECT_EQ(enough ? "the experiments' model as it is" : "adjusted to random data",
              params.at("fit").get<std::string>());
  }
  EXPECT_EQ(compared, 16);
}

}  // namespace
}  // namespace assay::numerics
