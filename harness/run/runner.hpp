// SPDX-License-Identifier: Apache-2.0
// `assay run`: which cases, in which order, in which process, and where the results go.
//
// Google Benchmark drives: every case is one of its benchmarks, so its flags (--benchmark_filter,
// --benchmark_list_tests, --benchmark_repetitions, --benchmark_out=...) and tools that read its
// JSON (compare.py) work. What each benchmark does when called is ask a worker process for one
// measurement, whose median becomes its manual time.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "harness/error.hpp"
#include "harness/measure/state_impl.hpp"

namespace assay {

inline constexpr int kMostDevices = 1024;

struct RunRequest {
  std::string filter = {};
  std::string suite = "quick";
  std::filesystem::path out = {};     // empty: out/<date>-<suite>
  std::filesystem::path resume = {};  // a folder to go on with, instead of out
  bool or_new = false;                // a new run where `resume` is of another build, GPU or host
  int device = 0;
  int repetitions = 1;      // each in a process of its own
  double deadline_s = 120;  // for one case, until it counts as hung
  double wait_s = 0;        // for other processes to leave the GPU, at most
  RunOptions options = {};
  std::vector<std::string> benchmark_flags = {};  // handed to Google Benchmark as they are
};

// Measures; prints progress to stderr and where the results are to stdout. Throws Error when
// nothing can be measured; cases that fail are recorded and make it return ExitCode::failed.
ExitCode run(const RunRequest& request);

// Launches one case, once, in this process, for a profiler to look at.
ExitCode run_for_profiler(const std::string& name, int device);

}  // namespace assay
