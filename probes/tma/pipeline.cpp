// SPDX-License-Identifier: Apache-2.0
// How deep a pipeline hides the latency: bandwidth over the bytes that each SM keeps in flight, for
// TMA, cp.async and plain loads, which all read the same array in the same order.
//
// By Little's law an H200's DRAM wants 4.8 TB/s x about 0.7 us / 132 SMs = 25 KiB in flight on each
// SM, plus what jitter and the refilling of slots cost.
//
// A slot counts as in flight all along, also while it is handed over: from its arrival, which a
// warp waits for and its lanes agree on, to the next copy into it. With 4 KiB in flight that is one
// copy after another, and turn_ns is its latency and the hand-over. A reader that hands nothing
// over, since no warp waits for what comes, reaches more with so few bytes, and nothing more with
// many.
#include <algorithm>

#include "harness/device.hpp"
#include "harness/machine/dram_limit.hpp"
#include "harness/statistics.hpp"
#include "probes/tma/curves.hpp"

namespace assay {
namespace {

constexpr std::uint64_t kDramBytes = std::uint64_t{2} << 30;  // far larger than any L2
// A copy by TMA brings at most so many bytes, and fewer where fewer are in flight.
constexpr std::uint64_t kBoxBytes = 4096;
// In flight on each SM where turn_ns is taken: a TMA copy's slot is then the only one.
constexpr std::uint64_t kTurnBytes = 4096;

std::vector<std::uint64_t> depths() {
  std::vector<std::uint64_t> bytes;
  for (const int kib : {2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 192})
    bytes.push_back(static_cast<std::uint64_t>(kib) << 10);
  return bytes;
}

std::vector<const Mover*> compared(Target target) {
  std::vector<const Mover*> all;
  for (const char* name :
       {"bulk", "tensor_2d", "cp_async_16", "cp_async_8", "cp_async_4", "ld_16", "ld_32"})
    if (exists_on(mover(name), target)) all.push_back(&mover(name));
  return all;
}

// The array of a level of the memory, and how often a launch reads it.
struct Level {
  std::uint64_t bytes;
  std::uint32_t passes;
};
Level level_of(const State& s) {
  if (s.text("level") == "dram") return {kDramBytes, 1};
  // 128 KiB of each SM are whole tiles of nearly every pipeline. All SMs go round all parts, so
  // that no L1 holds what is read next; loads and cp.async of SMs that happen on the same lines at
  // about the same time are merged on their way to L2, as in memory/l2/read_chunks, and then get
  // more than it gives, which copies by TMA were not seen to.
  const std::uint64_t bytes = std::min<std::uint64_t>(
      static_cast<unsigned>(s.device().sm_count) * (std::uint64_t{128} << 10),
      s.device().l2_bytes / 2 / 4096 * 4096);
  return {bytes, static_cast<std::uint32_t>(kDramBytes / bytes)};
}

// The first curve's best, sampled like other figures, leads; then what the curves say.
void report(State& s, Streamer& streamer, const Curves& curves, const std::string& knee) {
  const StreamJob& job = curves.fastest();
  s.set_param("leading", job.mover->name);
  s.set_param("leading_bytes_in_flight_per_sm",
              static_cast<std::int64_t>(job.pipeline.in_flight()));
  if (s.text("level") == "dram") s.limit("GB/s", dram_limit(s.device()));
  s.time({.bytes = streamer.bytes(job)},
         [&](cudaStream_t stream) { streamer.launch(job, stream); });
  curves.report(s, knee);
}

void run_pipeline(State& s) {
  const Level level = level_of(s);
  Streamer streamer(s, level.bytes);
  Curves curves("mover", "bytes_in_flight_per_sm", depths());
  for (const Mover* mover : compared(s.target())) {
    std::vector<std::optional<StreamJob>> jobs;
    for (const std::uint64_t bytes : curves.places()) {
      const auto pipeline =
          plan_pipeline(*mover, bytes, static_cast<std::uint32_t>(std::min(kBoxBytes, bytes)));
      jobs.emplace_back();
      if (!pipeline) continue;
      const StreamJob job{.mover = mover,
                          .pipeline = *pipeline,
                          .form = {.swizzle = "128B"},
                          .passes = level.passes};
      if (streamer.fits(job)) jobs.back() = job;
    }
    curves.add(mover->name, std::move(jobs));
  }
  curves.measure(streamer);
  report(s, streamer, curves, "bytes_in_flight_95");
  for (const Mover* mover : compared(s.target())) {
    std::vector<double> turns = curves.samples(mover->name, kTurnBytes);
    if (turns.empty()) continue;
    const double bytes = static_cast<double>(kTurnBytes) * s.device().sm_count;
    for (double& value : turns) value = bytes / value;  // B / (GB/s) = ns
    s.add_metric(std::string("turn_ns_") + mover->name, "ns", Better::lower, turns);
  }
  if (has(s.target(), Feature::tma) && s.text("level") == "dram")
    s.add_metric("tma_of_plain_loads", "ratio", Better::higher,
                 ratios(curves.best_of({"bulk", "tensor"}), curves.best_of({"ld"})));
}

const Registration pipeline{{
    .name = "tma/pipeline",
    .question = "How many bytes must each SM keep in flight to hide the latency, by TMA, by "
                "cp.async and by plain loads?",
    .metrics = {{"bandwidth_gb_per_s",
                 "Bytes read in a second by all SMs, by way and bytes in flight; the figure is the "
                 "best of the first way."},
                {"bytes_in_flight_95",
                 "Bytes that each SM must keep in flight for 95% of the best bandwidth, by the "
                 "first way: bulk copies where there are any."},
                {"bytes_in_flight_95_*",
                 "Bytes that each SM must keep in flight for 95% of the best bandwidth, by *."},
                {"best_gb_per_s_*", "Best bandwidth by *, with any number of bytes in flight."},
                {"turn_ns_*",
                 "Time from one fill of a slot by * to the next, 4 KiB in flight: its latency and "
                 "hand-over."},
                {"tma_of_plain_loads", "Best bandwidth by TMA over the best by plain loads."}},
    .cases = {{.name = "dram", .params = {{"level", "dram"}}, .suite = Suite::full},
              {.name = "l2", .params = {{"level", "l2"}}, .suite = Suite::full}},
    .pace = Pace::dram,
    .kernels = [](const Case&, Target target) { return mover_kernels(compared(target), target); },
    .run = run_pipeline,
}};

// The same bytes in flight, by one CTA of each SM or by several with as many warps each.
void run_ctas(State& s) {
  const Level level = level_of(s);
  Streamer streamer(s, level.bytes);
  Curves curves("ctas_per_sm", "bytes_in_flight_per_sm", depths());
  const Mover& bulk = mover("bulk");
  for (const int ctas : {1, 2, 4, 8}) {
    std::vector<std::optional<StreamJob>> jobs;
    for (const std::uint64_t bytes : curves.places()) {
      const auto pipeline = plan_pipeline(bulk, bytes, 2048, ctas);
      jobs.emplace_back();
      if (!pipeline) continue;
      const StreamJob job{.mover = &bulk, .pipeline = *pipeline, .passes = level.passes};
      if (streamer.fits(job)) jobs.back() = job;
    }
    curves.add(std::to_string(ctas), std::move(jobs));
  }
  curves.measure(streamer);
  report(s, streamer, curves, "bytes_in_flight_95");
}

const Registration ctas{{
    .name = "tma/ctas_per_sm",
    .question = "Does it matter whether one CTA of an SM keeps all bytes in flight, or several do?",
    .metrics =
        {{"bandwidth_gb_per_s",
          "Bytes read in a second by all SMs, by CTAs of an SM and bytes in flight; the figure is "
          "the best of one CTA."},
         {"bytes_in_flight_95",
          "Bytes that each SM must keep in flight for 95% of the best bandwidth, by one CTA."},
         {"bytes_in_flight_95_*",
          "Bytes that each SM must keep in flight for 95% of the best bandwidth, CTAs of an SM: "
          "*."},
         {"best_gb_per_s_*",
          "Best bandwidth with any number of bytes in flight, CTAs of an SM: *."}},
    .cases = {{.name = "dram", .params = {{"level", "dram"}}, .suite = Suite::full}},
    .targets = targets_with(Feature::tma),
    .pace = Pace::dram,
    .kernels =
        [](const Case&, Target target) {
          const Mover* bulk = &mover("bulk");
          return mover_kernels({&bulk, 1}, target);
        },
    .run = run_ctas,
}};

// Of a copy, by what varies from a plain one of a 2-D bf16 box. Columns of a matrix: as many boxes
// lie beside one another as make rows of 8 KiB.
struct Form {
  const char *name, *mover;
  BoxForm box = {};
};
const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {"bulk", "bulk"},
      {"tensor_1d", "tensor_1d", {.type = "f64"}},
      {"tensor_2d", "tensor_2d"},
      {"tensor_3d", "tensor_3d"},
      {"tensor_4d", "tensor_4d"},
      {"tensor_5d", "tensor_5d"},
      {"swizzle_32", "tensor_2d", {.swizzle = "32B"}},
      {"swizzle_64", "tensor_2d", {.swizzle = "64B"}},
      {"swizzle_128", "tensor_2d", {.swizzle = "128B"}},
      {"u8", "tensor_2d", {.type = "u8"}},
      {"f32", "tensor_2d", {.type = "f32"}},
      {"f64", "tensor_2d", {.type = "f64"}},
      {"matrix_swizzle_128", "tensor_2d", {.swizzle = "128B", .boxes_across = 64}},
      {"matrix_rows_of_512", "tensor_2d", {.boxes_across = 16}}};
  return all;
}

void run_boxes(State& s) {
  constexpr std::uint64_t kInFlight = 128 << 10;  // where slots and shared memory suffice
  const Level level = level_of(s);
  Streamer streamer(s, level.bytes);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = 128; bytes <= (32 << 10); bytes *= 2) sizes.push_back(bytes);
  Curves curves("form", "box_bytes", sizes);
  for (const Form& form : forms()) {
    const Mover& by = mover(form.mover);
    std::vector<std::optional<StreamJob>> jobs;
    for (const std::uint64_t size : curves.places()) {
      BoxForm box = form.box;
      box.dimensions = by.dimensions;
      box.box_bytes = static_cast<std::uint32_t>(size);
      jobs.emplace_back();
      if (by.dimensions > 0 && !explain_no_box(box).empty()) continue;
      const std::uint64_t shared = std::min(kInFlight, Streamer::most_in_flight(s));
      std::uint64_t slots = std::min<std::uint64_t>(shared / box_pitch(box), kMostSlots);
      if (slots > 8) slots -= slots % 8;  // as many for each of eight warps
      const auto pipeline = plan_pipeline(by, slots * size, box.box_bytes);
      if (!pipeline) continue;
      const StreamJob job{.mover = &by, .pipeline = *pipeline, .form = box, .passes = level.passes};
      if (streamer.fits(job)) jobs.back() = job;
    }
    curves.add(form.name, std::move(jobs));
  }
  curves.measure(streamer);
  report(s, streamer, curves, "box_bytes_95");
}

const Registration boxes{{
    .name = "tma/box",
    .question = "How large must a copy by TMA be for full bandwidth, by dimensions, swizzle, "
                "element type and layout?",
    .metrics =
        {{"bandwidth_gb_per_s",
          "Bytes read in a second by all SMs, by form and size of a copy; the figure is the best "
          "of bulk copies."},
         {"box_bytes_95",
          "Size of a bulk copy from which on 95% of the best bandwidth is reached."},
         {"box_bytes_95_*",
          "Size of a copy in the form * from which on 95% of its best bandwidth is reached."},
         {"best_gb_per_s_*", "Best bandwidth of copies in the form *, at any size."}},
    .cases = {{.name = "dram", .params = {{"level", "dram"}}, .suite = Suite::full},
              {.name = "l2", .params = {{"level", "l2"}}, .suite = Suite::full}},
    .targets = targets_with(Feature::tma),
    .pace = Pace::dram,
    .kernels =
        [](const Case&, Target target) {
          std::vector<const Mover*> all;
          for (const char* name :
               {"bulk", "tensor_1d", "tensor_2d", "tensor_3d", "tensor_4d", "tensor_5d"})
            all.push_back(&mover(name));
          return mover_kernels(all, target);
        },
    .run = run_boxes,
}};

}  // namespace
}  // namespace assay
