// SPDX-License-Identifier: Apache-2.0
#include "harness/code/disassembly.hpp"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>

#include "harness/code/cubin.hpp"
#include "harness/code/elf.hpp"
#include "harness/code/sha256.hpp"
#include "harness/error.hpp"
#include "harness/machine/dynamic_library.hpp"
#include "harness/machine/files.hpp"
#include "harness/machine/parallel.hpp"
#include "harness/machine/process.hpp"

namespace assay {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kInstructionBytes = 16;  // since sm_70
constexpr std::size_t kProcessBytes = std::size_t{32768} * kInstructionBytes;
constexpr std::uint8_t kAttributeRegisters = 0x2f;   // EIATTR_REGCOUNT
constexpr std::uint8_t kAttributeFrame = 0x11;       // EIATTR_FRAME_SIZE
constexpr std::uint8_t kAttributeMaxThreads = 0x05;  // EIATTR_MAX_THREADS: x, y, z
constexpr std::uint8_t kAttributeThreads = 0x10;     // EIATTR_REQNTID: x, y, z

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// Instructions whose last operand, if it is a number, is a code address.
bool names_an_address(const Instruction& instruction) {
  constexpr std::string_view kOpcodes[] = {"BRA",  "BSSY",     "CALL", "RET", "JMP",
                                           "JMXU", "WARPSYNC", "LEPC", "BRXU"};
  return std::ranges::any_of(kOpcodes, [&](auto opcode) { return instruction.is(opcode); });
}

// A function on its way from the ELF image to the disassembler.
struct Job {
  Function function;
  std::span<const char> text;
  std::map<std::uint32_t, std::string> relocated;  // address of an instruction to its symbol
};

// Calls visit(attribute, words) for each record of a .nv.info section that has a payload of words:
// {format u8 = 4, attribute u8, size u16, words} among others of {format, attribute, value u16} (as
// `cuobjdump -elf` prints them).
template <class Visit>
void for_each_attribute(const ElfSection* info, const Visit& visit) {
  if (!info) return;
  std::vector<std::uint32_t> words;
  for (std::size_t at = 0; at + 4 <= info->bytes.size();) {
    std::uint32_t head;
    std::memcpy(&head, info->bytes.data() + at, sizeof head);
    const std::size_t size = (head & 0xff) == 4 ? head >> 16 : 0;
    if (size > info->bytes.size() - at - 4) return;
    words.resize(size / 4);
    if (!words.empty()) std::memcpy(words.data(), info->bytes.data() + at + 4, words.size() * 4);
    visit(head >> 8 & 0xff, words);
    at += 4 + size;
  }
}

using Words = std::vector<std::uint32_t>;

void read_attributes(const ElfImage& image, Function& function) {
  // Records of all functions: {symbol, value}.
  for_each_attribute(image.section(".nv.info"), [&](std::uint32_t attribute, const Words& words) {
    if (words.size() != 2 || words[0] >= image.symbols().size() ||
        image.symbols()[words[0]].name != function.name)
      return;
    if (attribute == kAttributeRegisters) function.registers = words[1];
    if (attribute == kAttributeFrame) function.stack_bytes = words[1];
  });
  for_each_attribute(image.section(".nv.info." + function.name), [&](std::uint32_t attribute,
                                                                     const Words& words) {
    if (words.size() != 3 || (attribute != kAttributeMaxThreads && attribute != kAttributeThreads))
      return;
    constexpr std::uint32_t kMost = 1024;  // threads of a CTA
    std::uint32_t threads = 1;
    for (const std::uint32_t extent : words) threads *= std::min(extent, kMost);
    function.max_threads = std::min(threads, kMost);
  });
}

Job prepare(const ElfImage& image, const FunctionRef& ref, const std::string& cubin_sha256) {
  const ElfSection* text = image.section(".text." + ref.kernel);
  if (!text || text->bytes.empty() || text->bytes.size() % kInstructionBytes != 0)
    throw Error(ExitCode::usage, "no kernel '" + ref.kernel + "' in this device code");
  Job job{.function = {.name = ref.kernel,
                       .arch = device_arch(image),
                       .cubin_sha256 = cubin_sha256,
                       .code = {},
                       .routines = {}},
          .text = text->bytes,
          .relocated = {}};
  const std::size_t section = static_cast<std::size_t>(text - image.sections().data());
  for (const ElfSymbol& symbol : image.symbols())
    if (symbol.type == STT_FUNC && symbol.section == section && symbol.name != ref.kernel)
      job.function.routines.emplace(symbol.value, symbol.name);
  for (const ElfRelocation& entry : image.relocations(section))
    if (entry.symbol < image.symbols().size())
      job.relocated.emplace(entry.offset / kInstructionBytes * kInstructionBytes,
                            image.symbols()[entry.symbol].name);
  read_attributes(image, job.function);
  return job;
}

// Gives `job` its part of a listing: addresses count from the function's start again, calls get
// the names of their routines.
void take(Job& job, std::span<Instruction> part, std::uint32_t base) {
  for (Instruction& instruction : part) {
    instruction.address -= base;
    std::memcpy(instruction.words.data(), job.text.data() + instruction.address, kInstructionBytes);
    if (instruction.target) {
      const std::uint32_t target = *instruction.target - base;  // below the base: wraps, too far
      const auto relocated = job.relocated.find(instruction.address);
      instruction.target.reset();
      const std::size_t number = instruction.operands.rfind("0x");
      if (relocated != job.relocated.end()) {
        instruction.operands.replace(number, instruction.operands.npos, relocated->second);
        if (instruction.is("CALL")) instruction.callee = relocated->second;
      } else if (target < job.text.size()) {
        char digits[16];
        const auto end = std::to_chars(digits, std::end(digits), target, 16).ptr;
        instruction.operands.replace(number + 2, instruction.operands.npos,
                                     std::string(digits, end));
        instruction.target = target;
        const auto routine = job.function.routines.find(target);
        if (instruction.is("CALL") && routine != job.function.routines.end())
          instruction.callee = routine->second;
      }
    }
    job.function.code.push_back(std::move(instruction));
  }
}

// CUDA 13 dropped what is older than sm_75 (CUDA 13.0 release notes), 12 what is older than sm_50.
std::string fitting_tool(const std::string& arch) {
  int number = 0;
  std::from_chars(arch.data() + std::min<std::size_t>(3, arch.size()), arch.data() + arch.size(),
                  number);
  if (number >= 75 || number == 0) return "a newer one, if the code is whole";
  return number >= 50 ? "one of CUDA 12, since newer ones do not know this target"
                      : "one of CUDA 11, since newer ones do not know this target";
}

// A listing on disk: its SHA-256, a line's end, the listing. One that is damaged counts as absent.
constexpr std::size_t kHashDigits = 64;
std::optional<std::string> read_listing(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(stream), {}};
  const std::string hash = content.substr(0, kHashDigits);
  content.erase(0, kHashDigits + 1);
  if (sha256(content) != hash) return std::nullopt;
  return content;
}

// Where the listing lies of these bytes by this program, another one of the same name included.
fs::path listing_path(const std::string& tool, const std::string& arch,
                      const std::vector<char>& bytes) {
  std::error_code none;
  const auto changed = fs::last_write_time(tool, none).time_since_epoch().count();
  const std::string key = tool + "\n" + std::to_string(fs::file_size(tool, none)) + "\n" +
                          std::to_string(changed) + "\n" + arch + "\n" + sha256(bytes);
  return cache_path(sha256(key) + ".sass");
}

// What nvdisasm lists; `kept`: it may be from disk, and stays there.
ToolOutput list(const std::string& arch, const std::vector<char>& bytes, bool kept) {
  const std::string tool = find_tool("nvdisasm");
  const fs::path file = kept ? listing_path(tool, arch, bytes) : fs::path();
  if (std::optional<std::string> known = read_listing(file))
    return {.status = 0, .text = std::move(*known), .errors = {}};
  ToolOutput output = run_tool({tool, "--binary", "SM" + arch.substr(3), kToolInput}, bytes);
  if (!file.empty() && output.status == 0)
    keep_in_cache(file, sha256(output.text) + "\n" + output.text);
  return output;
}

// Disassembles functions of one architecture, laid one after another, with one process.
void disassemble_together(std::span<Job* const> jobs, bool kept) {
  std::vector<char> bytes;
  for (const Job* job : jobs) bytes.insert(bytes.end(), job->text.begin(), job->text.end());
  const std::string& arch = jobs.front()->function.arch;
  const ToolOutput output = list(arch, bytes, kept);
  const auto refuse = [&](const std::string& why) {
    const std::string end =
        " for " + arch + ": " + why + "; set ASSAY_NVDISASM to " + fitting_tool(arch);
    for (Job* job : jobs) {
      job->function.problem = "nvdisasm cannot disassemble " + job->function.name;
      job->function.problem += end;
    }
  };
  if (output.status != 0) {
    const std::string& words = output.errors.empty() ? output.text : output.errors;
    if (jobs.size() == 1 || words.find("Illegal instruction") == words.npos)
      return refuse(words.substr(0, words.find('\n')));
    disassemble_together(jobs.first(jobs.size() / 2), false);  // find the one to blame
    disassemble_together(jobs.subspan(jobs.size() / 2), false);
    return;
  }
  std::vector<Instruction> listing = parse_listing(output.text);
  if (listing.size() != bytes.size() / kInstructionBytes)
    return refuse("it lists " + std::to_string(listing.size()) + " of " +
                  std::to_string(bytes.size() / kInstructionBytes) + " instructions");
  for (std::size_t i = 0; i < listing.size(); ++i)
    if (listing[i].address != i * kInstructionBytes)
      return refuse("its addresses are out of order");
  std::uint32_t base = 0;
  for (Job* job : jobs) {
    take(*job,
         std::span(listing).subspan(base / kInstructionBytes, job->text.size() / kInstructionBytes),
         base);
    base += static_cast<std::uint32_t>(job->text.size());
  }
}

// `kept`: on disk, too, where it is little. A campaign looks at the same few kernels in process
// after process; the thousands of a whole suite would fill the disk at every build.
void disassemble_all(std::vector<Job>& jobs, bool kept) {
  // Batches hold one architecture each and end at kProcessBytes.
  std::map<std::string, std::vector<Job*>> by_arch;
  for (Job& job : jobs)
    if (job.function.problem.empty()) by_arch[job.function.arch].push_back(&job);
  std::vector<std::vector<Job*>> batches;
  for (const auto& [arch, members] : by_arch) {
    std::size_t size = kProcessBytes;
    for (Job* job : members) {
      if (size + job->text.size() > kProcessBytes) {
        batches.emplace_back();
        size = 0;
      }
      batches.back().push_back(job);
      size += job->text.size();
    }
  }

  on_every_core(batches.size(), [&](std::size_t i) {
    disassemble_together(batches[i], kept && batches.size() == 1);
  });
}

// `hashes`: SHA-256 of images, as far as it is known, by where they lie.
std::vector<Function> disassemble_now(std::span<const FunctionRef> functions, bool kept,
                                      std::map<const char*, std::string> hashes) {
  struct Image {
    ElfImage elf;
    std::size_t text = 0;  // bytes of the kernels asked for
  };
  std::map<const char*, Image> images;  // several kernels of one image
  std::vector<Job> jobs;
  for (const FunctionRef& ref : functions) try {
      auto image = images.find(ref.elf.data());
      if (image == images.end())
        image = images.emplace(ref.elf.data(), Image{ElfImage(ref.elf), 0}).first;
      std::string& hash = hashes[ref.elf.data()];
      if (hash.empty()) hash = sha256(ref.elf);
      Job job = prepare(image->second.elf, ref, hash);
      image->second.text += job.text.size();
      if (image->second.text > ref.elf.size())
        throw Error(ExitCode::usage,
                    "damaged ELF image: its kernels overlap; build or copy the file again");
      jobs.push_back(std::move(job));
    } catch (const Error& error) {
      jobs.push_back({.function = {.name = ref.kernel, .problem = error.what()}});
    }
  disassemble_all(jobs, kept);
  std::vector<Function> found;
  for (Job& job : jobs) found.push_back(std::move(job.function));
  return found;
}

struct Memo {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Function>> function_of;  // by hash of ELF and kernel
};

Memo& memo() {
  static Memo instance;
  return instance;
}

}  // namespace

bool Instruction::is_jump_by_call() const {
  return is("CALL.REL.NOINC") && callee.empty() && target == address + 2 * kInstructionBytes;
}

bool Instruction::is(std::string_view prefix) const {
  return opcode.starts_with(prefix) &&
         (opcode.size() == prefix.size() || opcode[prefix.size()] == '.');
}

std::string Instruction::text() const {
  std::string line = predicate.empty() ? opcode : predicate + " " + opcode;
  return operands.empty() ? line : line + " " + operands;
}

std::vector<Instruction> parse_listing(std::string_view listing) {
  std::vector<Instruction> code;
  while (!listing.empty()) {
    const std::size_t end = std::min(listing.find('\n'), listing.size());
    std::string_view line = trimmed(listing.substr(0, end));
    listing.remove_prefix(std::min(end + 1, listing.size()));
    if (!line.starts_with("/*")) continue;  // headers and blank lines

    //   /*0120*/              @!P0 BRA 0x600 ;
    const std::size_t close = line.find("*/");
    const auto address = close == line.npos ? std::nullopt : parse_hex(line.substr(2, close - 2));
    const std::size_t semicolon = line.rfind(';');
    if (!address || semicolon == line.npos || semicolon < close)
      throw Error(ExitCode::failed, "cannot read nvdisasm's line '" + std::string(line) + "'");
    Instruction instruction;
    instruction.address = static_cast<std::uint32_t>(*address);
    // nvdisasm 13.5 adds remarks such as (*"SpillRefill"*).
    std::string_view rest = line.substr(close + 2, semicolon - close - 2);
    rest = trimmed(rest.substr(0, rest.find("(*")));
    const auto word = [&] {
      const std::size_t length = std::min(rest.find(' '), rest.size());
      const std::string_view first = rest.substr(0, length);
      rest = trimmed(rest.substr(length));
      return std::string(first);
    };
    if (rest.starts_with('@')) instruction.predicate = word();
    instruction.opcode = word();
    instruction.operands = rest;
    if (names_an_address(instruction)) {
      const std::size_t last = rest.find_last_of(" ,");
      const std::string_view number = last == rest.npos ? rest : rest.substr(last + 1);
      if (number.starts_with("0x"))
        if (const auto target = parse_hex(number.substr(2)))
          instruction.target = static_cast<std::uint32_t>(*target);
    }
    code.push_back(std::move(instruction));
  }
  return code;
}

std::vector<Function> disassemble_anew(std::span<const FunctionRef> functions) {
  return disassemble_now(functions, false, {});
}

std::vector<std::shared_ptr<const Function>> disassemble(std::span<const FunctionRef> functions) {
  std::vector<std::string> keys;
  std::vector<FunctionRef> missing;
  std::vector<std::string> missing_keys;
  std::set<std::string> seen;
  std::map<const char*, std::string> hashes;
  for (const FunctionRef& ref : functions) {
    std::string& hash = hashes[ref.elf.data()];
    if (hash.empty()) hash = sha256(ref.elf);
    keys.push_back(hash + " " + ref.kernel);
    if (!seen.insert(keys.back()).second) continue;
    {
      const std::lock_guard lock(memo().mutex);
      if (memo().function_of.contains(keys.back())) continue;
    }
    missing.push_back(ref);
    missing_keys.push_back(keys.back());
  }
  std::vector<Function> fresh = disassemble_now(missing, true, hashes);
  for (const Function& function : fresh)
    if (!function.problem.empty()) {
      const bool no_code = function.arch.empty();  // nothing that nvdisasm was asked about
      throw Error(no_code ? ExitCode::usage : ExitCode::failed, function.problem);
    }

  const std::lock_guard lock(memo().mutex);
  for (std::size_t i = 0; i < fresh.size(); ++i)
    memo().function_of.emplace(missing_keys[i],
                               std::make_shared<const Function>(std::move(fresh[i])));
  std::vector<std::shared_ptr<const Function>> found;
  for (const std::string& key : keys) found.push_back(memo().function_of.at(key));
  return found;
}

std::shared_ptr<const Function> disassemble(std::span<const char> elf, const std::string& kernel) {
  const FunctionRef ref{elf, kernel};
  return disassemble(std::span(&ref, 1)).front();
}

}  // namespace assay
