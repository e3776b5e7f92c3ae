// SPDX-License-Identifier: Apache-2.0
// Stands for libFuzzer where the compiler has none: mutates the corpus from a fixed seed.
//   fuzz_READER SECONDS CORPUS-FOLDER [SEED]
#include <chrono>
#include <csignal>
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

constexpr double kSlow = 20;  // seconds for one input: a hang
constexpr const char* kCrash = "crash-input";

std::string current;  // for whoever looks into a crash

extern "C" void keep_input(int signal) {
  std::ofstream(kCrash, std::ios::binary) << current;
  std::fprintf(stderr, "signal %d: the input is in %s\n", signal, kCrash);
  std::_Exit(1);
}

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

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s SECONDS CORPUS [SEED]\n", argv[0]);
    return 2;
  }
  const double seconds = std::stod(argv[1]);
  Random random(argc > 3 ? std::stoull(argv[3]) : 1);
  std::vector<std::string> corpus;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    std::ifstream file(entry.path(), std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (corpus.empty()) return 2;
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS})
    std::signal(signal, keep_input);
  const auto run = [](std::string input) {
    current = std::move(input);
    const auto begin = Clock::now();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  std::size_t count = 0;
  double slowest = 0;
  for (const std::string& whole : corpus) slowest = std::max(slowest, run(whole));
  const auto begin = Clock::now();
  for (; std::chrono::duration<double>(Clock::now() - begin).count() < seconds; ++count) {
    const std::string& other = corpus[random() % corpus.size()];
    slowest = std::max(slowest, run(mutated(corpus[random() % corpus.size()], other, random)));
    if (slowest > kSlow) keep_input(SIGALRM);
  }
  std::printf("%zu inputs, the slowest took %.3f s\n", count, slowest);
  return 0;
}
