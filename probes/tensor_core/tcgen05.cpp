// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma: the matrix multiply-accumulate of sm_100 and sm_103, its accumulators in tensor
// memory, B in shared memory, A in either, by one CTA or two.
//
// latency_cycles is one MMA alone, from its issue through commit to the barrier's phase being seen;
// issue_interval_cycles what one takes among many.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>

#include "harness/callable.hpp"
#include "harness/element.hpp"
#include "harness/instruction/generated_kernel.hpp"
#include "probes/tensor_core/tcgen05_kernel.hpp"

namespace {

using namespace assay;
using tcgen05::Form;
using tcgen05::Kernel;
using tcgen05::Type;

struct Values {
  double a, b;
};

// Whose products and sums are exact in every type.
Values values_of(const Type& type) {
  if (type.integer()) return {3, 2};
  const bool fp4 = element_bits(type.a) == 4 || std::string_view(type.b) == "e2m1_b8";
  return fp4 ? Values{1, 0.5} : Values{0.5, 0.25};
}

// Sixteen elements along K as shared memory holds them: packed, and for six and four bits that are
// mixed with others padded to 16 bytes. PTX ISA 9.0, "Packing formats".
void append_packed(std::vector<std::uint8_t>& bytes, const std::string& element,
                   const Callable<double()>& next) {
  const int bits = element[0] == 'e' && element.ends_with("_b8") ? 4
                   : element == "e3m2" || element == "e2m3"      ? 6
                                                                 : 0;
  if (bits == 0) {
    for (int word = 0; word < 4; ++word) {
      const auto packed = static_cast<std::uint32_t>(pack(element, 32, next));
      for (int byte = 0; byte < 4; ++byte)
        bytes.push_back(static_cast<std::uint8_t>(packed >> 8 * byte));
    }
    return;
  }
  unsigned __int128 chunk = 0;
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t container = pack(element, 32, next()) & 0xff;
    chunk |= static_cast<unsigned __int128>(bits == 4 ? container >> 2 : container) << bits * i;
  }
  for (int byte = 0; byte < 16; ++byte)
    bytes.push_back(static_cast<std::uint8_t>(chunk >> 8 * byte));
}

// `in`: the tiles, by `element(in A?)`; what accumulators start at; scales of 1; metadata that keep
// the first or the last two of four elements, or one of two, legal for every type.
std::vector<std::uint32_t> inputs(const Kernel& kernel, double d0,
                                  const Callable<double(bool)>& element) {
  const Type& type = *kernel.form.type;
  std::vector<std::uint8_t> bytes;
  const auto tile = [&](int size, const char* of, bool in_a) {
    for (int chunk = 0; chunk < size / 16; ++chunk)
      append_packed(bytes, of, [&] { return element(in_a); });
  };
  tile(kernel.a_bytes(), type.a, true);
  tile(kernel.b_bytes(), type.b, false);
  std::vector<std::uint32_t> words(bytes.size() / 4);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    words[i / 4] |= std::uint32_t{bytes[i]} << 8 * (i % 4);
  words.push_back(static_cast<std::uint32_t>(pack(kernel.form.accumulator(), 32, d0)));
  words.push_back(type.scaled() ? static_cast<std::uint32_t>(pack(type.scale, 32, 1.0))
                                : std::uint32_t{0});
  words.push_back(0x4E4E4E4E);
  return words;
}

void check_values(State& s, const Kernel& kernel, const GeneratedKernel& loaded) {
  // With all elements of A and of B alike, k products (of a sparse A half of them) are added to
  // every accumulator each time, wherever in the tiles an element lies.
  constexpr double kStart = 3;
  const Form& form = kernel.form;
  const Values value = values_of(*form.type);
  loaded.set_inputs(inputs(kernel, kStart, [&](bool in_a) { return in_a ? value.a : value.b; }));
  const double expected = kStart + 2.0 * kernel.mmas() * form.type->k * value.a * value.b;
  const auto out = loaded.outputs_after<std::uint32_t>(2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int lane = static_cast<int>(i % Kernel::kLanes);
    if (!form.in_use(lane)) continue;
    const double found = unpack(form.accumulator(), out[i]);
    s.require(found == expected,
              fmt::format("lane {}, column {} of CTA {} ended with {}, not {}", lane,
                          i / Kernel::kLanes % static_cast<std::size_t>(form.columns()),
                          i / Kernel::kLanes / static_cast<std::size_t>(form.columns()), found,
                          expected));
  }
}

Callable<void(const Launch&)> prepare(State& s, const Kernel& kernel) {
  const GeneratedKernel loaded(s, kernel.entry(), Kernel::kThreads, kernel.in_words() * 4,
                               kernel.out_words() * 4,
                               static_cast<std::size_t>(kernel.shared_bytes()), kernel.form.ctas);
  check_values(s, kernel, loaded);
  std::mt19937_64 random(s.seed());
  const double reach = kernel.form.type->integer() ? 127 : 1;
  std::uniform_real_distribution<double> spread(-reach, reach);
  loaded.set_inputs(inputs(kernel, 1, [&](bool) { return spread(random); }));
  return loaded.on_every_sm();
}

// By case name.
const std::map<std::string, Form>& forms();

const Form& form_of(const Case& c) {
  const std::string name =
      c.name.ends_with("/sustained") ? c.name.substr(0, c.name.size() - 10) : c.name;
  return forms().at(name);
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  std::vector<KernelUse> uses;
  for (const bool latency : {false, true}) {
    const Kernel kernel{form_of(c), latency};
    uses.push_back(
        {.kernel = kernel.entry(),
         .sass = {{kernel.form.opcode(target), kernel.mmas(), kernel.mmas()}, {"ELECT", 0, 0}},
         .ptx = kernel.ptx(target)});
  }
  return uses;
}

void run(State& s) {
  const Kernel both{form_of(s.which()), false};
  const Form& form = both.form;
  const double flop = 2.0 * form.m * form.n * form.k() * both.mmas() / form.ctas;
  std::vector<double> interval =
      s.cycles({.flop = flop, .limit = form.limit(s.target())}, prepare(s, both));
  for (double& cycles : interval) cycles /= both.mmas();
  s.add_metric("issue_interval_cycles", "cycle", Better::lower, interval);
  s.cycles({.steps = Tcgen05Batches::kAlone}, prepare(s, {form, true}));
}

bool is_one_of(const char* name, std::initializer_list<std::string_view> choices) {
  return std::ranges::find(choices, name) != choices.end();
}

// Which forms of a type are cases: every place of operands and number of CTAs at their best shape,
// and for one type of each width the others.
void add_forms(std::map<std::string, Form>& all, const Type& type) {
  const auto add = [&](Form form) {
    form.type = &type;
    all.emplace(form.name(), form);
  };
  for (const bool sparse : {false, true})
    for (const bool ts : {false, true}) {
      if ((sparse && type.k == 96) || (ts && !type.whole_bytes())) continue;
      add({.m = 128, .n = 256, .a_in_tensor_memory = ts, .sparse = sparse});
      if (!sparse || !ts)
        add({.m = 256, .n = 256, .ctas = 2, .a_in_tensor_memory = ts, .sparse = sparse});
    }
  add({.m = 128, .n = 128});
  add({.m = 128, .n = 256, .ctas = 2});
  if (!type.scaled()) add({.m = 64, .n = 256});
  if (is_one_of(type.name, {"bf16", "e4m3", "nvf4"}))
    for (const int n : {16, 32, 64, 128}) {
      add({.m = 128, .n = n});
      if (n > 16) add({.m = 256, .n = n, .ctas = 2});
    }
  if (is_one_of(type.name, {"bf16", "tf32", "e4m3", "s8"})) {
    for (const int m : {32, 64, 128}) add({.m = m, .n = 256, .weight_stationary = true});
    for (const int n : {64, 128}) add({.m = 128, .n = n, .weight_stationary = true});
    add({.m = 128, .n = 256, .a_in_tensor_memory = true, .weight_stationary = true});
    add({.m = 128, .n = 256, .sparse = true, .weight_stationary = true});
  }
  if (is_one_of(type.name, {"f16", "e4m3"})) {
    add({.m = 128, .n = 256, .f16_sum = true});
    add({.m = 256, .n = 256, .ctas = 2, .f16_sum = true});
  }
}

const std::map<std::string, Form>& forms() {
  static const std::map<std::string, Form> all = [] {
    std::map<std::string, Form> made;
    for (const Type& type : tcgen05::types()) add_forms(made, type);
    return made;
  }();
  return all;
}

bool is_headline(const std::string& name) {
  for (const char* type : {"bf16", "f16", "e4m3", "nvf4"})
    if (name == std::string(type) + "/m128n256/ss") return true;
  return false;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& [name, form] : forms())
    for (const std::string state : {"burst", "sustained"}) {
      const bool sustained = state == "sustained";
      if (sustained && !is_headline(name)) continue;
      Params params = {{"a", form.type->name},
                       {"b", form.type->name},
                       {"accumulate", form.accumulator()},
                       {"m", std::int64_t{form.m}},
                       {"n", std::int64_t{form.n}},
                       {"k", std::int64_t{form.k()}},
                       {"ctas", std::int64_t{form.ctas}},
                       {"source", form.a_in_tensor_memory ? "ts" : "ss"},
                       {"state", state}};
      if (form.sparse) params["sparsity"] = std::string("structured");
      all.push_back({.name = name + (sustained ? "/sustained" : ""),
                     .params = params,
                     .targets = form.targets(),
                     .suite = is_headline(name) && !sustained ? Suite::quick : Suite::full});
    }
  return all;
}

const Registration registration{{
    .name = "tensor_core/tcgen05",
    .question = "What does Blackwell's tcgen05.mma deliver per data type, shape and source of A, "
                "and how long does one take alone?",
    .metrics = {{"issue_interval_cycles", "Cycles that one MMA takes among many."},
                {"latency_cycles",
                 "Cycles of one MMA alone, from its issue through commit until the barrier's phase "
                 "is seen."}},
    .cases = cases(),
    .targets = targets_with(Feature::tcgen05),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
