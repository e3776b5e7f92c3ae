// SPDX-License-Identifier: Apache-2.0
#include "harness/run/runner.hpp"

#include <benchmark/benchmark.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "harness/code/verification.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/measure/sustained.hpp"
#include "harness/run/google_benchmark/google_benchmark.hpp"
#include "harness/run/journal.hpp"
#include "harness/run/json_io.hpp"
#include "harness/run/progress.hpp"
#include "harness/run/selection.hpp"
#include "harness/run/worker.hpp"
#include "harness/statistics.hpp"

namespace assay {
namespace {

constexpr int kMostRepetitions = 1000;
constexpr double kStartSeconds = 120;  // for a process to open its GPU, even on a cold machine

volatile std::sig_atomic_t interrupted = 0;
extern "C" void on_interrupt(int) { interrupted = 1; }

void heed_signals() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  struct sigaction hangup {};  // ignored under nohup
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
    std::signal(SIGHUP, on_interrupt);
  std::signal(SIGPIPE, SIG_IGN);
}

bool needs_gpu(const Selected& s) { return !s.probe->exists_on(*s.which, Target::host); }

class Run {
 public:
  explicit Run(const RunRequest& request)
      : request_(request), google_benchmark_(request.benchmark_flags) {}

  ExitCode all() {
    heed_signals();
    // First, so that a mistyped flag leaves nothing behind.
    google_benchmark_.initialize(request_.repetitions);
    if (google_benchmark_.lists()) {
      if (!request_.resume.empty())
        throw Error(ExitCode::usage, "--resume measures: leave out --benchmark_list_tests");
      select_all();
      drive_google_benchmark();
      return ExitCode::ok;
    }
    if (!request_.resume.empty()) read_journal();
    select_all();
    start_worker();
    choose_cases();
    if (journal_) refuse_unknown_measurements();
    open_journal();
    check_machine_code();
    drive_google_benchmark();
    return finish();
  }

 private:
  // A resumed run goes on with the filter, suite, device, seed and options it was started with.
  void read_journal() {
    journal_.emplace(Journal::resume(request_.resume));
    request_.out = request_.resume;
    const JsonSource source = journal_->source();
    const Field header(journal_->header(), source);
    if (!header.has("run"))
      throw Error(ExitCode::usage, fmt::format("{} was not made by `assay run`: there is nothing "
                                               "in it to go on with",
                                               request_.out.string()));
    const Field run = header.at("run");
    request_.filter = run.at("filter").text();
    request_.suite = run.at("suite").text();
    request_.device = static_cast<int>(run.at("device").integer(0, kMostDevices));
    request_.repetitions = static_cast<int>(run.at("repetitions").integer(1, kMostRepetitions));
    request_.options = options_from_json(run.at("options"));
    google_benchmark_.initialize(request_.repetitions);  // now that they are known
  }

  // Says at once what would spoil every figure, and waits for its end if asked to.
  void look_at_others() {
    const Json& gpu = environment_.at("gpu");
    const int others = gpu.is_null() ? 0 : gpu.value("other_processes", 0);
    if (others == 0) return;
    tell(fmt::format(
        "warning: {} other process{} on this GPU{}: every figure measured beside "
        "{} is flagged 'shared_gpu', and neither the gate nor the report trusts it. "
        "--wait SECONDS waits until the GPU is free",
        others, others == 1 ? " is" : "es are",
        gpu.contains("utilization_percent")
            ? fmt::format(", which was busy {}% of the time", gpu["utilization_percent"].get<int>())
            : "",
        others == 1 ? "it" : "them"));
  }

  void start_worker() {
    if (request_.wait_s > 0) wait_until_free(request_.device, request_.wait_s);
    workers_.push_back(std::make_unique<Worker>(request_.device));
    const auto described =
        workers_[0]->ask({{"ask", "describe"}, {"prepare", std::ranges::any_of(cases_, needs_gpu)}},
                         std::chrono::duration<double>(kStartSeconds), nullptr);
    if (!described) throw Error(ExitCode::unfit, workers_[0]->died_of());
    if (described->contains("error")) throw Error(ExitCode::unfit, described->at("error"));
    target_ = parse_target(described->at("target").get<std::string>());
    no_gpu_ = described->value("no_gpu", std::string());
    environment_ = described->at("environment");
    look_at_others();
    if (journal_) refuse_another_place();
  }

  // Measurements of two builds, GPUs or hosts are not one run.
  void refuse_another_place() {
    const std::string difference = journal_->difference_from(environment_);
    if (difference.empty()) return;
    const std::string said = fmt::format("{} was started on {}", request_.out.string(), difference);
    if (!request_.or_new)
      throw Error(ExitCode::unfit, said + ": resume it there, or add --or-new for a new run");
    tell(said + ": a new run is started");
    journal_.reset();
    request_.out.clear();
  }

  // Last of what can go wrong before the first measurement: a mistake leaves no folder behind.
  void open_journal() {
    if (journal_) return;
    if (request_.out.empty())
      request_.out =
          fmt::format("out/{:%Y-%m-%dT%H%M%S}-{}", fmt::gmtime(std::time(nullptr)), request_.suite);
    const Json header = {
        {"schema", kSchema},
        {"environment", environment_},
        {"run",
         {{"started", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"filter", request_.filter},
          {"suite", request_.suite},
          {"device", request_.device},
          {"repetitions", request_.repetitions},
          {"options", to_json(request_.options)}}}};
    journal_.emplace(Journal::create(request_.out, header));
  }

  void select_all() { cases_ = select(request_.filter, request_.suite); }

  void choose_cases() {
    const std::size_t chosen = cases_.size();
    std::erase_if(cases_, [&](const Selected& s) {
      return needs_gpu(s) && !s.probe->exists_on(*s.which, target_);
    });
    const std::size_t left_out = chosen - cases_.size();
    const std::string why =
        target_ == Target::host ? no_gpu_ : fmt::format("they do not exist on {}", name(target_));
    if (cases_.empty()) throw Error(ExitCode::unfit, why);
    if (left_out) tell(fmt::format("{} of {} cases are left out: {}", left_out, chosen, why));
    // In random order no case always runs in the wake (heat, clocks, cache) of the same other one.
    std::ranges::shuffle(cases_, std::mt19937_64(request_.options.seed));
    // What brings the GPU to its power limit comes last, so that nothing waits for its recovery.
    std::ranges::stable_partition(cases_,
                                  [](const Selected& s) { return !is_sustained(*s.which); });
  }

  // A journal of this very build holds what it chose, unless somebody changed it.
  void refuse_unknown_measurements() {
    std::set<std::string> known;
    for (const Selected& s : cases_) known.insert(s.name);
    for (std::size_t i = 0; i < journal_->measurements().size(); ++i) {
      const JsonSource source = journal_->source_of(i);
      const Field measurement(journal_->measurements()[i], source, "measurement");
      if (const std::string& name = measurement.at("name").text(); !known.contains(name))
        measurement.at("name").refuse(fmt::format("is '{}', no case of this run", excerpt(name)));
      measurement.at("repetition").integer(0, request_.repetitions - 1);
    }
  }

  void check_machine_code() {
    std::vector<std::pair<Selected, Target>> wanted;
    for (const Selected& s : cases_)
      if (needs_gpu(s)) wanted.emplace_back(s, target_);
    for (Verification& v : verify_all(wanted)) verified_.emplace(v.name, std::move(v));
  }

  void drive_google_benchmark() {
    progress_.emplace(cases_.size() * static_cast<std::size_t>(request_.repetitions));
    for (const Selected& selected : cases_)
      benchmark::RegisterBenchmark(selected.name.c_str(),
                                   [this, &selected](benchmark::State& state) {
                                     for ([[maybe_unused]] auto _ : state) one(selected, state);
                                   })
          ->Iterations(1)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    google_benchmark_.drive();
  }

  // One repetition of one case, as Google Benchmark calls it.
  void one(const Selected& selected, benchmark::State& state) {
    const int repetition = repetitions_done_[selected.name]++;
    if (interrupted) {
      state.SkipWithError("interrupted");
      state.SetIterationTime(0);
      return;
    }
    Json measurement;
    if (journal_->has(selected.name, repetition)) {
      for (const Json& m : journal_->measurements())
        if (m.at("name") == selected.name && m.at("repetition") == repetition) measurement = m;
    } else {
      progress_->begin(selected.name);
      measurement = measure(selected, repetition);
      if (interrupted) {  // the child was ended in the middle of it: not a result
        state.SkipWithError("interrupted");
        state.SetIterationTime(0);
        return;
      }
      journal_->append(measurement);
    }
    progress_->end(measurement);
    hand_over(measurement, state);
  }

  static void hand_over(const Json& measurement, benchmark::State& state) {
    if (measurement.at("status") != "ok") {
      state.SkipWithError(measurement.value("reason", std::string("failed")).c_str());
      state.SetIterationTime(0);
      return;
    }
    // What was found without a clock took as long as finding it.
    const auto time_ns = measurement.at("samples").find("time_ns");
    state.SetIterationTime(time_ns == measurement.at("samples").end()
                               ? measurement.at("duration_s").get<double>()
                               : median(time_ns->get<std::vector<double>>()) * 1e-9);
    for (const auto& [key, metric] : measurement.at("metrics").items())
      state.counters[key] = metric.at("value").get<double>();
  }

  Json measure(const Selected& selected, int repetition) {
    Measurement refused{.name = selected.name,
                        .probe = selected.probe->name,
                        .kind = selected.probe->kind,
                        .pace = selected.probe->pace,
                        .params = selected.which->params,
                        .status = Status::failed};
    refused.repetition = repetition;
    const auto code = verified_.find(selected.name);
    if (code != verified_.end() && !code->second.problems.empty()) {
      refused.reason = "not measured, its machine code is not what was asked for: " +
                       code->second.problems.front();
      return attach_code(to_json(refused), selected);
    }
    Worker& worker = worker_for(repetition);
    const auto answer =
        worker.ask({{"ask", "measure"},
                    {"name", selected.name},
                    {"options", to_json(request_.options)},
                    {"siblings", siblings()}},
                   std::chrono::duration<double>(request_.deadline_s), &interrupted);
    if (!answer || answer->contains("error")) {
      refused.reason = answer ? answer->at("error").get<std::string>() : worker.died_of();
      return attach_code(to_json(refused), selected);
    }
    Json measurement = answer->at("measurement");
    measurement["repetition"] = repetition;
    if (answer->value("context_lost", false))
      workers_[static_cast<std::size_t>(repetition)].reset();
    if (code != verified_.end())
      for (const SassRecord& kernel : code->second.kernels)
        if (const auto loaded = answer->at("loaded").find(kernel.kernel);
            loaded != answer->at("loaded").end() && *loaded != kernel.sha256) {
          refused.reason = fmt::format("the cubin of '{}' that ran is not the one that was checked",
                                       kernel.kernel);
          return attach_code(to_json(refused), selected);
        }
    return attach_code(std::move(measurement), selected,
                       answer->value("recorded_kernel", std::string()),
                       answer->value("launches", Json::array()));
  }

  // Of a case with several kernels the first is recorded, or the one that it named.
  Json attach_code(Json measurement, const Selected& selected, const std::string& recorded = {},
                   Json launches = {}) const {
    const auto code = verified_.find(selected.name);
    if (code == verified_.end() || code->second.kernels.empty()) return measurement;
    const std::vector<SassRecord>& kernels = code->second.kernels;
    const auto named = std::ranges::find(kernels, recorded, &SassRecord::kernel);
    const SassRecord& record = named != kernels.end() ? *named : kernels.front();
    measurement["sass"] = to_json(record);
    if (std::string hash = code_sha256(code->second.code); !hash.empty())
      measurement["sass"]["code_sha256"] = std::move(hash);
    if (!launches.empty()) measurement["sass"]["launch"] = std::move(launches);
    if (record.emulated) measurement["flags"].push_back("emulated");
    return measurement;
  }

  // Repetition r of every case runs in process r: what differs between processes (addresses, page
  // placement) then shows between repetitions, as it does between runs.
  Worker& worker_for(int repetition) {
    const auto index = static_cast<std::size_t>(repetition);
    while (workers_.size() <= index) workers_.push_back(nullptr);
    if (!workers_[index] || !workers_[index]->alive())
      workers_[index] = std::make_unique<Worker>(request_.device);
    return *workers_[index];
  }

  // Other processes of this run: those of other repetitions keep their GPU until the end.
  int siblings() const {
    return static_cast<int>(std::ranges::count_if(
               workers_, [](const auto& worker) { return worker && worker->alive(); })) -
           1;
  }

  ExitCode finish() {
    workers_.clear();
    const auto path = journal_->write_run_file();
    tell(progress_->summary());
    fmt::print(google_benchmark_.prints() ? stderr : stdout, "{}\n", path.string());
    if (interrupted)
      tell("interrupted; go on with: assay run --resume " + shell_word(request_.out.string()));
    google_benchmark_.write_out();
    if (interrupted) return ExitCode::interrupted;
    return progress_->failed() ? ExitCode::failed : ExitCode::ok;
  }

  RunRequest request_;
  GoogleBenchmark google_benchmark_;
  std::vector<Selected> cases_;
  Target target_ = Target::host;
  std::string no_gpu_;
  Json environment_;
  std::vector<std::unique_ptr<Worker>> workers_;  // by repetition
  std::optional<Journal> journal_;
  std::map<std::string, Verification> verified_;
  std::map<std::string, int> repetitions_done_;
  std::optional<Progress> progress_;
};

}  // namespace

ExitCode run(const RunRequest& request) { return Run(request).all(); }

ExitCode run_for_profiler(const std::string& name, int device_index) {
  const std::vector<Selected> cases = select("^" + name + "$", "full");
  const Selected& selected = cases.front();
  RunOptions options;
  options.profile = true;
  std::optional<GpuContext> gpu;
  if (needs_gpu(selected)) gpu.emplace(device(device_index));
  const Measurement found =
      measure_case(*selected.probe, *selected.which, options, gpu ? &*gpu : nullptr);
  tell(fmt::format("{}: {}", found.name,
                   found.status == Status::ok ? "launched once for the profiler; nothing was timed"
                                              : found.reason));
  return found.status == Status::failed ? ExitCode::failed : ExitCode::ok;
}

}  // namespace assay
