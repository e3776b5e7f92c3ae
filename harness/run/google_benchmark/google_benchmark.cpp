// SPDX-License-Identifier: Apache-2.0
#include "harness/run/google_benchmark/google_benchmark.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "harness/error.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/machine/files.hpp"

namespace assay {
namespace {

// It prints nothing of its own unless asked to by --benchmark_format.
class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

std::string one_of(std::string_view name, const std::string& value,
                   std::initializer_list<std::string_view> known) {
  if (std::ranges::find(known, value) == known.end())
    throw Error(ExitCode::usage, fmt::format("{} is one of {}, not '{}'", name,
                                             fmt::join(known, ", "), excerpt(value)));
  return value;
}

}  // namespace

GoogleBenchmark::GoogleBenchmark(const std::vector<std::string>& flags) {
  for (const std::string& flag : flags) {
    const auto equals = flag.find('=');
    const std::string name = flag.substr(0, equals);
    const bool has_value = equals != flag.npos;
    const std::string value = has_value ? flag.substr(equals + 1) : "true";
    if (name == "--benchmark_list_tests") {
      one_of(name, value, {"true", "1", "false", "0"});
      lists_ = value == "true" || value == "1";
    } else if (name == "--benchmark_format" && has_value) {
      format_ = one_of(name, value, {"console", "json", "csv"});
      prints_ = true;
    } else if (name == "--benchmark_out_format" && has_value) {
      out_format_ = one_of(name, value, {"console", "json", "csv"});
    } else if (name == "--benchmark_out" && has_value) {
      out_ = value;
    } else {
      if (name == "--benchmark_time_unit") one_of(name, value, {"ns", "us", "ms", "s"});
      flags_.push_back(flag);
    }
  }
  if (lists_ || out_.empty()) return;
  if (const int why = obstacle_to_writing(out_))
    throw Error(ExitCode::io, fmt::format("cannot write {}: {}: choose a file that you may write "
                                          "with --benchmark_out",
                                          excerpt(out_.string()), std::strerror(why)));
  memory_ = ::memfd_create("benchmark_out", MFD_CLOEXEC);
  if (memory_ < 0)
    throw Error(ExitCode::io,
                fmt::format("no memory for --benchmark_out: {}", std::strerror(errno)));
}

GoogleBenchmark::~GoogleBenchmark() {
  if (memory_ >= 0) ::close(memory_);
}

void GoogleBenchmark::initialize(int repetitions) const {
  static char program[] = "assay";  // kept by pointer, for the context of its JSON
  // What is decided here comes last, and all of it: else its environment variables would decide.
  std::vector<std::string> arguments = flags_;
  arguments.insert(
      arguments.end(),
      {fmt::format("--benchmark_list_tests={}", lists_), "--benchmark_filter=all",
       "--benchmark_format=" + format_, "--benchmark_out_format=" + out_format_,
       memory_ < 0 ? "--benchmark_out=" : fmt::format("--benchmark_out=/proc/self/fd/{}", memory_),
       fmt::format("--benchmark_repetitions={}", repetitions)});
  std::vector<char*> pointers{program};
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (count > 1)
    throw Error(ExitCode::usage, fmt::format("'{}' is neither an option of `assay run` nor a "
                                             "flag of Google Benchmark: see `assay run --help`",
                                             pointers[1]));
}

void GoogleBenchmark::drive() const {
  Silent silent;
  if (prints_ || lists_)
    benchmark::RunSpecifiedBenchmarks();
  else
    benchmark::RunSpecifiedBenchmarks(&silent);
}

void GoogleBenchmark::write_out() const {
  if (memory_ < 0) return;
  std::string content(static_cast<std::size_t>(std::max<off_t>(::lseek(memory_, 0, SEEK_END), 0)),
                      '\0');
  const ssize_t n = ::pread(memory_, content.data(), content.size(), 0);
  if (n != static_cast<ssize_t>(content.size()))
    throw Error(ExitCode::io, "what Google Benchmark wrote for --benchmark_out is lost");
  write_atomically(out_, content);
}

}  // namespace assay
