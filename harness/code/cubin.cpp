// SPDX-License-Identifier: Apache-2.0
#include "harness/code/cubin.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "harness/callable.hpp"
#include "harness/code/archive.hpp"
#include "harness/code/elf.hpp"
#include "harness/code/fatbin.hpp"
#include "harness/error.hpp"
#include "harness/machine/dynamic_library.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/machine/files.hpp"
#include "harness/machine/process.hpp"

namespace assay {
namespace {
namespace fs = std::filesystem;

constexpr std::uint8_t kCudaEntry = 0x10;  // STO_CUDA_ENTRY in st_other: a __global__
// A file's device code, unpacked: cuBLASLt's 540 MB hold 2 GB.
constexpr std::uint64_t kMostDeviceCode = std::uint64_t{16} << 30;  // bytes
constexpr std::uint64_t kMostTimesTheFile = 1000;
constexpr std::size_t kLongestSymbol = 64 * 1024;               // characters
constexpr std::size_t kMostSymbolText = std::size_t{64} << 20;  // of all kernels of an image
constexpr std::size_t kLongestDemangled = 64 * 1024;
constexpr int kMostApart = 2000;  // names that are demangled in a process of their own
constexpr std::uint8_t kArchitectureSpecific = 0x09;  // attribute of .nv.compat: 1 for "a" targets

// A file mapped into memory: a 20 MB executable is searched without reading all of it.
class MappedFile {
 public:
  explicit MappedFile(const fs::path& path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    }
    const int error = errno;
    if (descriptor >= 0) close(descriptor);
    if (data_ == MAP_FAILED)
      throw Error(ExitCode::usage, "cannot read " + path.string() + ": " +
                                       (descriptor < 0 ? std::strerror(error)
                                                       : "it is empty or not a regular file"));
  }
  ~MappedFile() { munmap(data_, size_); }
  MappedFile(const MappedFile&) = delete;  // owns the mapping
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const char> bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = MAP_FAILED;
  std::size_t size_ = 0;
};

using CubinVisitor = Callable<void(std::vector<char>)>;
void visit_by_cuobjdump(const fs::path& file, const CubinVisitor& visit) {
  const PrivateFolder folder;
  const ToolOutput output = run_tool(
      {find_tool("cuobjdump"), "-xelf", "all", fs::absolute(file).string()}, {}, folder.path());
  if (output.status != 0)
    throw Error(ExitCode::usage, "cuobjdump cannot read " + file.string() + ": " +
                                     output.errors.substr(0, output.errors.find('\n')));
  for (const fs::directory_entry& found : fs::directory_iterator(folder.path())) {
    std::ifstream stream(found.path(), std::ios::binary);
    visit({std::istreambuf_iterator<char>(stream), {}});
  }
}

// The fat binaries and cubins in a file, at any depth.
using BytesVisitor = Callable<void(std::span<const char>)>;
void visit_containers(std::span<const char> bytes, const BytesVisitor& visit) {
  if (is_archive(bytes)) {
    for (const std::span<const char> member : archive_members(bytes))
      if (!is_archive(member)) visit_containers(member, visit);
  } else if (is_fatbin(bytes)) {
    visit(bytes);
  } else if (ElfImage::is_elf(bytes)) {
    const ElfImage image(bytes);
    if (image.machine() == kMachineCuda) return visit(bytes);
    // nvcc's own sections, and those that a library fills with fat binaries and reads itself, such
    // as .cask_resource of cuBLASLt.
    for (const ElfSection& section : image.sections())
      if (section.name == ".nv_fatbin" || section.name == "__nv_relfatbin" ||
          is_fatbin(section.bytes))
        visit(section.bytes);
  }
}

// The qualified name alone, without return type, parameters, blanks, unnamed namespaces, those of
// joined files and the suffixes of integer literals:
// "void in_chase_cu_::(anonymous namespace)::chase<4u, float>(int*)" becomes "chase<4,float>".
std::string plain_name(std::string_view text) {
  if (text.starts_with("void ")) text.remove_prefix(5);
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  std::string plain;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(kUnnamed)) {
      i += kUnnamed.size() - 1;
      continue;
    }
    // nvcc's namespace for internal linkage under -rdc=true, and assay_join_cuda()'s for a file.
    const bool inside_name =
        !plain.empty() &&
        (std::isalnum(static_cast<unsigned char>(plain.back())) || plain.back() == '_');
    if (!inside_name &&
        (text.substr(i).starts_with("_INTERNAL_") || text.substr(i).starts_with("in_"))) {
      const std::size_t end = text.find("::", i);
      if (end != text.npos && (text[i] == '_' || text.substr(0, end).ends_with("_cu_"))) {
        i = end + 1;
        continue;
      }
    }
    const char c = text[i];
    if (c == '(' && depth == 0) break;  // the parameters
    depth += (c == '<') - (c == '>');
    if (c == ' ') continue;
    const bool ends_argument = c == ',' || c == '>';
    if (ends_argument && depth >= 0) {
      std::size_t digits = plain.find_last_not_of("ul");
      if (digits != plain.npos && std::isdigit(static_cast<unsigned char>(plain[digits]))) {
        const std::size_t start = plain.find_last_not_of("0123456789", digits);
        if (start != plain.npos && std::string_view("<,-)").find(plain[start]) != std::string::npos)
          plain.resize(digits + 1);
      }
    }
    plain += c;
  }
  return plain;
}

std::string without_template_arguments(std::string name) {
  if (!name.ends_with('>')) return name;
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    depth += (name[i] == '>') - (name[i] == '<');
    if (depth == 0) return name.substr(0, i);
  }
  return name;
}

bool is_unclosed(std::string_view name) {
  return std::ranges::count(name, '<') > std::ranges::count(name, '>');
}

// Whether a plain name has, at its beginning or behind a namespace, this one whose template
// arguments go on: "n::copy<16,float4>" has "copy<16", and not "copy<1".
bool goes_on(std::string_view name, std::string_view begun) {
  int depth = 0;
  for (std::size_t i = 0; i + begun.size() < name.size(); ++i) {
    const bool begins = i == 0 || (depth == 0 && name.substr(0, i).ends_with("::"));
    if (begins && name.substr(i).starts_with(begun)) {
      constexpr std::string_view kBefore = "<,", kBehind = ",>";  // of an argument
      return kBefore.find(begun.back()) != kBefore.npos ||
             kBehind.find(name[i + begun.size()]) != kBehind.npos;
    }
    depth += (name[i] == '<') - (name[i] == '>');
  }
  return false;
}

}  // namespace

namespace {

std::string demangle_at_once(const std::string& symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text ? text : symbol;
  std::free(text);
  return result;
}

// An upper bound of what a name becomes: each reference to an earlier part ("S1_", "T_") stands at
// most for all before it. A thousand characters can stand for more than there are atoms.
bool may_be_long(const std::string& symbol) {
  double length = 0;
  for (std::size_t i = 0; i < symbol.size(); ++i) {
    ++length;
    if (symbol[i] != 'S' && symbol[i] != 'T') continue;
    const std::size_t end = symbol.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", i + 1);
    if (end != symbol.npos && symbol[end] == '_') length *= 2;
  }
  return length > kLongestDemangled;
}

}  // namespace

std::string demangled(const std::string& symbol) {
  // Other names are C's, also those that would be types: "i" is int to the demangler.
  if (!symbol.starts_with("_Z") || symbol.size() > kLongestSymbol) return symbol;
  if (!may_be_long(symbol)) return demangle_at_once(symbol);
  // Long names of templates look the same to the bound above as those that never end.
  static std::atomic<int> apart{0};
  if (++apart > kMostApart) return symbol;
  const auto text = call_apart([&] { return demangle_at_once(symbol); }, kLongestDemangled);
  return text ? *text : symbol;
}

bool is_kernel(const std::string& symbol, std::string_view name) {
  if (symbol == name) return true;
  if (!symbol.starts_with("_Z")) return false;
  std::string wanted = plain_name(name);
  const bool unclosed = is_unclosed(wanted);
  if (unclosed) {  // a comma ends the last argument, as it does within a name
    wanted = plain_name(std::string(name) + ",");
    wanted.pop_back();
  }
  // A mangled name holds its identifiers as they are, so most symbols need no demangling.
  std::string base = wanted.substr(0, wanted.find('<'));
  if (const std::size_t colon = base.rfind(':'); colon != base.npos) base.erase(0, colon + 1);
  if (symbol.find(base) == symbol.npos) return false;

  std::string found = plain_name(demangled(symbol));
  if (unclosed) return goes_on(found, wanted);
  if (!wanted.ends_with('>')) found = without_template_arguments(std::move(found));
  return found == wanted || found.ends_with("::" + wanted);
}

std::string device_arch(const ElfImage& image) {
  // Since CUDA 13 (ABI version 8) the SM number is in bits 8..15 of e_flags, before that in 0..7,
  // with bit 11 for "a".
  const bool current = image.abi_version() >= 8;
  const std::uint32_t number = (current ? image.flags() >> 8 : image.flags()) & 0xff;
  bool specific = !current && (image.flags() & 0x800) != 0;
  if (const ElfSection* compat = image.section(".nv.compat")) {
    // Records of {format u8, attribute u8, value u16}; format 4 has `value` more bytes.
    for (std::size_t at = 0; at + 4 <= compat->bytes.size();) {
      const auto* record = reinterpret_cast<const unsigned char*>(compat->bytes.data() + at);
      const unsigned value = record[2] | record[3] << 8;
      if (record[0] != 4 && record[1] == kArchitectureSpecific) specific = value == 1;
      at += 4 + (record[0] == 4 ? value : 0);
    }
  }
  return "sm_" + std::to_string(number) + (specific ? "a" : "");
}

DeviceCode device_code(std::vector<char> elf) {
  const ElfImage image(elf);
  if (image.machine() != kMachineCuda)
    throw Error(ExitCode::usage, "not device code: the ELF image is for another machine");
  DeviceCode code{.arch = device_arch(image), .elf = {}, .kernels = {}};
  std::size_t total = 0;
  for (const ElfSymbol& symbol : image.symbols())
    if (symbol.type == STT_FUNC && (symbol.other & kCudaEntry) && symbol.section != SHN_UNDEF) {
      // Names in a damaged file may overlap, each as long as the file.
      total += symbol.name.size();
      if (symbol.name.size() > kLongestSymbol || total > kMostSymbolText)
        throw Error(ExitCode::usage,
                    fmt::format("damaged ELF image: names of kernels have more than {} characters, "
                                "or {} in all; build or copy the file again",
                                kLongestSymbol, kMostSymbolText));
      // PTX has letters, digits, '_', '$' and '%' in names; what moves a cursor must not be shown.
      if (printable(symbol.name) != symbol.name)
        throw Error(
            ExitCode::usage,
            fmt::format("damaged ELF image: the name of kernel '{}' has characters that are "
                        "no text; build or copy the file again",
                        excerpt(symbol.name)));
      code.kernels.emplace_back(symbol.name);
    }
  code.elf = std::move(elf);
  return code;
}

void visit_device_code(const fs::path& file, const DeviceCodeVisitor& visit,
                       const DamageVisitor& pass_over, int architecture) try {
  const MappedFile mapped(file);
  bool any = false;
  const std::uint64_t most = std::min(kMostDeviceCode, mapped.bytes().size() * kMostTimesTheFile);
  std::uint64_t total = 0;
  // What is wrong with one image; what `visit` throws is the caller's.
  const auto read = [&](std::vector<char> elf) -> std::optional<DeviceCode> {
    try {
      return device_code(std::move(elf));
    } catch (const Error& error) {
      if (!pass_over) throw;
      pass_over(error);
      return std::nullopt;
    }
  };
  const auto take = [&](std::vector<char> elf) {
    std::optional<DeviceCode> code = read(std::move(elf));
    if (!code) return;
    any = true;
    total += code->elf.size();
    if (total > most)
      throw Error(ExitCode::usage, fmt::format("its device code has more than {} bytes unpacked; "
                                               "no more are read",
                                               most));
    visit(std::move(*code));
  };
  bool readable = true;
  visit_containers(mapped.bytes(), [&](auto bytes) { readable = readable && can_unpack(bytes); });
  if (readable)
    visit_containers(mapped.bytes(), [&](std::span<const char> bytes) {
      if (ElfImage::is_elf(bytes)) return take({bytes.begin(), bytes.end()});
      for_each_cubin(bytes, take, architecture);
    });
  else
    visit_by_cuobjdump(file, take);
  if (!any)
    throw Error(ExitCode::usage,
                "no device code in it; give a cubin, a fat binary, or an object, archive, "
                "executable or library built by nvcc");
} catch (const Error& error) {
  const std::string what = error.what();
  if (what.find(file.string()) != what.npos) throw;
  throw Error(error.code(), file.string() + ": " + what);
}

std::vector<std::string_view> program_ptx() {
  static const MappedFile mapped("/proc/self/exe");
  std::vector<std::string_view> texts;
  visit_containers(mapped.bytes(), [&](std::span<const char> bytes) {
    if (!ElfImage::is_elf(bytes))
      for_each_ptx(bytes, [&](std::string_view text) { texts.push_back(text); });
  });
  return texts;
}

std::vector<DeviceCode> extract(const fs::path& file, int architecture) {
  std::vector<DeviceCode> codes;
  visit_device_code(
      file, [&](DeviceCode code) { codes.push_back(std::move(code)); }, {}, architecture);
  return codes;
}

std::optional<KernelSymbol> find_kernel(std::span<const DeviceCode> codes, Target target,
                                        std::string_view name_wanted, std::string_view source) {
  std::vector<KernelSymbol> found;
  for (const DeviceCode& code : codes) {
    if (code.arch != name(target)) continue;
    for (const std::string& symbol : code.kernels) {
      if (!is_kernel(symbol, name_wanted)) continue;
      // A template instantiated in several files is one kernel.
      if (std::ranges::find(found, symbol, &KernelSymbol::symbol) == found.end())
        found.push_back({&code, symbol});
    }
  }
  if (found.size() > 1 && !source.empty()) {
    // nvcc names the anonymous namespace of a file latency.cu ..._latency_cu_..., and
    // assay_join_cuda() that of a file which is compiled with others in_latency_cu_.
    const std::string mark = "_" + fs::path(source).stem().string() + "_cu_";
    std::vector<KernelSymbol> in_source;
    for (const KernelSymbol& kernel : found)
      if (kernel.symbol.find(mark) != std::string::npos) in_source.push_back(kernel);
    if (!in_source.empty()) found = std::move(in_source);
  }
  if (found.size() > 1) {
    std::string list;
    for (const KernelSymbol& kernel : found) {
      list += list.empty() ? "" : ", ";
      list += plain_name(demangled(kernel.symbol));
    }
    throw Error(ExitCode::usage, "'" + std::string(name_wanted) + "' could be any of: " + list +
                                     "; write the template arguments or a namespace");
  }
  if (found.empty()) return std::nullopt;
  return found.front();
}

}  // namespace assay
