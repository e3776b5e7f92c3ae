// SPDX-License-Identifier: Apache-2.0
// Times every kernel with as many CTAs as an SM holds, and writes what an iteration of its hot loop
// takes: cycles of the SM clock in which every warp of an SM does one.
//   nvcc -std=c++20 -O3 -arch=sm_90a -I. harness/sass/tests/foreign/*.cu -o foreign
//   ./foreign > measured.json
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "foreign.hpp"

namespace {
using namespace foreign;
using assay::StopwatchRecord;

constexpr double kLongEnough = 400'000;  // cycles of a launch
constexpr int kPairs = 25;

void check(cudaError_t error, const std::string& what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what.c_str(), cudaGetErrorString(error));
  std::exit(1);
}

// From the first start to the last stop of an SM's CTAs: the median over SMs.
double cycles_of_sm(const std::vector<StopwatchRecord>& records, int& ctas_of_busiest) {
  struct Span {
    std::uint64_t begin = ~std::uint64_t{0}, end = 0;
    int ctas = 0;
  };
  std::map<std::uint32_t, Span> spans;
  for (const StopwatchRecord& record : records) {
    Span& span = spans[record.sm];
    span.begin = std::min(span.begin, record.start_clock);
    span.end = std::max(span.end, record.stop_clock);
    ctas_of_busiest = std::max(ctas_of_busiest, ++span.ctas);
  }
  std::vector<double> cycles;
  for (const auto& [sm, span] : spans) cycles.push_back(static_cast<double>(span.end - span.begin));
  std::ranges::sort(cycles);
  return cycles[cycles.size() / 2];
}

struct Memory {
  void* floats;
  void* words;
  void* out;
  StopwatchRecord* records;
  const void* first_floats;  // the first chunk, on the host
  const void* first_words;
  std::size_t out_bytes;
};

class Bench {
 public:
  Bench(const Kernel& kernel, int ctas, const Memory& memory)
      : kernel_(kernel), ctas_(ctas), memory_(memory) {}

  double run(int rounds) {
    check(cudaMemset(memory_.records, 0, sizeof(StopwatchRecord) * static_cast<unsigned>(ctas_)),
          "memset");
    kernel_.launch(ctas_, rounds, kernel_.whole_numbers ? memory_.words : memory_.floats,
                   memory_.out, memory_.records);
    check(cudaGetLastError(), kernel_.name);
    std::vector<StopwatchRecord> records(static_cast<std::size_t>(ctas_));
    check(cudaMemcpy(records.data(), memory_.records, records.size() * sizeof records[0],
                     cudaMemcpyDeviceToHost),
          kernel_.name);
    return cycles_of_sm(records, busiest_);
  }

  // Empty if out[0] is what it must be, on an output of 0xff bytes before.
  std::string find_error(int rounds) {
    check(cudaMemset(memory_.out, 0xff, memory_.out_bytes), "memset");
    run(rounds);
    alignas(16) unsigned char first[16] = {};
    check(cudaMemcpy(first, memory_.out, sizeof first, cudaMemcpyDeviceToHost), kernel_.name);
    if (std::all_of(first, first + 4, [](unsigned char byte) { return byte == 0xff; }))
      return "wrote nothing";
    const double found = kernel_.found(first);
    if (!std::isfinite(found)) return "result is not finite";
    if (!kernel_.expected) return "";
    const double wanted = kernel_.expected(
        kernel_.whole_numbers ? memory_.first_words : memory_.first_floats, rounds);
    if (std::abs(found - wanted) <= 1e-4 * std::abs(wanted)) return "";
    return "out[0] is " + std::to_string(found) + ", not " + std::to_string(wanted);
  }

  int busiest() const { return busiest_; }

 private:
  const Kernel& kernel_;
  int ctas_;
  const Memory& memory_;
  int busiest_ = 0;
};

Memory allocate(int most_ctas, std::vector<float>& floats, std::vector<std::uint32_t>& words) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> between(0.25f, 1.0f);
  for (float& value : floats) value = between(engine);
  for (std::uint32_t& value : words) value = engine();
  Memory memory{};
  const std::size_t chunks = static_cast<std::size_t>(most_ctas) + 1;  // stencils reach beyond
  memory.out_bytes = chunks * kChunk;
  check(cudaMalloc(&memory.floats, chunks * kChunk), "in");
  check(cudaMalloc(&memory.words, chunks * kChunk), "in");
  check(cudaMalloc(&memory.out, memory.out_bytes), "out");
  check(cudaMalloc(&memory.records, sizeof(StopwatchRecord) * chunks), "records");
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {  // all CTAs work on the same numbers
    check(cudaMemcpy(static_cast<char*>(memory.floats) + chunk * kChunk, floats.data(), kChunk,
                     cudaMemcpyHostToDevice),
          "in");
    check(cudaMemcpy(static_cast<char*>(memory.words) + chunk * kChunk, words.data(), kChunk,
                     cudaMemcpyHostToDevice),
          "in");
  }
  memory.first_floats = floats.data();
  memory.first_words = words.data();
  return memory;
}

double median(std::vector<double>& values, double at = 0.5) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(at * static_cast<double>(values.size() - 1) + 0.5)];
}

}  // namespace

int main() {
  cudaDeviceProp gpu{};
  check(cudaGetDeviceProperties(&gpu, 0), "device");
  std::vector<float> floats(kChunk / sizeof(float));
  std::vector<std::uint32_t> words(kChunk / sizeof(std::uint32_t));
  const Memory memory = allocate(gpu.multiProcessorCount * 32, floats, words);
  std::vector<Kernel> kernels;
  for (const auto& family : {scalar_kernels(), integer_kernels(), row_kernels(), shared_kernels()})
    kernels.insert(kernels.end(), family.begin(), family.end());

  std::printf("{\"gpu\": \"%s\", \"sms\": %d, \"nvcc\": \"%d.%d.%d\", \"kernels\": {", gpu.name,
              gpu.multiProcessorCount, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__,
              __CUDACC_VER_BUILD__);
  int failed = 0;
  const char* separator = "\n";
  for (const Kernel& kernel : kernels) {
    int fit = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel.function, kernel.threads, 0),
          kernel.name);
    Bench bench(kernel, fit * gpu.multiProcessorCount, memory);
    const std::string error = bench.find_error(128);
    if (!error.empty()) {
      std::fprintf(stderr, "%s: %s\n", kernel.name.c_str(), error.c_str());
      ++failed;
      continue;
    }
    int rounds = 64;
    while (bench.run(rounds) < kLongEnough && rounds < 1 << 22) rounds *= 2;
    std::vector<double> iterations;
    for (int pair = 0; pair < kPairs; ++pair) {
      const double once = bench.run(rounds), twice = bench.run(2 * rounds);
      iterations.push_back((twice - once) / rounds * kernel.unrolled);
    }
    const double low = median(iterations, 0.3), high = median(iterations, 0.7);  // 95% of 25: 8, 18
    std::printf(
        "%s  \"%s\": {\"cycles_per_iteration\": %.6g, \"ci95\": [%.6g, %.6g], \"rounds\": %d,\n"
        "    \"unrolled\": %d, \"threads\": %d, \"ctas_per_sm\": %d, \"warps_per_sm\": %d, "
        "\"checked\": %s}",
        separator, kernel.name.c_str(), median(iterations), low, high, rounds, kernel.unrolled,
        kernel.threads, bench.busiest(), bench.busiest() * kernel.threads / 32,
        kernel.expected ? "true" : "false");
    separator = ",\n";
  }
  std::printf("\n}}\n");
  return failed == 0 ? 0 : 1;
}
