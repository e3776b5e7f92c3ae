// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction_probe.hpp"

#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <random>

#include "harness/device.hpp"
#include "harness/error.hpp"

namespace assay {
namespace {

constexpr const char* kThroughput = "throughput";
constexpr const char* kLatency = "latency";
constexpr int kLatencyUnroll = 64;
constexpr int kCheckedIterations = 2;  // few enough for sums to be exact in every format

template <class To, class From>
To bits_of(From value) {
  static_assert(sizeof(To) == sizeof(From));
  return std::bit_cast<To>(value);
}

struct Format {
  int bits;
  std::uint64_t (*encode)(double);
  double (*decode)(std::uint64_t);
};

const Format& format_of(const std::string& element) {
  static const std::map<std::string, Format, std::less<>> formats = {
      {"f64",
       {64, [](double v) { return bits_of<std::uint64_t>(v); },
        [](std::uint64_t b) { return bits_of<double>(b); }}},
      {"f32",
       {32, [](double v) { return std::uint64_t{bits_of<std::uint32_t>(static_cast<float>(v))}; },
        [](std::uint64_t b) { return double{bits_of<float>(static_cast<std::uint32_t>(b))}; }}},
      // tf32 is f32 whose low 13 bits do not count; the values used here have them clear.
      {"tf32",
       {32,
        [](double v) {
          return std::uint64_t{bits_of<std::uint32_t>(static_cast<float>(v)) & ~0x1fffu};
        },
        [](std::uint64_t b) { return double{bits_of<float>(static_cast<std::uint32_t>(b))}; }}},
      {"s32",
       {32,
        [](double v) {
          return std::uint64_t{static_cast<std::uint32_t>(static_cast<std::int64_t>(v))};
        },
        [](std::uint64_t b) { return double(static_cast<std::int32_t>(b)); }}},
      {"u32",
       {32, [](double v) { return std::uint64_t{static_cast<std::uint32_t>(v)}; },
        [](std::uint64_t b) { return double(static_cast<std::uint32_t>(b)); }}},
      {"f16",
       {16, [](double v) { return std::uint64_t{__half_raw(__double2half(v)).x}; },
        [](std::uint64_t b) {
          __half_raw r;
          r.x = static_cast<unsigned short>(b);
          return double{__half2float(__half(r))};
        }}},
      {"bf16",
       {16,
        [](double v) { return std::uint64_t{bits_of<std::uint32_t>(static_cast<float>(v)) >> 16}; },
        [](std::uint64_t b) {
          return double{bits_of<float>(static_cast<std::uint32_t>(b) << 16)};
        }}},
      {"e4m3",
       {8,
        [](double v) {
          return std::uint64_t{__nv_cvt_double_to_fp8(v, __NV_SATFINITE, __NV_E4M3)};
        },
        [](std::uint64_t b) {
          return double{__half2float(
              __half(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(b), __NV_E4M3)))};
        }}},
      {"s8",
       {8, [](double v) { return std::uint64_t{static_cast<std::uint8_t>(static_cast<int>(v))}; },
        [](std::uint64_t b) { return double(static_cast<std::int8_t>(b)); }}}};
  const auto found = formats.find(element);
  if (found == formats.end())
    throw Error(ExitCode::usage, "unknown element type '" + element + "' in an instruction row");
  return found->second;
}

int register_bits(const Operand& operand) { return operand.reg.ends_with("64") ? 64 : 32; }

std::uint64_t pack_elements(const Operand& operand, const std::function<double()>& next) {
  const Format& format = format_of(operand.element);
  const std::uint64_t mask = format.bits == 64 ? ~0ull : (1ull << format.bits) - 1;
  std::uint64_t packed = 0;
  for (int at = 0; at < register_bits(operand); at += format.bits)
    packed |= (format.encode(next()) & mask) << at;
  return packed;
}

double start_of(const InstructionRow& row, int chain) { return row.d0 + chain; }

// What `in` holds, in the order instruction_ptx.cpp documents. `random` for timing matrix math,
// whose power depends on its data; null: all elements of a register alike, for checking.
std::vector<std::uint64_t> inputs_of(const InstructionRow& row, const KernelShape& shape,
                                     std::mt19937_64* random) {
  const int threads = shape.warps * 32;
  std::vector<std::uint64_t> slots;
  for (int chain = 0; chain < shape.chains; ++chain)
    slots.insert(slots.end(), static_cast<std::size_t>(row.chain.count) * threads,
                 pack(row.chain, start_of(row, chain)));
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    const Operand& input = row.inputs[i];
    const bool integer = input.element[0] == 's' || input.element[0] == 'u';
    std::uniform_real_distribution<double> spread(integer ? -127 : -1, integer ? 127 : 1);
    for (int j = 0; j < input.count * threads; ++j)
      slots.push_back(random ? pack_elements(input, [&] { return spread(*random); })
                             : pack(input, i == 0 ? row.a : row.b));
  }
  return slots;
}

struct Launcher {
  const void* kernel;
  KernelShape shape;
  std::uint64_t* in;
  std::uint64_t* out;

  void operator()(int ctas, cudaStream_t stream, std::int64_t iterations,
                  StopwatchRecord* records) const {
    std::uint32_t count = static_cast<std::uint32_t>(iterations), zero = 0;
    const std::uint64_t *in_argument = in, *out_argument = out;
    void* arguments[] = {&records, &in_argument, &out_argument, &count, &zero};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(ctas));
    config.blockDim = dim3(static_cast<unsigned>(shape.warps * 32));
    config.stream = stream;
    check(cudaLaunchKernelExC(&config, kernel, arguments));
  }
};

void check_values(State& s, const InstructionRow& row, const Launcher& launcher) {
  const KernelShape& shape = launcher.shape;
  const int threads = shape.warps * 32;
  const std::vector<std::uint64_t> in = inputs_of(row, shape, nullptr);
  std::vector<std::uint64_t> out(
      static_cast<std::size_t>(shape.chains * row.chain.count * threads));
  Buffer records(sizeof(StopwatchRecord));
  check(cudaMemcpy(launcher.in, in.data(), in.size() * 8, cudaMemcpyHostToDevice));
  check(cudaMemset(launcher.out, 0xff, out.size() * 8));
  launcher(1, s.stream(), kCheckedIterations, records.as<StopwatchRecord>());
  check(cudaStreamSynchronize(s.stream()));
  check(cudaMemcpy(out.data(), launcher.out, out.size() * 8, cudaMemcpyDeviceToHost));
  std::size_t slot = 0;
  for (int chain = 0; chain < shape.chains; ++chain) {
    double expected = start_of(row, chain);
    for (int i = 0; i < kCheckedIterations * shape.unroll; ++i)
      expected = row.step(expected, row.a, row.b);
    for (int i = 0; i < row.chain.count * threads; ++i, ++slot) {
      const double found = unpack(row.chain, out[slot]);
      s.require(
          std::abs(found - expected) <= row.tolerance * std::abs(expected),
          fmt::format("chain {} of {} ended with {}, not {}", chain, row.name, found, expected));
    }
  }
}

// An emulated instruction takes many registers and instructions: fewer copies of it fit.
KernelShape throughput_shape(const InstructionRow& row, Target target) {
  if (row.emulated && row.emulated(target)) return {row.warps, 2, 4, true};
  return {row.warps, row.chains, row.unroll, false};
}
KernelShape latency_shape(const InstructionRow& row, Target target) {
  if (row.emulated && row.emulated(target)) return {1, 1, 8, true};
  return {1, 1, kLatencyUnroll, false};
}

std::vector<SassRule> rules(const InstructionRow& row, const KernelShape& shape, Target target) {
  std::vector<SassRule> all = row.sass(target);
  const int copies = shape.chains * shape.unroll;
  for (SassRule& rule : all) {
    rule.at_least *= copies;
    if (rule.at_most != INT_MAX) rule.at_most *= copies;
  }
  return all;
}

std::vector<KernelUse> kernels_of(const InstructionRow& row, Target target) {
  std::vector<KernelUse> uses;
  for (const auto& [entry, shape] : {std::pair{kThroughput, throughput_shape(row, target)},
                                     std::pair{kLatency, latency_shape(row, target)}})
    uses.push_back({.kernel = entry,
                    .sass = rules(row, shape, target),
                    .ptx = instruction_ptx(row, shape, entry, target),
                    .emulated = shape.entangle});
  return uses;
}

void run_row(State& s, const InstructionRow& row) {
  std::mt19937_64 random(s.seed());
  const auto prepare = [&](const char* entry, const KernelShape& shape) {
    const std::size_t threads = static_cast<std::size_t>(shape.warps) * 32;
    std::vector<std::uint64_t> in = inputs_of(row, shape, &random);
    const std::size_t out = static_cast<std::size_t>(shape.chains * row.chain.count) * threads;
    Launcher launcher{s.generated_kernel(entry), shape, s.allocate<std::uint64_t>(in.size()),
                      s.allocate<std::uint64_t>(out)};
    check_values(s, row, launcher);
    // Scalar chains keep the checked values: random ones would soon overflow or vanish.
    if (row.flop > 0 && row.inputs.size() == 2)
      check(cudaMemcpy(launcher.in, in.data(), in.size() * 8, cudaMemcpyHostToDevice));
    return launcher;
  };
  const int sms = s.device().sm_count;
  const auto measure = [&](const Launcher& launcher, const Work& work) {
    s.cycles(work, [&](const Launch& l) { launcher(sms, l.stream, l.iterations, l.records); });
  };
  const Launcher throughput = prepare(kThroughput, throughput_shape(row, s.target()));
  const KernelShape& shape = throughput.shape;
  const double copies = shape.warps * shape.chains * shape.unroll;
  measure(throughput, {.flop = row.flop * copies,
                       .ops = row.ops * copies,
                       .limit = row.limit ? row.limit(s.target()) : Limit{}});
  const Launcher latency = prepare(kLatency, latency_shape(row, s.target()));
  measure(latency, {.steps = static_cast<double>(latency.shape.unroll)});
}

}  // namespace

std::uint64_t pack(const Operand& operand, double value) {
  return pack_elements(operand, [value] { return value; });
}

double unpack(const Operand& operand, std::uint64_t bits) {
  const Format& format = format_of(operand.element);
  return format.decode(format.bits == 64 ? bits : bits & ((1ull << format.bits) - 1));
}

Probe instruction_probe(Probe probe, std::vector<InstructionRow> rows, bool sustained) {
  auto table = std::make_shared<std::map<std::string, InstructionRow>>();
  probe.cases.clear();
  for (InstructionRow& row : rows) {
    Params params = row.params;
    params["state"] = std::string("burst");
    probe.cases.push_back({row.name, params, row.targets, row.suite});
    (*table)[row.name] = row;
    if (!sustained) continue;
    params["state"] = std::string("sustained");
    probe.cases.push_back({row.name + "/sustained", params, row.targets, Suite::full});
    (*table)[row.name + "/sustained"] = std::move(row);
  }
  probe.kernels = [table](const Case& c, Target target) {
    return kernels_of(table->at(c.name), target);
  };
  probe.run = [table](State& s) { run_row(s, table->at(s.which().name)); };
  return probe;
}

}  // namespace assay
