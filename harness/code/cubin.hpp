// SPDX-License-Identifier: Apache-2.0
// The device code inside a file, and the kernels inside the device code.
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/callable.hpp"
#include "harness/target.hpp"

namespace assay {

class ElfImage;
class Error;

// One device ELF image (cubin).
struct DeviceCode {
  std::string arch;  // "sm_90a", spelled like name(Target)
  std::vector<char> elf;
  std::vector<std::string> kernels;  // symbols of the entry functions, mangled
};

// Visits every device image in a cubin, a fat binary, or a host object, archive, executable or
// shared library, one at a time: cuBLASLt unpacks to gigabytes. Needs libzstd or cuobjdump where
// code is compressed with Zstandard. Throws Error(usage) if the file cannot be read, is damaged or
// holds no device code; never crashes on strange bytes. With `pass_over`, an image that is damaged
// is told to it, and the others are visited. With `architecture`, a number such as 90, what is
// known to be of another one is passed over without a copy.
using DeviceCodeVisitor = Callable<void(DeviceCode)>;
using DamageVisitor = Callable<void(const Error&)>;
void visit_device_code(const std::filesystem::path& file, const DeviceCodeVisitor& visit,
                       const DamageVisitor& pass_over = {}, int architecture = 0);

// All of them.
std::vector<DeviceCode> extract(const std::filesystem::path& file, int architecture = 0);

// Every uncompressed PTX text that nvcc put into the running program, for as long as it runs: a
// hundred megabytes, which take longer to copy than to go through.
std::vector<std::string_view> program_ptx();

// One image that is already in memory. Throws Error(usage) if it is no device ELF.
DeviceCode device_code(std::vector<char> elf);

// "sm_90a": the architecture an image was compiled for.
std::string device_arch(const ElfImage& image);

// The name as written in C++, with parameters, or `symbol` itself if it is not mangled.
std::string demangled(const std::string& symbol);

// Whether `symbol` is the kernel a person calls `name`: its base name ("chase"), with any of its
// namespaces ("memory::chase") and with template arguments ("chase<4>") or without, which then
// stands for every instantiation, or with the first of them ("chase<4"), for all that begin so.
// Anonymous namespaces need not be written, nor suffixes of integers (4 is 4u). The symbol itself
// is a name too.
bool is_kernel(const std::string& symbol, std::string_view name);

struct KernelSymbol {
  const DeviceCode* code;
  std::string symbol;
};

// The kernel called `name` in code for exactly `target`. Where kernels in the anonymous namespaces
// of several files share a name, `source` (the file's path, "probes/memory/latency.cu") decides.
// Throws Error(usage) that lists the candidates if the name is still ambiguous.
std::optional<KernelSymbol> find_kernel(std::span<const DeviceCode> codes, Target target,
                                        std::string_view name, std::string_view source = {});

}  // namespace assay
