// SPDX-License-Identifier: Apache-2.0
// What the command lines of the sweeps have in common.
#pragma once
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <string>

#include "harness/callable.hpp"
#include "harness/error.hpp"

namespace assay::kernels {

struct SweepOptions {
  double milliseconds;  // most time of a shape
  int rest = 0;         // milliseconds before each sample
  std::string out = {};

  std::chrono::milliseconds pause() const { return std::chrono::milliseconds(rest); }

  // OUT and MILLISECONDS, in this place among the command's arguments, and --rest. `columns` are
  // those of OUT, its first line.
  void add_to(CLI::App& app, const std::string& columns) {
    app.add_option("OUT", out, "CSV: " + columns)->required();
    app.add_option("MILLISECONDS", milliseconds, "Most time of a shape")
        ->check(CLI::Range(1.0, 1e5))
        ->capture_default_str();
    app.add_option("--rest", rest, "Milliseconds of rest before each sample")
        ->check(CLI::Range(0, 1000))
        ->capture_default_str();
  }
};

// Parses, opens OUT, writes its first line and sweeps. Returns the exit status.
inline int run_sweep(CLI::App& app, int argc, char** argv, const SweepOptions& options,
                     const std::string& columns, const Callable<void(FILE* out)>& sweep) {
  const auto complain = [&](const std::string& text) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), text.c_str());
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  }
  FILE* const out = std::fopen(options.out.c_str(), "w");
  if (!out) {
    complain("cannot open " + options.out);
    return static_cast<int>(ExitCode::usage);
  }
  std::fprintf(out, "%s\n", columns.c_str());
  try {
    sweep(out);
  } catch (const Error& error) {
    complain(error.what());
    std::fclose(out);
    return static_cast<int>(error.code());
  }
  return std::fclose(out) == 0 ? 0 : static_cast<int>(ExitCode::io);
}

}  // namespace assay::kernels
