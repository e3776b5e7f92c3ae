// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/software.hpp"

#include <cuda.h>
#include <nccl.h>
#include <nvJitLink.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "harness/callable.hpp"
#include "harness/error.hpp"
#include "harness/machine/dynamic_library.hpp"
#include "harness/machine/nvml.hpp"
#include "harness/machine/process.hpp"

namespace assay {
namespace {

std::string dotted(std::uint64_t major, std::uint64_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}
std::string dotted(std::uint64_t major, std::uint64_t minor, std::uint64_t patch) {
  return dotted(major, minor) + "." + std::to_string(patch);
}

std::string without_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  const std::string prefix = home && *home ? std::string(home) + "/" : "";
  // A root user's home can be "/".
  if (prefix.size() < 3 || !path.starts_with(prefix)) return path;
  return "~/" + path.substr(prefix.size());
}

using Version = Callable<std::string(const DynamicLibrary&)>;

Software opened(const char* name, Library which, const Version& version) {
  try {
    const DynamicLibrary library = DynamicLibrary::open(which);
    return {.name = name, .version = version(library), .path = without_home(library.path())};
  } catch (const Error& error) {
    return {.name = name, .missing = error.what()};
  }
}

// The rest of the file name that a soname's link leads to: libx.so.13 -> libx.so.13.1.0.3.
Software located(const char* name, Library which) {
  const std::string path = DynamicLibrary::locate(which);
  // What the search cannot see the loader may still know, and it can say why not.
  if (path.empty()) return opened(name, which, [](const DynamicLibrary&) { return ""; });
  std::error_code ignored;
  const std::string file = std::filesystem::canonical(path, ignored).filename().string();
  const std::size_t at = file.find(".so.");
  return {.name = name,
          .version = at == std::string::npos ? "" : file.substr(at + 4),
          .path = without_home(path)};
}

std::string cuda_driver_version(const DynamicLibrary& library) {
  int version = 0;
  const decltype(&cuDriverGetVersion) get = library["cuDriverGetVersion"];
  if (const CUresult status = get(&version))
    throw Error(ExitCode::unfit, "the CUDA driver at " + library.path() + " answers with status " +
                                     std::to_string(status) + ": install it again");
  return "CUDA " + dotted(version / 1000, version % 1000 / 10);
}

std::string nvml_version(const DynamicLibrary&) {
  const OrReason<Nvml> nvml = Nvml::open();
  if (!nvml) throw Error(ExitCode::unfit, nvml.reason());
  return "driver " + nvml->driver_version();
}

std::string cupti_version(const DynamicLibrary& library) {
  std::uint32_t version = 0;                                // 130001, as CUPTI_API_VERSION
  int (*get)(std::uint32_t*) = library["cuptiGetVersion"];  // known without CUPTI's headers
  get(&version);
  return dotted(version / 10000, version / 100 % 100, version % 100);
}

std::string nccl_version(const DynamicLibrary& library) {
  int version = 0;  // 22809, as NCCL_VERSION_CODE since 2.9
  const decltype(&ncclGetVersion) get = library["ncclGetVersion"];
  get(&version);
  return dotted(version / 10000, version / 100 % 100, version % 100);
}

std::string nvjitlink_version(const DynamicLibrary& library) {
  unsigned major = 0, minor = 0;
  const decltype(&nvJitLinkVersion) get = library["nvJitLinkVersion"];
  get(&major, &minor);
  return dotted(major, minor);
}

// "Cuda compilation tools, release 13.2, V13.2.86"
Software tool(const char* name) {
  try {
    const std::string path = find_tool(name);
    const std::string text = run_tool({path, "--version"}).text;
    const std::size_t begin = text.find(", V");
    const std::string version = begin == std::string::npos
                                    ? ""
                                    : text.substr(begin + 3, text.find('\n', begin) - begin - 3);
    return {.name = name, .version = version, .path = without_home(path)};
  } catch (const Error& error) {
    return {.name = name, .missing = error.what()};
  }
}

}  // namespace

std::vector<Software> installed_software() {
  return {opened("CUDA driver", Library::cuda_driver, cuda_driver_version),
          opened("NVML", Library::nvml, nvml_version),
          opened("CUPTI", Library::cupti, cupti_version),
          opened("NCCL", Library::nccl, nccl_version),
          opened("nvJitLink", Library::nvjitlink, nvjitlink_version),
          located("cuBLASLt", Library::cublaslt),
          tool("nvdisasm"),
          tool("cuobjdump")};
}

}  // namespace assay
