// SPDX-License-Identifier: Apache-2.0
// Google Benchmark as `assay run` drives it.
//
// By itself it ends the program, with a status of its own, over a value that it does not know and
// over a file that it cannot open, and it never asks whether what it wrote arrived. So its flags
// are looked at here before anything is measured, and it writes its file into memory.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace assay {

class GoogleBenchmark {
 public:
  // Throws Error(usage) for a value that one of `flags` cannot have, and Error(io) where nothing
  // can be written to --benchmark_out. Makes no file.
  explicit GoogleBenchmark(const std::vector<std::string>& flags);
  ~GoogleBenchmark();
  GoogleBenchmark(const GoogleBenchmark&) = delete;  // owns the memory
  GoogleBenchmark& operator=(const GoogleBenchmark&) = delete;

  bool lists() const { return lists_; }    // --benchmark_list_tests: it measures nothing
  bool prints() const { return prints_; }  // --benchmark_format: standard output is its own

  // Throws Error(usage) for a flag that is none.
  void initialize(int repetitions) const;
  // Calls what was registered, or prints the names.
  void drive() const;
  // What it had to say in the file of --benchmark_out, if that was given. Throws Error(io).
  void write_out() const;

 private:
  std::vector<std::string> flags_;  // but for those that are spelled out below
  bool lists_ = false, prints_ = false;
  std::string format_ = "console", out_format_ = "json";
  std::filesystem::path out_;
  int memory_ = -1;
};

}  // namespace assay
