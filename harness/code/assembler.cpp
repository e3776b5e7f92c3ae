// SPDX-License-Identifier: Apache-2.0
#include "harness/code/assembler.hpp"

#include <malloc.h>
#include <nvJitLink.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "harness/code/elf.hpp"
#include "harness/code/sha256.hpp"
#include "harness/error.hpp"
#include "harness/machine/dynamic_library.hpp"
#include "harness/machine/files.hpp"
#include "harness/machine/process.hpp"

namespace assay {
namespace {
namespace fs = std::filesystem;

// nvJitLink takes megabytes for each module and gives them back at once. Kept for the next one,
// they need not be mapped and cleared again, which is an eighth of the time for thousands of
// modules.
void keep_freed_memory() {
  constexpr int kMiB = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 32 * kMiB);  // the most that glibc takes
  mallopt(M_TRIM_THRESHOLD, 256 * kMiB);
}

// nvJitLink.h calls versioned names; the library exports those without a version beside them.
struct NvJitLink {
  DynamicLibrary library = DynamicLibrary::open(Library::nvjitlink);
  decltype(&nvJitLinkCreate) create = library["nvJitLinkCreate"];
  decltype(&nvJitLinkDestroy) destroy = library["nvJitLinkDestroy"];
  decltype(&nvJitLinkAddData) add_data = library["nvJitLinkAddData"];
  decltype(&nvJitLinkComplete) complete = library["nvJitLinkComplete"];
  decltype(&nvJitLinkGetLinkedCubinSize) cubin_size = library["nvJitLinkGetLinkedCubinSize"];
  decltype(&nvJitLinkGetLinkedCubin) cubin = library["nvJitLinkGetLinkedCubin"];
  decltype(&nvJitLinkGetErrorLogSize) error_log_size = library["nvJitLinkGetErrorLogSize"];
  decltype(&nvJitLinkGetErrorLog) error_log = library["nvJitLinkGetErrorLog"];
  decltype(&nvJitLinkGetInfoLogSize) info_log_size = library["nvJitLinkGetInfoLogSize"];
  decltype(&nvJitLinkGetInfoLog) info_log = library["nvJitLinkGetInfoLog"];
  decltype(&nvJitLinkVersion) version = library["nvJitLinkVersion"];
  std::string identity = describe();

  static const NvJitLink& instance() {
    static const NvJitLink opened = [] {
      keep_freed_memory();
      return NvJitLink();
    }();
    return opened;
  }

 private:
  // The API version has no patch level, and patches change code: the file's size tells them apart.
  std::string describe() const {
    unsigned major = 0, minor = 0;
    version(&major, &minor);
    std::error_code ignored;
    return "nvJitLink " + std::to_string(major) + "." + std::to_string(minor) + " " +
           std::to_string(fs::file_size(library.path(), ignored));
  }
};

// Whether the library assembles for it. There is no list to ask for.
bool knows(const NvJitLink& api, const std::string& architecture) {
  const std::string arch = "-arch=" + architecture;
  const char* options[] = {arch.c_str()};
  nvJitLinkHandle handle = nullptr;
  if (api.create(&handle, 1, options) != 0) return false;
  api.destroy(&handle);
  return true;
}

// Why the library refuses an architecture. A target that no library knows any more, or none ever
// did, is a wrong argument; one that a newer library may know is not.
Error refusal(const NvJitLink& api, const std::string& architecture) {
  constexpr int kFirst = 50, kEnd = 300;
  int asked = 0, oldest = kEnd, newest = 0;
  for (const char c : architecture)
    if (c >= '0' && c <= '9' && asked < kEnd) asked = 10 * asked + (c - '0');
  for (int number = kFirst; number < kEnd; ++number)
    if (knows(api, "sm_" + std::to_string(number))) {
      oldest = std::min(oldest, number);
      newest = number;
    }
  if (newest == 0) return {ExitCode::unfit, api.identity + " assembles for no target; mend it"};
  const std::string start = "unknown target '" + architecture + "': " + api.identity;
  if (asked > newest)
    return {ExitCode::unfit, start + " knows none newer than sm_" + std::to_string(newest) +
                                 "; install a newer one"};
  return {ExitCode::usage, start + " knows some from sm_" + std::to_string(oldest) +
                               ", the oldest, to sm_" + std::to_string(newest) +
                               "; choose one of them"};
}

class Session {
 public:
  Session(const NvJitLink& api, const std::string& architecture) : api_(api) {
    const std::string arch = "-arch=" + architecture;
    const char* options[] = {arch.c_str(), "-O3"};
    if (api_.create(&handle_, std::size(options), options) != 0) throw refusal(api, architecture);
  }
  ~Session() { api_.destroy(&handle_); }
  Session(const Session&) = delete;  // owns the handle
  Session& operator=(const Session&) = delete;

  nvJitLinkHandle get() const { return handle_; }

  std::string text(decltype(NvJitLink::info_log_size) size_of,
                   decltype(NvJitLink::info_log) data_of) const {
    std::size_t size = 0;
    if (size_of(handle_, &size) != 0 || size == 0) return {};
    std::string text(size, '\0');
    if (data_of(handle_, text.data()) != 0) return {};
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
  }

 private:
  const NvJitLink& api_;
  nvJitLinkHandle handle_ = nullptr;
};

Assembled assemble_now(const NvJitLink& api, std::string_view ptx, std::string_view architecture) {
  const Session session(api, std::string(architecture));
  int status = api.add_data(session.get(), NVJITLINK_INPUT_PTX, ptx.data(), ptx.size(), nullptr);
  if (status == 0) status = api.complete(session.get());

  Assembled result;
  if (status != 0) {
    result.log = session.text(api.error_log_size, api.error_log);
    if (result.log.empty()) result.log = "nvJitLink status " + std::to_string(status);
    return result;
  }
  result.log = session.text(api.info_log_size, api.info_log);
  std::size_t size = 0;
  if (api.cubin_size(session.get(), &size) == 0) result.cubin.resize(size);
  if (result.cubin.empty() || api.cubin(session.get(), result.cubin.data()) != 0)
    throw Error(ExitCode::failed,
                "nvJitLink assembled for " + std::string(architecture) + " but returned no cubin");
  return result;
}

// A cached file is the cubin itself, ready for nvdisasm. One that a crash cut short counts as
// absent.
std::optional<std::vector<char>> read_cache(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::nullopt;
  std::vector<char> cubin{std::istreambuf_iterator<char>(stream), {}};
  try {
    const ElfImage whole(cubin);
  } catch (const Error&) {
    return std::nullopt;
  }
  return cubin;
}

}  // namespace

std::string assembler_identity() { return NvJitLink::instance().identity; }

Assembled try_assemble_anew(std::string_view ptx, std::string_view architecture) {
  return assemble_now(NvJitLink::instance(), ptx, architecture);
}

std::string find_ptxas() {
  try {
    return find_tool("ptxas");
  } catch (const Error&) {
    return {};
  }
}

Assembled try_assemble_by_ptxas(std::string_view ptx, std::string_view architecture) {
  const std::string tool = find_ptxas();
  if (tool.empty()) return {.cubin = {}, .log = "there is no ptxas"};
  const ToolOutput output = run_tool(
      {tool, "-arch=" + std::string(architecture), "-O3", kToolInput, "-o", "/dev/stdout"}, ptx);
  Assembled result{.cubin = {}, .log = output.errors};
  if (output.status == 0) result.cubin.assign(output.text.begin(), output.text.end());
  return result;
}

Assembled try_assemble(std::string_view ptx, std::string_view architecture) {
  const NvJitLink& api = NvJitLink::instance();
  const std::string key = api.identity + "\n-O3 " + std::string(architecture) + "\n";
  const fs::path file = cache_path(sha256(key + std::string(ptx)) + ".cubin");
  if (file.empty()) return assemble_now(api, ptx, architecture);
  if (std::optional<std::vector<char>> cubin = read_cache(file))
    return {.cubin = std::move(*cubin), .from_cache = true};
  Assembled result = assemble_now(api, ptx, architecture);
  if (!result.cubin.empty()) keep_in_cache(file, {result.cubin.data(), result.cubin.size()});
  return result;
}

Assembled assemble(std::string_view ptx, std::string_view architecture) {
  Assembled result = try_assemble(ptx, architecture);
  if (!result.cubin.empty()) return result;
  std::string words;
  for (const char c : result.log) words += c == '\n' ? std::string("; ") : std::string(1, c);
  throw Error(ExitCode::failed,
              "the assembler rejects this PTX for " + std::string(architecture) + ": " + words);
}

std::vector<char> assemble(const KernelUse& use, Target target) {
  Assembled result = assemble(use.ptx, target);
  if (use.edit) use.edit(result.cubin);
  return std::move(result.cubin);
}

}  // namespace assay
