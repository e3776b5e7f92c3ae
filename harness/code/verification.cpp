// SPDX-License-Identifier: Apache-2.0
#include "harness/code/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>

#include "harness/code/assembler.hpp"
#include "harness/code/cubin.hpp"
#include "harness/code/sass_check.hpp"
#include "harness/code/sha256.hpp"
#include "harness/error.hpp"
#include "harness/machine/parallel.hpp"

namespace assay {
namespace {

// This program's code for a target; each is read once, when it is first asked for.
const std::vector<DeviceCode>& own_code(Target target) {
  static std::mutex mutex;
  static std::map<Target, std::vector<DeviceCode>> code_of;
  const std::lock_guard lock(mutex);
  auto found = code_of.find(target);
  if (found == code_of.end()) {
    const int architecture = 10 * row_of(target).major + row_of(target).minor;
    found = code_of.emplace(target, extract("/proc/self/exe", architecture)).first;
  }
  return found->second;
}

// One kernel of one case, on its way through the disassembler.
struct Job {
  Verification* result;
  KernelUse use;
  std::vector<char> assembled;  // empty for a written kernel
  const DeviceCode* compiled = nullptr;
  std::string symbol;

  SassRequest request() const {
    return {.elf = compiled ? compiled->elf : assembled,
            .symbol = symbol,
            .target = result->target,
            .use = use};
  }
};

Job make_job(const Probe& probe, KernelUse use, Verification& result) {
  if (!use.ptx.empty()) {
    std::vector<char> assembled = assemble(use, result.target);
    return {&result, use, std::move(assembled), nullptr, use.kernel};
  }
  const auto found = find_kernel(own_code(result.target), result.target, use.kernel, probe.source);
  if (!found)
    throw Error(ExitCode::failed,
                fmt::format("this program holds no {} code for kernel '{}': was it built for that "
                            "target, and does KernelUse::kernel name it as the source does?",
                            name(result.target), use.kernel));
  return {&result, use, {}, found->code, found->symbol};
}

// Whether the opcodes are one instruction with different modifiers.
bool is_one_instruction(const OpcodeCount& opcodes) {
  const auto base = [](const std::string& opcode) { return opcode.substr(0, opcode.find('.')); };
  return !opcodes.empty() && std::ranges::all_of(opcodes, [&](const auto& entry) {
    return base(entry.first) == base(opcodes.begin()->first);
  });
}

void add(const Job& job, const SassFindings& findings) {
  // An emulated instruction is not what the loop repeats, nor are several.
  const bool is_one = !job.use.emulated && is_one_instruction(findings.instruction);
  const Role role = is_one ? job.use.role : Role::none;
  job.result->kernels.push_back(
      {.kernel = job.use.kernel,
       .target = std::string(name(job.result->target)),
       .sha256 = findings.sha256,
       .loop = findings.loop,
       .instruction = role == Role::none ? OpcodeCount{} : findings.instruction,
       .role = role,
       .verified = findings.verified(),
       .emulated = job.use.emulated,
       .text = findings.loop_text});
  job.result->code.push_back({findings.function, findings.loop_header});
  for (const std::string& problem : findings.problems)
    job.result->problems.push_back(fmt::format("{}: {}", job.use.kernel, problem));
}

}  // namespace

std::string code_sha256(const std::vector<KernelCode>& kernels) {
  std::string content;
  for (const KernelCode& kernel : kernels) {
    if (!kernel.function || kernel.function->code.empty()) return {};
    const Function& function = *kernel.function;
    content += fmt::format("{} {} {} {}\n", function.arch, function.registers, function.stack_bytes,
                           function.code.size());
    for (const Instruction& instruction : function.code)
      content += fmt::format("{:016x}{:016x}{}\n", instruction.words[0], instruction.words[1],
                             instruction.callee);
  }
  return kernels.empty() ? std::string() : sha256(content);
}

std::vector<Verification> verify_all(const std::vector<std::pair<Selected, Target>>& wanted) {
  std::vector<Verification> results(wanted.size());
  std::vector<std::vector<Job>> jobs(wanted.size());
  on_every_core(wanted.size(), [&](std::size_t i) {
    const auto& [selected, target] = wanted[i];
    results[i] = {.name = selected.name, .target = target};
    try {
      if (selected.probe->kernels)
        for (KernelUse& use : selected.probe->kernels(*selected.which, target))
          jobs[i].push_back(make_job(*selected.probe, std::move(use), results[i]));
    } catch (const std::exception& error) {
      results[i].problems.emplace_back(error.what());
    }
  });
  // All in one call: starting nvdisasm costs more than its work does.
  std::vector<const Job*> all;
  std::vector<SassRequest> requests;
  for (const std::vector<Job>& list : jobs)
    for (const Job& job : list) {
      all.push_back(&job);
      requests.push_back(job.request());
    }
  try {
    const std::vector<SassFindings> findings = check_sass(requests);
    for (std::size_t i = 0; i < all.size(); ++i) add(*all[i], findings[i]);
  } catch (const std::exception& error) {  // no disassembler: nothing is verified
    for (const Job* job : all) job->result->problems.emplace_back(error.what());
  }
  return results;
}

}  // namespace assay
