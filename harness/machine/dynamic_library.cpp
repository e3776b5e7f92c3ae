// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/dynamic_library.hpp"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "harness/error.hpp"
#include "harness/machine/files.hpp"

namespace assay {
namespace {
namespace fs = std::filesystem;

struct Row {
  std::string_view title;
  const char* override_variable;
  std::array<const char*, 2> sonames;  // newest ABI first; unused entries are null
};

// Indexed by Library. Only ABIs the code was written against are tried.
constexpr Row kRows[] = {
    {"the CUDA driver", "ASSAY_CUDA_DRIVER_LIBRARY", {"libcuda.so.1"}},
    {"NVML", "ASSAY_NVML_LIBRARY", {"libnvidia-ml.so.1"}},
    {"CUPTI", "ASSAY_CUPTI_LIBRARY", {"libcupti.so.13"}},
    {"the NVPERF host library", "ASSAY_NVPERF_HOST_LIBRARY", {"libnvperf_host.so"}},
    {"NCCL", "ASSAY_NCCL_LIBRARY", {"libnccl.so.2"}},
    {"nvJitLink", "ASSAY_NVJITLINK_LIBRARY", {"libnvJitLink.so.13"}},
    {"cuBLASLt", "ASSAY_CUBLASLT_LIBRARY", {"libcublasLt.so.13", "libcublasLt.so.12"}},
    {"Zstandard", "ASSAY_ZSTD_LIBRARY", {"libzstd.so.1"}},
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void append_matches(std::vector<fs::path>& paths, const std::string& pattern) {
  glob_t matches{};
  if (glob(pattern.c_str(), 0, nullptr, &matches) == 0)
    for (std::size_t i = 0; i < matches.gl_pathc; ++i) paths.emplace_back(matches.gl_pathv[i]);
  globfree(&matches);
}

std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders;
#ifdef ASSAY_CUDA_LIBRARY_DIR
  folders.emplace_back(ASSAY_CUDA_LIBRARY_DIR);
#endif
#ifdef ASSAY_EXTRA_CUDA_DIR
  folders.emplace_back(ASSAY_EXTRA_CUDA_DIR "/lib");
#endif
  if (const std::string home = environment("CUDA_HOME"); !home.empty())
    folders.push_back(fs::path(home) / "lib64");
  folders.emplace_back("/usr/local/cuda/lib64");
  const std::string packages = "/lib/python3*/site-packages/nvidia/*/lib";
  for (const fs::path& folder : ancestors(executable_folder())) {
    append_matches(folders, (folder / ".toolchain/nvidia/*/lib").string());
    append_matches(folders, (folder / ".venv").string() + packages);
  }
  if (const std::string venv = environment("VIRTUAL_ENV"); !venv.empty())
    append_matches(folders, venv + packages);
  append_matches(folders, "/opt/*/.venv" + packages);
  append_matches(folders, "/usr/local/lib/python3*/dist-packages/nvidia/*/lib");
  return folders;
}

std::vector<fs::path> tool_folders() {
  std::vector<fs::path> folders = folders_of("PATH");
  if (const std::string home = environment("CUDA_HOME"); !home.empty())
    folders.push_back(fs::path(home) / "bin");
#ifdef ASSAY_CUDA_LIBRARY_DIR
  folders.push_back(fs::path(ASSAY_CUDA_LIBRARY_DIR) / "../bin");
#endif
#ifdef ASSAY_EXTRA_CUDA_DIR
  folders.emplace_back(ASSAY_EXTRA_CUDA_DIR "/bin");
#endif
  folders.emplace_back("/usr/local/cuda/bin");
  for (const fs::path& folder : ancestors(executable_folder()))
    append_matches(folders, (folder / ".toolchain/nvidia/*/bin").string());
  return folders;
}

}  // namespace

DynamicLibrary DynamicLibrary::open(Library which) {
  const Row& row = kRows[static_cast<int>(which)];
  const auto try_open = [](const std::string& file) {
    return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  };
  const std::string prefix = "cannot open " + std::string(row.title) + ": ";
  const std::string variable = row.override_variable;

  // A person who names a file wants that file: there is no falling back to another.
  if (const std::string chosen = environment(row.override_variable); !chosen.empty()) {
    if (void* handle = try_open(chosen)) return {handle, row.title};
    throw Error(ExitCode::unfit, prefix + dlerror() + "; correct or unset " + variable);
  }
  for (const char* soname : row.sonames)
    if (void* handle = soname ? try_open(soname) : nullptr) return {handle, row.title};

  std::string broken;  // why a file that does exist could not be opened
  const std::vector<fs::path> folders = library_folders();
  for (const char* soname : row.sonames) {
    if (!soname) continue;
    for (const fs::path& folder : folders) {
      const fs::path file = folder / soname;
      if (std::error_code ignored; !fs::exists(file, ignored)) continue;
      if (void* handle = try_open(file.string())) return {handle, row.title};
      broken = dlerror();
    }
  }
  const std::string reason =
      broken.empty()
          ? std::string(row.sonames[0]) +
                " is neither on the loader's path nor in a CUDA toolkit or Python package"
          : broken;
  throw Error(ExitCode::unfit,
              prefix + reason + "; install it or set " + variable + " to its path");
}

std::string DynamicLibrary::locate(Library which) {
  const Row& row = kRows[static_cast<int>(which)];
  std::error_code ignored;
  if (const std::string chosen = environment(row.override_variable); !chosen.empty())
    return fs::exists(chosen, ignored) ? chosen : "";
  std::vector<fs::path> loader = folders_of("LD_LIBRARY_PATH");
  for (const char* system :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"})
    loader.emplace_back(system);
  for (const std::vector<fs::path>& folders : {loader, library_folders()})
    for (const char* soname : row.sonames)
      for (const fs::path& folder : folders)
        if (soname && fs::exists(folder / soname, ignored)) return (folder / soname).string();
  return "";
}

void* DynamicLibrary::address(const char* name, bool required) const {
  void* const found = dlsym(handle_, name);
  if (found || !required) return found;
  throw Error(ExitCode::unfit, std::string(title_) + " at " + path() + " has no " + name +
                                   ": it is older than this program needs; install a newer one");
}

std::string DynamicLibrary::path() const {
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || !map) return std::string(title_);
  return map->l_name;
}

std::string find_tool(std::string_view name) {
  std::string variable = "ASSAY_";
  for (const char c : name) variable += static_cast<char>(std::toupper(c));
  if (const std::string chosen = environment(variable.c_str()); !chosen.empty()) {
    if (is_executable(chosen)) return chosen;
    throw Error(ExitCode::unfit, variable + " names '" + chosen + "', which cannot be executed");
  }
  for (const fs::path& folder : tool_folders())
    if (is_executable(folder / name)) return (folder / name).string();
  throw Error(ExitCode::unfit, "cannot find " + std::string(name) +
                                   " on PATH or in a CUDA toolkit; install it or set " + variable +
                                   " to its path");
}

}  // namespace assay
