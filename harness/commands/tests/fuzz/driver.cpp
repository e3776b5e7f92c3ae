// SPDX-License-Identifier: Apache-2.0
// Stands for libFuzzer where the compiler has none: gives a reader its corpus, and mutations of it
// from a fixed seed, as many as told or for so many seconds.
//   assay_fuzz READER COUNT CORPUS-FOLDER [SEED]        COUNT: 2000, or 60s
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "harness/commands/tests/fuzz/reader.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Random = std::mt19937_64;

constexpr double kSlow = 20;           // seconds for one input: a hang
constexpr long kMostMemory = 1 << 20;  // KiB
constexpr const char* kCrash = "crash-input";

std::string current;  // for whoever looks into a crash

[[noreturn]] void keep_input(const char* why) {
  std::ofstream(kCrash, std::ios::binary) << current;
  std::fprintf(stderr, "%s: the input is in %s\n", why, kCrash);
  std::_Exit(1);
}

extern "C" void on_signal(int signal) { keep_input(::strsignal(signal)); }

// One to six changes: a bit, a byte, a number at an edge, a stretch doubled, removed, moved or
// taken from another file, an end cut off.
std::string mutated(std::string text, const std::string& other, Random& random) {
  for (auto change = random() % 6 + 1; change > 0 && !text.empty(); --change) {
    const std::size_t at = random() % text.size();
    const std::size_t length = std::min<std::size_t>(random() % 64 + 1, text.size() - at);
    switch (random() % 9) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ 1 << random() % 8);
        break;
      case 1:
        text[at] = static_cast<char>(random());
        break;
      case 2: {
        constexpr std::uint64_t kEdges[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, ~0ull};
        const std::uint64_t edge = kEdges[random() % 6];
        std::memcpy(text.data() + at, &edge, std::min<std::size_t>(8, text.size() - at));
        break;
      }
      case 3: {
        constexpr const char* kWords[] = {
            "1e999",   "-1", "null", "[]",        "{}", "\"\"", "[[[[", "18446744073709551616",
            "\\ud800", "(|", ")*",   "[0:99999]", "\n", "0x",   ";"};
        text.insert(at, kWords[random() % 15]);
        break;
      }
      case 4:
        text.insert(at, text.substr(at, length));
        break;
      case 5:
        text.erase(at, length);
        break;
      case 6:
        text.replace(at, length, text.substr(random() % text.size(), length));
        break;
      case 7:
        if (!other.empty()) text.insert(at, other.substr(random() % other.size(), length));
        break;
      default:
        if (random() % 8 == 0) text.resize(at);
    }
  }
  return text;
}

// The files of a folder, in the order of their names.
std::vector<std::string> corpus_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry);
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

long most_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

int main(int argc, char** argv) {
  const auto* reader = argc < 4 ? nullptr : assay::FuzzedReader::find(argv[1]);
  const auto corpus = reader == nullptr ? std::vector<std::string>{} : corpus_of(argv[3]);
  if (corpus.empty()) {
    std::fprintf(stderr, "usage: %s READER COUNT CORPUS-FOLDER [SEED]\n", argv[0]);
    return 2;
  }
  const std::string_view count = argv[2];
  const double amount = std::stod(argv[2]);
  const bool timed = count.ends_with('s');
  Random random(argc > 4 ? std::stoull(argv[4]) : 1);
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS})
    std::signal(signal, on_signal);
  const auto run = [&](std::string input) {
    current = std::move(input);
    const auto begin = Clock::now();
    reader->read(current);
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  run({});  // what it reads once takes long, and no input is to blame
  std::size_t inputs = 0;
  double slowest = 0;
  for (const std::string& whole : corpus) slowest = std::max(slowest, run(whole));
  const auto begin = Clock::now();
  const auto done = [&] {
    return timed ? std::chrono::duration<double>(Clock::now() - begin).count()
                 : static_cast<double>(inputs);
  };
  for (; done() < amount; ++inputs) {
    const std::string& other = corpus[random() % corpus.size()];
    slowest = std::max(slowest, run(mutated(corpus[random() % corpus.size()], other, random)));
    if (slowest > kSlow) keep_input("slower than 20 s");
    if (most_memory() > kMostMemory) keep_input("more than 1 GiB");
  }
  std::printf("%zu inputs, the slowest took %.3f s, at most %ld MiB\n", inputs, slowest,
              most_memory() / 1024);
  return 0;
}
