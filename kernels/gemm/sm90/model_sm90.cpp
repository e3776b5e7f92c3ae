// SPDX-License-Identifier: Apache-2.0
// The matrix product on Hopper in the host model: every form, on shapes that are no multiple of its
// tiles.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "harness/element.hpp"
#include "harness/model_case/model_case.hpp"
#include "kernels/frame/workers/model_workspace.hpp"
#include "kernels/gemm/model_map.hpp"
#include "kernels/gemm/model_operands.hpp"
#include "kernels/gemm/model_problem.hpp"
#include "kernels/gemm/sm90/model_sm90.hpp"
#include "kernels/gemm/sm90/plan_sm90.hpp"

namespace assay::kernels {
namespace {

template <class Operands>
ModelResult launch(const Operands& operands, const GemmProblem& problem,
                   const GemmChoiceSm90& choice, model::Gpu& gpu, const model::Options& options) {
  GemmLaunchSm90 l = launch_of_gemm_sm90(problem, operands.operands(), choice);
  const ModelWorkspace workspace(gpu, std::max(l.workspace_bytes, kFlagBytes));
  if (l.workspace_bytes > 0) give_workspace_sm90(l, workspace.pointer());
  if (choice.parts == 1) l.args.meeting = workspace.meeting(choice.workers);
  const auto p = model_map(l.p), q = model_map(l.q), d = model_map(l.d),
             edge_p = model_map(l.edge_p), edge_q = model_map(l.edge_q), c = model_map(l.c);
  const GemmVariantSm90& v = *l.variant;
  model::Arguments arguments;
  for (const auto* map : {&p, &q, &d, &edge_p, &edge_q}) arguments.push(map, 128, 128);
  if (!v.plain) arguments.push(&c, 128, 128);
  arguments.push(l.args);
  const GemmOperands o = operands.operands();
  written_by_a_grid_before(gpu, {o.a, o.b, o.c, o.bias, o.scale_a, o.scale_b});
  ModelResult result;
  result.outcome = gpu.launch(gpu.kernel(v.linker_name),
                              {.grid = {l.grid, 1, 1},
                               .block = {v.threads, 1, 1},
                               .dynamic_shared_bytes = static_cast<std::uint32_t>(v.shared_bytes),
                               .early = true},
                              arguments, options);
  if (l.reduce.parts > 0 && result.outcome.finished && result.outcome.findings.empty()) {
    model::Arguments sums;
    sums.push(l.reduce);
    result.outcome = gpu.launch(gpu.kernel(v.reduce.linker_name),
                                {.grid = {reduce_ctas_sm90(l.reduce), 1, 1},
                                 .block = {reduce_threads_sm90(l.reduce), 1, 1},
                                 .early = true},
                                sums, options);
  }
  if (result.outcome.finished) {
    operands.compare(gpu, result);
    workspace.compare(result);
  }
  return result;
}

std::string size_of(const GemmProblem& p) { return fmt::format("m{}n{}k{}", p.m, p.n, p.k); }

std::string form_name(const GemmProblem& p, const GemmVariantSm90& v) {
  const std::string type = p.type + (p.type_b.empty() ? "" : "_" + p.type_b);
  return "kernels/gemm/sm90/" + type + "/" + size_of(p) + "/" + p.layout + "/" + v.name;
}

// bf16 on inputs that were given to a GPU too (tests/silicon.txt): one form on all shapes, all on
// those that are quick.
void add_whole(std::vector<ModelFormSm90>& forms) {
  for (const ModelShape& s : awkward_shapes()) {
    const GemmProblem problem{.m = s.m, .n = s.n, .k = s.k};
    const bool quick = s.m * s.n * s.k < 4'500'000;
    for (const GemmVariantSm90* v : fitting_variants_sm90(problem)) {
      const bool named = v->name == "128x256_c2x1_s4";
      if (!named && !quick) continue;
      // Two workers, so that the ring goes on from one tile to the next.
      forms.push_back({.name = named ? name_of_whole_sm90(problem) : form_name(problem, *v),
                       .problem = problem,
                       .choice = {.variant = v, .workers = 2},
                       .plain = true});
    }
  }
  // f16's main loop is the first in the kernels that it shares with bf16: bugs are planted there
  // (harness/model/tests/planted_bugs.hpp), and need a ring that goes round.
  const GemmProblem f16{.m = 300, .n = 248, .k = 320, .type = "f16"};
  for (const GemmVariantSm90* v : fitting_variants_sm90(f16)) {
    if (v->name == "128x256_c2x1_s4")
      forms.push_back({.name = name_of_whole_sm90(f16),
                       .problem = f16,
                       .choice = {.variant = v, .workers = 2}});
  }
}

// What follows the sums: by the form's name, so that it stays what a GPU was given when other forms
// come and go.
GemmProblem dressed(GemmProblem p, const GemmVariantSm90& v, const std::string& name) {
  std::uint32_t turn = 2166136261;  // FNV-1a
  for (const char c : name) turn = (turn ^ static_cast<unsigned char>(c)) * 16777619;
  turn >>= 8;
  const bool fp8 = p.type[0] == 'e';
  const char* const types[] = {fp8 ? "bf16" : "", "", "f32"};
  p.type_d = fp8 && turn % 3 == 1 ? "f16" : types[turn % 3];
  if (turn % 4 == 1) {
    p.alpha = 0.75f;
    p.beta = -1.5f;
    if (!v.plain && !v.adds_wide_c && p.type_d == "f32") p.type_d = "";
  }
  p.bias = turn % 4 >= 2;
  constexpr Activation kActivations[] = {Activation::gelu, Activation::silu, Activation::gelu_tanh};
  if (turn % 4 == 3) p.activation = kActivations[turn / 4 % 3];
  if (fp8) p.scaling = static_cast<Scaling>(turn % 3);
  return p;
}

// Of a form that does little to sums, what it can.
GemmProblem dressed_plainly(GemmProblem p, const GemmVariantSm90& v, const std::string& name) {
  if (p.type[0] != 'e') return p;
  const GemmProblem whole = dressed(p, v, name);
  p.scaling = whole.scaling;
  p.alpha = whole.alpha;
  return p;
}

// So many tiles, the last less than whole by as little as the type allows, and steps.
GemmProblem of_tiles(const GemmVariantSm90& v, int tiles_m, int tiles_n, int steps) {
  const int less = 128 / element_bits(v.type_p);
  const int rows = tiles_m * v.tile_m - less, columns = tiles_n * v.tile_n - less;
  return {.m = v.swapped ? columns : rows, .n = v.swapped ? rows : columns, .k = steps * v.tile_k};
}

std::vector<ModelFormSm90> forms() {
  std::vector<ModelFormSm90> all;
  add_whole(all);
  struct Kind {
    const char *type, *type_b, *layout;
  };
  for (const Kind& kind : {Kind{"bf16", "", "nt"},
                           {"bf16", "", "nn"},
                           {"bf16", "", "tn"},
                           {"bf16", "", "tt"},
                           {"f16", "", "nt"},
                           {"f16", "", "nn"},
                           {"f16", "", "tn"},
                           {"f16", "", "tt"},
                           {"e4m3", "", "nt"},
                           {"e4m3", "e5m2", "nt"},
                           {"e5m2", "e4m3", "nt"}}) {
    const bool fp8 = kind.type[0] == 'e';
    const auto of_kind = [&](GemmProblem p) {
      p.type = kind.type;
      p.layout = kind.layout;
      p.type_b = kind.type_b;
      if (fp8) p.type_d = "bf16";
      return p;
    };
    GemmProblem p = of_kind({.m = 64, .n = 64, .k = 64});
    const std::vector<const GemmVariantSm90*> fitting = fitting_variants_sm90(p);
    p.bias = true;
    std::vector<const GemmVariantSm90*> variants = fitting_variants_sm90(p);
    std::set<std::string> general;  // names
    for (const GemmVariantSm90* v : variants) general.insert(v->name);
    // Kernels for f16 are those for bf16, with a main loop that all have alike.
    for (const GemmVariantSm90* v : fitting)
      if (v->plain && p.type != "f16") variants.push_back(v);
    for (const GemmVariantSm90* v : variants) {
      p = of_kind(of_tiles(*v, v->cluster_m, 2 * v->cluster_n, 3));
      p.k -= fp8 ? 112 : 56;  // the last step is not whole
      const bool twin = v->plain && general.contains(v->name);
      const std::string name = form_name(p, *v) + (twin ? "_plain" : "");
      // The first tile's three steps are shared by three workers, of which each does others whole.
      all.push_back({.name = name,
                     .problem = v->plain ? dressed_plainly(p, *v, name) : dressed(p, *v, name),
                     .choice = {.variant = v, .stream_tiles = 1, .workers = 3}});
    }
  }
  // Rings that go round within a tile and begin the next one elsewhere and in another turn, and two
  // tiles for each consumer.
  const GemmProblem deep{.m = 64, .n = 64, .k = 64};
  const auto two_each = [](const GemmVariantSm90& v, int steps) {
    return of_tiles(v, 2 * v.cluster_m, 2 * v.cluster_n, steps);
  };
  for (const GemmVariantSm90* v : fitting_variants_sm90(deep)) {
    if (!v->pingpong) continue;
    const GemmProblem p = two_each(*v, v->stages + 2);
    all.push_back(
        {.name = form_name(p, *v) + "_deep", .problem = p, .choice = {.variant = v, .workers = 1}});
  }
  // The same with C in the ring, within a sum and before it.
  GemmProblem with_c = deep;
  with_c.beta = -1.5f;
  for (const GemmVariantSm90* v : fitting_variants_sm90(with_c)) {
    for (const int steps : {v->stages + 2, 1}) {
      GemmProblem p = two_each(*v, steps);
      p.beta = with_c.beta;
      p.type_d = v->adds_wide_c && v->tile_n / 16 % 2 == 0 ? "f32" : "";
      all.push_back(
          {.name = form_name(p, *v) + "_c", .problem = p, .choice = {.variant = v, .workers = 1}});
    }
  }
  // Tiles in uneven parts that another kernel adds, whatever follows; of 8-bit types a quarter.
  for (const std::string type : {"bf16", "e4m3"}) {
    GemmProblem sums = deep;
    sums.type = type;
    int index = 0;
    for (const GemmVariantSm90* v : splitting_variants_sm90(sums)) {
      if (type == "e4m3" && index++ % 4 != 0) continue;
      GemmProblem p = of_tiles(*v, 2 * v->cluster_m, v->cluster_n, 4);
      if (p.m == 0) continue;  // a tile of 16 columns less 16
      p.type = type;
      const std::string name = form_name(p, *v) + "_split";
      all.push_back({.name = name,
                     .problem = dressed(p, *v, name),
                     .choice = {.variant = v, .workers = 6, .parts = 3}});
    }
  }
  // The smallest of them in so many parts that three threads add those of an element.
  std::vector<const GemmVariantSm90*> splitting = splitting_variants_sm90(deep);
  const GemmVariantSm90& small = **std::ranges::min_element(
      splitting, {}, [](const auto* v) { return v->tile_m * v->tile_n * v->cluster_size(); });
  constexpr int kParts = 2 * kPartsTogetherSm90 + 3;
  const GemmProblem many =
      of_tiles(small, 2 * small.cluster_m, small.cluster_n, kParts + kParts / 2);
  all.push_back({.name = form_name(many, small) + "_parts",
                 .problem = many,
                 .choice = {.variant = &small, .workers = 2 * kParts, .parts = kParts}});
  // CTAs of a cluster that lie beyond the ends of both P and Q, and so get no bytes, while others
  // load more than their rings hold.
  for (const GemmVariantSm90* v : fitting_variants_sm90(deep)) {
    if (v->cluster_m == 1 || v->cluster_n == 1) continue;
    const GemmProblem beyond = of_tiles(*v, v->cluster_m + 1, v->cluster_n + 1, 3 * v->stages + 1);
    all.push_back({.name = form_name(beyond, *v) + "_beyond",
                   .problem = beyond,
                   .choice = {.variant = v, .workers = 1}});
  }
  return all;
}

std::vector<std::string> kernels_of(const GemmChoiceSm90& choice) {
  const GemmVariantSm90& v = *choice.variant;
  if (choice.parts == 1) return {v.linker_name};
  return {v.linker_name, v.reduce.linker_name};
}

std::vector<ModelCase> cases() {
  std::vector<ModelCase> all;
  for (const ModelFormSm90& f : model_forms_sm90())
    all.push_back(
        {.name = f.name,
         .kernels = kernels_of(f.choice),
         .run = [f](model::Gpu& gpu, const model::Options& options) {
           const GemmProblem& p = f.problem;
           if (f.plain)
             return launch(ModelOperands(gpu, {p.m, p.n, p.k}, 0), p, f.choice, gpu, options);
           return launch(ModelProblem(gpu, p, 0), p, f.choice, gpu, options);
         }});
  return all;
}

const ModelCase::Registration registration{cases()};

}  // namespace

std::string name_of_whole_sm90(const GemmProblem& problem) {
  return "kernels/gemm/" + problem.type + "/" + size_of(problem) + "/" + problem.layout;
}

const std::vector<ModelFormSm90>& model_forms_sm90() {
  static const std::vector<ModelFormSm90> all = forms();
  return all;
}

}  // namespace assay::kernels
