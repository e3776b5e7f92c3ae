// SPDX-License-Identifier: Apache-2.0
// Latency of TMA from issue to the arrived data, by what is copied and from where: what a kernel
// waits for its first tile, and what a pipeline has to hide.
#include <cmath>

#include "probes/tma/box_chase.hpp"

namespace assay {
namespace {

constexpr std::uint64_t kInL2 = 8 << 20;                   // well inside every L2
constexpr std::uint64_t kInDram = std::uint64_t{1} << 30;  // far beyond

std::uint64_t footprint_of(const State& s) { return s.text("level") == "l2" ? kInL2 : kInDram; }

std::vector<KernelUse> kernels_of(std::initializer_list<int> dimensions) {
  std::vector<KernelUse> uses;
  for (const int d : dimensions)
    uses.push_back({.kernel = BoxChase::kernel_name(d),
                    .sass = {{d == 0 ? "UBLKCP.S.G" : "UTMALDG." + std::to_string(d) + "D",
                              BoxChase::kSteps, BoxChase::kSteps}}});
  return uses;
}

void run_one(State& s) {
  BoxChase chase(s,
                 {.dimensions = static_cast<int>(s.i64("dimensions")),
                  .type = s.text("type"),
                  .swizzle = s.text("swizzle"),
                  .box_bytes = static_cast<std::uint32_t>(s.i64("copy_bytes"))},
                 s.allocate<char>(footprint_of(s)), footprint_of(s));
  s.set_param("walks_at_once", chase.ctas());
  s.cycles({.steps = BoxChase::kSteps}, [&](const Launch& l) { chase.launch(l); });
  chase.verify();
}

Case one(std::string name, int dimensions, int bytes, const char* swizzle, const char* level) {
  return {.name = std::move(name),
          .params = {{"dimensions", dimensions},
                     {"copy_bytes", bytes},
                     {"type", "bf16"},
                     {"swizzle", swizzle},
                     {"level", level}},
          .suite = dimensions == 2 ? Suite::quick : Suite::full};
}

Probe tensor(int dimensions) {
  const int bytes = dimensions == 1 ? 512 : 8192;
  const char* swizzle = dimensions == 1 ? "none" : "128B";
  return {.name = "tma/tensor_" + std::to_string(dimensions) + "d/latency",
          .question = "How many cycles until a " + std::to_string(dimensions) +
                      "-D box loaded by TMA has arrived and can be read?",
          .cases = {one("", dimensions, bytes, swizzle, "l2"),
                    one("dram", dimensions, bytes, swizzle, "dram"),
                    one("bytes_128", dimensions, 128, "none", "l2"),
                    one("bytes_128/dram", dimensions, 128, "none", "dram")},
          .targets = targets_with(Feature::tma),
          .kernels = [dimensions](const Case&, Target) { return kernels_of({dimensions}); },
          .run = run_one};
}

const Registration tensor_1d{tensor(1)}, tensor_2d{tensor(2)}, tensor_3d{tensor(3)},
    tensor_4d{tensor(4)}, tensor_5d{tensor(5)};

struct Form {
  const char* name;
  BoxForm box;
};
const std::vector<Form>& forms() {
  static const std::vector<Form> all = {{"bulk", {.dimensions = 0}},
                                        {"tensor_1d", {.dimensions = 1, .type = "f64"}},
                                        {"tensor_2d", {.dimensions = 2}},
                                        {"tensor_3d", {.dimensions = 3}},
                                        {"tensor_4d", {.dimensions = 4}},
                                        {"tensor_5d", {.dimensions = 5}},
                                        {"swizzle_32", {.swizzle = "32B"}},
                                        {"swizzle_64", {.swizzle = "64B"}},
                                        {"swizzle_128", {.swizzle = "128B"}},
                                        {"u8", {.type = "u8"}},
                                        {"f32", {.type = "f32"}},
                                        {"f64", {.type = "f64"}}};
  return all;
}

void run_curves(State& s) {
  char* array = s.allocate<char>(footprint_of(s));
  Series series{"latency_cycles", "cycle", {{"form", {}}, {"copy_bytes", {}}}, {}};
  for (std::int64_t bytes = 32; bytes <= (32 << 10); bytes *= 2)
    series.axes[1].points.emplace_back(bytes);
  for (const Form& form : forms()) {
    series.axes[0].points.emplace_back(form.name);
    double of_128 = NAN, of_8192 = NAN;
    for (const Value& point : series.axes[1].points) {
      BoxForm box = form.box;
      box.box_bytes = static_cast<std::uint32_t>(std::get<std::int64_t>(point));
      Estimate cycles = NAN;
      if (box.dimensions == 0 || explain_no_box(box).empty()) {
        BoxChase chase(s, box, array, footprint_of(s));
        cycles = s.cycles_once([&](const Launch& l) { chase.launch(l); }) / BoxChase::kSteps;
        chase.verify();
      }
      series.add(cycles);
      if (box.box_bytes == 128) of_128 = cycles;
      if (box.box_bytes == 8192) of_8192 = cycles;
    }
    const auto add = [&](const char* name, double cycles) {
      if (!std::isnan(cycles))
        s.add_exact(std::string(name) + form.name, "cycle", Better::lower, cycles);
    };
    add("latency_cycles_128_", of_128);
    add("latency_cycles_8192_", of_8192);
  }
  s.add_series(std::move(series));
}

const Registration curves{{
    .name = "tma/latency",
    .question = "How does the latency of a copy by TMA grow with its size, by dimensions, swizzle "
                "and element type?",
    .metrics = {{"latency_cycles",
                 "Cycles from the issue of a copy until its data can be read, by form and size."},
                {"latency_cycles_128_*",
                 "Cycles from the issue of a copy of 128 bytes, in the form *, until its data can "
                 "be read."},
                {"latency_cycles_8192_*",
                 "Cycles from the issue of a copy of 8192 bytes, in the form *, until its data can "
                 "be read."}},
    .cases = {{.name = "l2", .params = {{"level", "l2"}}, .suite = Suite::full},
              {.name = "dram", .params = {{"level", "dram"}}, .suite = Suite::full}},
    .targets = targets_with(Feature::tma),
    .kernels =
        [](const Case&, Target) {
          return kernels_of({0, 1, 2, 3, 4, 5});
        },
    .run = run_curves,
}};

}  // namespace
}  // namespace assay
