// SPDX-License-Identifier: Apache-2.0
// `assay` with probes that behave well, badly and slowly, for the tests of the command line. They
// need no GPU. It is also what another project's executable with own probes looks like.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness/callable.hpp"
#include "harness/commands/commands.hpp"
#include "harness/state.hpp"

namespace {

using std::chrono::milliseconds;

// A sample of a known distribution: 1000 ns, 1001 ns, 999 ns, and again.
double steady() {
  static int calls = 0;
  return 1000.0 + (calls++ % 3) - 1;
}

std::vector<assay::Case> numbered(int count, assay::Suite suite) {
  std::vector<assay::Case> cases;
  for (std::int64_t i = 0; i < count; ++i)
    cases.push_back({.name = std::to_string(i), .params = {{"number", i}}, .suite = suite});
  return cases;
}

assay::Probe probe(std::string name, std::string question, std::vector<assay::Case> cases,
                   assay::Callable<void(assay::State&)> run) {
  return {.name = std::move(name),
          .question = std::move(question),
          .cases = std::move(cases),
          .targets = {assay::Target::host},
          .pace = assay::Pace::host,
          .run = std::move(run)};
}

// Every other one is of a load's steady state.
std::vector<assay::Case> alternating(int count) {
  std::vector<assay::Case> cases = numbered(count, assay::Suite::full);
  for (int i = 0; i < count; ++i)
    cases[static_cast<std::size_t>(i)].params["state"] = i % 2 ? "sustained" : "burst";
  return cases;
}

std::vector<assay::Case> full_suite_only() { return {{.suite = assay::Suite::full}}; }

const assay::Registration good{probe("good/steady", "Does a steady clock stay steady?",
                                     numbered(3, assay::Suite::quick), [](assay::State& s) {
                                       std::puts("this line is noise on stdout");
                                       s.set_param("process", getpid());
                                       s.set_param("data_seed", std::to_string(s.seed()));
                                       s.sample({.bytes = 2e6, .limit = {4000, "made up"}}, steady);
                                     })};

const assay::Registration slow{probe("slow/steady", "Does a slow case survive a kill?",
                                     numbered(12, assay::Suite::full), [](assay::State& s) {
                                       std::this_thread::sleep_for(milliseconds(60));
                                       s.sample({.steps = 10}, steady);
                                     })};

const assay::Registration heats{probe("heats/states", "Does what heats the GPU come last?",
                                      alternating(12),
                                      [](assay::State& s) { s.sample({.steps = 10}, steady); })};

const assay::Registration hang{
    probe("bad/hang", "Is a case that never ends given up?", full_suite_only(), [](assay::State&) {
      for (;;) std::this_thread::sleep_for(milliseconds(100));
    })};
const assay::Registration crash{probe("bad/crash", "Is a case that crashes recorded?",
                                      full_suite_only(), [](assay::State&) { std::abort(); })};
const assay::Registration thrower{
    probe("bad/throw", "Is a case that throws recorded, whatever bytes it says?", full_suite_only(),
          [](assay::State&) { throw std::runtime_error("it threw \xff at us"); })};
const assay::Registration skipper{
    probe("bad/skip", "Is a case that cannot be measured here passed over?", full_suite_only(),
          [](assay::State& s) { s.skip("it needs two of everything"); })};
const assay::Registration wrong{
    probe("bad/wrong", "Is a wrong result refused?", full_suite_only(), [](assay::State& s) {
      s.sample({}, steady);
      s.require(2 + 2 == 5, "2 + 2 must be 5");
    })};
const assay::Registration nothing{probe("bad/nothing", "Is a case that measures nothing refused?",
                                        full_suite_only(), [](assay::State&) {})};
const assay::Registration infinite{
    probe("bad/infinite", "Is a figure that is not finite kept out of the file?", full_suite_only(),
          [](assay::State& s) { s.sample({.bytes = 1}, [] { return 0.0; }); })};

// Throws in the program itself, not in a worker.
const assay::Registration unforeseen{
    {.name = "bad/kernels",
     .question = "Is what nobody foresaw told as a defect?",
     .cases = full_suite_only(),
     .kernels = [](const assay::Case&, assay::Target) -> std::vector<assay::KernelUse> { throw 7; },
     .run = [](assay::State&) {}}};

// Not run anywhere in these tests: it exists on GPUs alone.
const assay::Registration gpu{{.name = "gpu/only",
                               .question = "What does a machine without a GPU say?",
                               .run = [](assay::State&) {}}};

}  // namespace

int main(int argc, char** argv) { return assay::commands::main(argc, argv); }
