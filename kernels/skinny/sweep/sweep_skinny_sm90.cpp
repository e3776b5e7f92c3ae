// SPDX-License-Identifier: Apache-2.0
// Times the skinny product at the suite's layers with every number of CTAs that share k, beside the
// kernel for one token and, for weights that are not packed, the dense product.
//
//   assay_skinny_sweep OUT.csv [MILLISECONDS]
//
// A line of OUT.csv is the shape, the way, its median ns, how many samples that is of, the bytes
// that a call moves per ns (GB/s), and 1 if this is what a call does. All take turns in random
// order on inputs that rotate beyond L2. Each result is checked first. MILLISECONDS bounds the time
// of a shape, 30 if not given. With --rest each sample comes after so many milliseconds of rest,
// with --calls it is the mean of so many calls without a pause.
#include <fmt/format.h>
#include <re2/re2.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/cuda.hpp"
#include "kernels/frame/fill.hpp"
#include "kernels/frame/operand_sets.hpp"
#include "kernels/gemm/sweep/sweep_command.hpp"
#include "kernels/gemm/sweep/turns.hpp"
#include "kernels/skinny/operands.hpp"
#include "kernels/skinny/reference.hpp"
#include "kernels/skinny/shapes.hpp"
#include "kernels/skinny/sm90/arrange_sm90.hpp"
#include "kernels/skinny/sm90/plan_sm90.hpp"
#include "kernels/skinny/sm90/variants_sm90.hpp"

namespace assay::kernels {
namespace {

// On inputs of its own, more of them than L2 holds.
class Inputs {
 public:
  Inputs(const SkinnyProblem& p, cudaStream_t stream) {
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
    const int sets = sets_beyond_l2(static_cast<std::uint64_t>(device.l2CacheSize),
                                    static_cast<std::uint64_t>(p.bytes()));
    std::uint64_t seed = 1;
    for (int set = 0; set < sets; ++set) {
      std::vector<void*> pointers;
      for (const Operand& operand : skinny_operands(p)) {
        buffers_.emplace_back(operand.bytes);
        pointers.push_back(buffers_.back().data());
        if (operand.fill) operand.fill(pointers.back(), seed++, stream);
      }
      sets_.push_back(skinny_operands_of(pointers));
    }
  }
  const std::vector<SkinnyOperands>& sets() const { return sets_; }

 private:
  std::vector<Buffer> buffers_;
  std::vector<SkinnyOperands> sets_;
};

// Every plan that differs from the others by its name.
template <class Make>
void add(std::vector<Entry>& entries, std::set<std::string>& names, const Inputs& inputs,
         cudaStream_t stream, const Make& make) {
  std::vector<Plan> plans;
  for (const SkinnyOperands& set : inputs.sets()) plans.push_back(make(set));
  if (!names.insert(plans.front().variant).second) return;
  const std::string name = plans.front().variant;
  entries.push_back({name, [plans = std::move(plans), stream](int set) mutable {
                       plans[static_cast<std::size_t>(set)].run(stream);
                     }});
}

void sweep(const SkinnyProblem& p, const SweepOptions& options, int calls, bool every_form,
           FILE* out) {
  const Stream stream;
  const Inputs inputs(p, stream);
  std::vector<Entry> entries;
  std::set<std::string> names;
  const auto with = [&](const auto& make) { add(entries, names, inputs, stream, make); };
  with([&](const SkinnyOperands& o) { return plan_skinny(p, o); });
  const std::string chosen = entries.front().name;
  if (p.m == 1) with([&](const SkinnyOperands& o) { return plan_one_token_sm90(p, o); });
  if (p.weights == SkinnyWeights::bf16) {
    with([&](const SkinnyOperands& o) { return plan_dense_sm90(p, o); });
  } else {
    const auto forms = skinny_variants_sm90(p.weights);
    for (int form = 0; form < static_cast<int>(forms.size()); ++form)
      for (const int cluster : kSkinnyClustersSm90) {
        const SkinnyVariantSm90& v = forms[static_cast<std::size_t>(form)];
        if (v.columns < p.m || cluster > skinny_stages_sm90(v, p.k)) continue;
        if (!every_form && form > 0 && forms[static_cast<std::size_t>(form - 1)].columns >= p.m)
          continue;
        with([&](const SkinnyOperands& o) {
          return plan_ring_sm90(p, o, {.form = form, .cluster = cluster});
        });
      }
  }
  for (Entry& entry : entries) {
    const SkinnyOperands& first = inputs.sets().front();
    poison(first.d, static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n) * 2, stream);
    entry.run(0);
    const SkinnyErrors errors = check_skinny(p, first, 1 << 12, 1, stream);
    entry.out = !errors.right();
    if (entry.out)
      std::fprintf(stderr, "%s %s: %s\n", p.text().c_str(), entry.name.c_str(),
                   errors.describe().c_str());
  }
  take_turns(entries, static_cast<int>(inputs.sets().size()),
             static_cast<std::uint32_t>(p.m + p.n + p.k), options.milliseconds, stream, calls,
             options.pause());
  for (const Entry& entry : entries)
    if (!entry.ns.empty())
      fmt::print(out, "{},{},{:.0f},{},{:.0f},{:d}\n", p.text(), entry.name, entry.median(),
                 entry.ns.size(), p.bytes() / entry.median(), entry.name == chosen);
  std::fflush(out);
}

std::string complaint_of_filter(const std::string& text) {
  const re2::RE2 expression(text, re2::RE2::Quiet);
  return expression.ok() ? "" : text + " is no regular expression: " + expression.error();
}

}  // namespace
}  // namespace assay::kernels

int main(int argc, char** argv) {
  using namespace assay::kernels;
  constexpr const char* kColumns = "shape,form,ns,samples,gb_per_s,chosen";
  CLI::App app("Times every way of the skinny product for few tokens, and the dense product",
               "assay_skinny_sweep");
  SweepOptions options{.milliseconds = 30};
  options.add_to(app, kColumns);
  int calls = 1;
  app.add_option("--calls", calls, "Calls without a pause, of which a sample is the mean")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  std::string only;
  app.add_option("--only", only, "Regular expression of a part of shapes' names, as 's4 m=(1|16) '")
      ->check(CLI::Validator(complaint_of_filter, "FILTER"));
  bool every_form = false;
  app.add_flag("--every-form", every_form, "Also the forms for more tokens than there are");
  return run_sweep(app, argc, argv, options, kColumns, [&](FILE* out) {
    const re2::RE2 wanted(only);
    for (const SkinnyLayer& layer : skinny_layers())
      for (const SkinnyWeights weights : kSkinnyWeights)
        for (const int m : kSkinnyTokens)
          if (const SkinnyProblem p{m, layer.n, layer.k, weights};
              re2::RE2::PartialMatch(p.text(), wanted))
            sweep(p, options, calls, every_form, out);
  });
}
