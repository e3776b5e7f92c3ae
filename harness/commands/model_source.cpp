// SPDX-License-Identifier: Apache-2.0
#include "harness/commands/model_source.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <regex>

#include "harness/code/assembler.hpp"
#include "harness/error.hpp"
#include "harness/isa/assembly.hpp"
#include "harness/machine/dynamic_library.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/machine/files.hpp"
#include "harness/machine/process.hpp"

namespace assay::commands {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = 64 << 20;

// What nvcc makes of a .cu file. It runs in an empty folder: to a LD_LIBRARY_PATH that is not set
// nvcc.profile adds its own and a colon, and with that the compilers that it starts load libraries
// from where they are started.
std::string compile(const std::string& file, const std::string& target,
                    const std::vector<std::string>& include) {
  read_file(file, kLargestFile);  // nvcc would wait for a pipe, and read a device for ever
  const PrivateFolder folder;
  const fs::path out = folder.path() / "kernel.ptx";
  const auto absolute = [](const std::string& path) {
    return fs::absolute(path).lexically_normal().string();
  };
  std::vector<std::string> command = {find_tool("nvcc"),
                                      "-ptx",
                                      "-lineinfo",
                                      "-std=c++20",
                                      "--expt-relaxed-constexpr",
                                      "-arch=" + target,
                                      "-I" + fs::current_path().string(),
                                      "-o",
                                      out.string(),
                                      absolute(file)};
  for (const std::string& folder_of : include) command.push_back("-I" + absolute(folder_of));
  const ToolOutput result = run_tool(command, {}, folder.path());
  if (result.status != 0)
    throw Error(ExitCode::usage,
                fmt::format("{}: nvcc refuses it:\n{}", excerpt(file), result.errors));
  return read_file(out, kLargestFile);
}

// What the assembler rejects is no kernel, whatever the model could make of it.
void require_assembles(const std::string& file, const std::string& ptx) {
  static const std::regex directive(R"((?:^|\n)[ \t]*\.target[ \t]+(sm_\w+))");
  std::smatch target;
  if (!std::regex_search(ptx, target, directive)) return;  // the model refuses it by name
  Assembled assembled;
  try {
    assembler_identity();  // loads it, for the process apart too
    if (const int signal = signal_that_ends([&] { try_assemble(ptx, target[1].str()); }))
      throw Error(ExitCode::unfit,
                  fmt::format("the assembler crashes on it ({})", strsignal(signal)));
    assembled = try_assemble(ptx, target[1].str());
  } catch (const Error& error) {
    tell(fmt::format("{}: not assembled beforehand, so that errors in it may look like bugs: {}",
                     excerpt(file), error.what()));
    return;
  }
  if (!assembled.cubin.empty()) return;
  std::string words = "the assembler rejects it";
  for (const isa::Remark& remark : isa::remarks(assembled.log)) {
    if (!remark.error || remark.line == 0) continue;
    words = fmt::format("PTX line {}: {}", remark.line, remark.text);
    break;
  }
  throw Error(ExitCode::usage, fmt::format("{}: {}", excerpt(file), excerpt(words, 500)));
}

}  // namespace

std::string ptx_of_file(const std::string& file, const std::string& target,
                        const std::vector<std::string>& include) {
  if (!file.ends_with(".ptx")) return compile(file, target, include);
  std::string ptx = read_file(file, kLargestFile);
  require_assembles(file, ptx);
  return ptx;
}

}  // namespace assay::commands
