// SPDX-License-Identifier: Apache-2.0
#include "harness/code/cubin.hpp"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "harness/code/assembler.hpp"
#include "harness/code/elf.hpp"
#include "harness/code/tests/samples.hpp"
#include "harness/error.hpp"

namespace assay {
namespace {
namespace fs = std::filesystem;

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<char>& bytes)
      : path_(fs::temp_directory_path() / ("assay-cubin-" + std::to_string(getpid()))) {
    std::ofstream(path_, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryFile() { fs::remove(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<DeviceCode> extract_bytes(const std::vector<char>& bytes) {
  return extract(TemporaryFile(bytes).path());
}

std::vector<char> sample_cubin(Target target) {
  return assemble(samples::fma_chain(target), target).cubin;
}

template <class T>
void append(std::vector<char>& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// A container like nvcc's, with 64-byte entry headers.
std::vector<char> fat_binary(const std::vector<std::vector<char>>& cubins) {
  std::vector<char> entries;
  for (const std::vector<char>& cubin : cubins) {
    append(entries, std::uint16_t{2});
    append(entries, std::uint16_t{0x101});
    append(entries, std::uint32_t{64});
    append(entries, std::uint64_t{(cubin.size() + 7) / 8 * 8});
    entries.resize(entries.size() + 48);
    entries.insert(entries.end(), cubin.begin(), cubin.end());
    entries.resize((entries.size() + 7) / 8 * 8);
  }
  std::vector<char> bytes;
  append(bytes, std::uint32_t{0xBA55ED50});
  append(bytes, std::uint16_t{1});
  append(bytes, std::uint16_t{16});
  append(bytes, std::uint64_t{entries.size()});
  bytes.insert(bytes.end(), entries.begin(), entries.end());
  return bytes;
}

TEST(Cubin, PlainCubin) {
  const std::vector<char> cubin = sample_cubin(Target::sm_103a);
  const auto codes = extract_bytes(cubin);
  ASSERT_EQ(codes.size(), 1u);
  EXPECT_EQ(codes[0].arch, "sm_103a");
  EXPECT_EQ(codes[0].elf, cubin);
  EXPECT_EQ(codes[0].kernels, std::vector<std::string>{"fma_chain"});
}

TEST(Cubin, FatBinaryWithSeveralContainers) {
  std::vector<char> bytes = fat_binary({sample_cubin(Target::sm_89), sample_cubin(Target::sm_90a)});
  bytes.resize(bytes.size() + 24);  // padding
  const std::vector<char> second = fat_binary({sample_cubin(Target::sm_120a)});
  bytes.insert(bytes.end(), second.begin(), second.end());
  const auto codes = extract_bytes(bytes);
  ASSERT_EQ(codes.size(), 3u);
  EXPECT_EQ(codes[0].arch, "sm_89");
  EXPECT_EQ(codes[1].arch, "sm_90a");
  EXPECT_EQ(codes[2].arch, "sm_120a");
  const auto found = find_kernel(codes, Target::sm_90a, "fma_chain");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, &codes[1]);
  EXPECT_FALSE(find_kernel(codes, Target::sm_100a, "fma_chain"));
}

TEST(Cubin, OneArchitectureAloneIsReadWhereItIsAskedFor) {
  std::vector<std::string> all, one;
  for (const DeviceCode& code : extract("/proc/self/exe"))
    if (code.arch.starts_with("sm_90"))
      all.insert(all.end(), code.kernels.begin(), code.kernels.end());
  for (const DeviceCode& code : extract("/proc/self/exe", 90)) {
    EXPECT_TRUE(code.arch.starts_with("sm_90")) << code.arch;
    one.insert(one.end(), code.kernels.begin(), code.kernels.end());
  }
  EXPECT_EQ(one, all);
}

TEST(Cubin, OwnExecutableHoldsTheHarnesssKernels) {
  std::size_t kernels = 0;
  for (const DeviceCode& code : extract("/proc/self/exe")) kernels += code.kernels.size();
  EXPECT_GT(kernels, 0u);
}

TEST(Cubin, NamesAsPeopleWriteThem) {
  // template <int N> void (anonymous namespace)::chase<4>(unsigned long long const*, ...) as nvcc
  // mangles it for a file k.cu.
  const std::string chase = "_ZN36_GLOBAL__N__1d768345_4_k_cu_571bf4325chaseILi4EEEvPKyPyi";
  EXPECT_TRUE(is_kernel(chase, "chase"));
  EXPECT_TRUE(is_kernel(chase, "chase<4>"));
  EXPECT_TRUE(is_kernel(chase, "(anonymous namespace)::chase<4>"));
  EXPECT_TRUE(is_kernel(chase, chase));
  EXPECT_FALSE(is_kernel(chase, "chase<8>"));
  EXPECT_FALSE(is_kernel(chase, "hase<4>"));
  EXPECT_FALSE(is_kernel(chase, "cha"));

  // The same of a file that is compiled with others, with a type of its own as an argument.
  const std::string joined =
      "_ZN8in_k_cu_36_GLOBAL__N__1d768345_4_j_cu_571bf4325chaseINS_4LineEEEvPT_";
  EXPECT_TRUE(is_kernel(joined, "chase"));
  EXPECT_TRUE(is_kernel(joined, "chase<Line>"));
  EXPECT_FALSE(is_kernel(joined, "k_cu_::chase"));
  EXPECT_TRUE(is_kernel("_ZN3in_3barEv", "in_::bar"));  // a namespace of someone else

  const std::string bar = "_ZN3foo3barEPfi";  // foo::bar(float*, int)
  EXPECT_TRUE(is_kernel(bar, "bar"));
  EXPECT_TRUE(is_kernel(bar, "foo::bar"));
  EXPECT_FALSE(is_kernel(bar, "o::bar"));
  EXPECT_FALSE(is_kernel(bar, "foo"));

  const std::string copy = "_Z4copyILj16E6float4EvPT0_";  // void copy<16u, float4>(float4*)
  EXPECT_TRUE(is_kernel(copy, "copy<16, float4>"));
  EXPECT_TRUE(is_kernel(copy, "copy<16,float4>"));
  EXPECT_FALSE(is_kernel(copy, "copy<16>"));
  // Arguments that go on.
  for (const char* name :
       {"copy<16", "copy<16u", "copy<16,", "copy<16, ", "copy<", "copy<16, float4"})
    EXPECT_TRUE(is_kernel(copy, name)) << name;
  for (const char* name : {"copy<1", "copy<16, float", "copy<float4", "opy<16", "copy<16, float4,"})
    EXPECT_FALSE(is_kernel(copy, name)) << name;
  const std::string nested = "_ZN1n4copyINS_4fillILi1EEELi2EEEvv";  // n::copy<n::fill<1>, 2>()
  for (const char* name : {"copy<n::fill<1>", "n::copy<n::fill<1", "copy<n::fill<1>, 2"})
    EXPECT_TRUE(is_kernel(nested, name)) << name;
  EXPECT_FALSE(is_kernel(nested, "fill<1"));
  EXPECT_TRUE(is_kernel("fma_chain", "fma_chain"));
  EXPECT_FALSE(is_kernel("fma_chain", "fma"));
}

TEST(Cubin, AmbiguousNamesAreListedAndTheSourceDecides) {
  const std::vector<DeviceCode> codes = {
      {.arch = "sm_90a",
       .elf = {},
       .kernels = {"_ZN36_GLOBAL__N__1d768345_4_a_cu_571bf4325chaseEv"}},
      {.arch = "sm_90a",
       .elf = {},
       .kernels = {"_ZN36_GLOBAL__N__2d768345_4_b_cu_671bf4325chaseEv",
                   "_ZN8in_c_cu_36_GLOBAL__N__2d768345_4_b_cu_671bf4325chaseEv"}}};
  EXPECT_THROW(find_kernel(codes, Target::sm_90a, "chase"), Error);
  const auto found = find_kernel(codes, Target::sm_90a, "chase", "probes/memory/a.cu");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, &codes[0]);
  const auto joined = find_kernel(codes, Target::sm_90a, "chase", "probes/memory/c.cu");
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->symbol, codes[1].kernels[1]);
}

TEST(Cubin, StrangeFilesAreOneLineErrors) {
  EXPECT_THROW(extract("/nonexistent"), Error);
  EXPECT_THROW(extract("/tmp"), Error);
  EXPECT_THROW(extract_bytes({}), Error);
  EXPECT_THROW(extract_bytes(std::vector<char>(4096, 'x')), Error);
  EXPECT_THROW(extract("/bin/ls"), Error);
}

// What extract() says of these bytes; it must be an error, said within a second.
std::string refusal_of(const std::vector<char>& bytes) {
  try {
    extract_bytes(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Cubin, WhatIsUnpackedIsBounded) {
  std::vector<char> bytes = fat_binary({std::vector<char>(18'000)});
  const std::size_t entry = 16;  // behind the container's header
  const std::uint32_t packed = 18'000;
  const std::uint64_t flags = 0x8000, unpacked = 4'200'000'000;  // Zstandard
  std::memcpy(bytes.data() + entry + 16, &packed, sizeof packed);
  std::memcpy(bytes.data() + entry + 40, &flags, sizeof flags);
  std::memcpy(bytes.data() + entry + 56, &unpacked, sizeof unpacked);
  EXPECT_NE(refusal_of(bytes).find("a compressed cubin of 18000 bytes says it has 4200000000 "
                                   "unpacked; at most 18000000 are read"),
            std::string::npos)
      << refusal_of(bytes);
}

template <class Record>
void put(std::vector<char>& bytes, const Record& record) {
  const auto* begin = reinterpret_cast<const char*>(&record);
  bytes.insert(bytes.end(), begin, begin + sizeof record);
}

// A cubin with one kernel, of which `symbols` symbols hold ever shorter ends of its name, and
// `tables` relocation tables that are all the same bytes.
std::vector<char> overlapping(const std::string& name, std::size_t symbols, std::size_t tables) {
  const std::string sections = std::string("\0.strtab\0.symtab\0", 17) + ".text." + name + '\0';
  std::vector<char> bytes(sizeof(Elf64_Ehdr));
  const std::size_t sections_at = bytes.size();
  bytes.insert(bytes.end(), sections.begin(), sections.end());
  const std::size_t names_at = bytes.size();
  bytes.insert(bytes.end(), name.begin(), name.end());
  bytes.push_back('\0');
  const std::size_t symbols_at = bytes.size();
  for (std::size_t i = 0; i < symbols; ++i)
    put(bytes, Elf64_Sym{static_cast<Elf64_Word>(i % name.size()), STT_FUNC, 0x10, 3, 0, 16});
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_ABIVERSION] = 8;
  header.e_machine = 190;
  header.e_flags = 90 << 8;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(4 + tables);
  header.e_shstrndx = 0;
  header.e_shoff = bytes.size();
  put(bytes, Elf64_Shdr{0, SHT_STRTAB, 0, 0, sections_at, sections.size(), 0, 0, 1, 0});
  put(bytes, Elf64_Shdr{1, SHT_STRTAB, 0, 0, names_at, name.size() + 1, 0, 0, 1, 0});
  put(bytes, Elf64_Shdr{9, SHT_SYMTAB, 0, 0, symbols_at, symbols * sizeof(Elf64_Sym), 1, 0, 8, 24});
  put(bytes, Elf64_Shdr{17, SHT_PROGBITS, 0, 0, symbols_at, 16, 0, 0, 16, 0});
  for (std::size_t i = 0; i < tables; ++i)
    put(bytes, Elf64_Shdr{0, SHT_REL, 0, 0, symbols_at, symbols * sizeof(Elf64_Sym), 2, 3, 8, 16});
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

TEST(Cubin, NamesThatOverlapAreBounded) {
  EXPECT_EQ(extract_bytes(overlapping("kernel", 1, 0)).at(0).kernels,
            std::vector<std::string>{"kernel"});
  EXPECT_NE(refusal_of(overlapping(std::string(60'000, 'k'), 20'000, 0)).find("names longer than"),
            std::string::npos);
  EXPECT_NE(refusal_of(overlapping(std::string(70'000, 'k'), 1, 0)).find("more than 65536"),
            std::string::npos);
}

TEST(Cubin, RelocationsThatOverlapAreBounded) {
  const std::vector<char> bytes = overlapping("kernel", 1'000, 1'000);
  EXPECT_EQ(ElfImage(overlapping("kernel", 1'000, 0)).relocations(3).size(), 0u);
  EXPECT_THROW(ElfImage(bytes).relocations(3), Error);
}

TEST(Cubin, OnlyMangledNamesAreDemangled) {
  for (const char* name : {"i", "f", "Pf", "St", "kernel", "Z1kv", ""})
    EXPECT_EQ(demangled(name), name);
  EXPECT_EQ(demangled("_Z1kPf"), "k(float*)");
}

// Each part of this name is two of the part before it: whole, it has 2^60 characters.
TEST(Cubin, ANameThatNeverEndsStaysAsItIs) {
  std::string symbol = "_Z1f1AIiiE";
  for (const char* part : {"S0_", "S2_", "S4_", "S6_", "S8_", "SA_", "SC_", "SE_", "SG_", "SI_"})
    symbol += std::string("1BI") + part + part + "E";
  for (const char* head : {"S", "S1", "S2"})
    for (const char digit : std::string("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
      const std::string part = std::string(head) + digit + "_";
      symbol += "1CI" + part + part + "E";
    }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(demangled(symbol).empty());
  EXPECT_FALSE(is_kernel(symbol, "f<1>"));
  const std::string identifier = "_Z50000" + std::string(50'000, 'k') + "v";
  EXPECT_FALSE(demangled(identifier).empty());
  EXPECT_TRUE(is_kernel(identifier, identifier));
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 5);
}

// Relocatable code has a section for its shared memory that is as large as that and has no
// contents.
TEST(Cubin, SharedMemoryOfRelocatableCodeTakesNoPlaceInTheFile) {
  std::vector<char> cubin = sample_cubin(Target::sm_90a);
  Elf64_Ehdr header;
  std::memcpy(&header, cubin.data(), sizeof header);
  Elf64_Shdr section;  // a note, of which nothing is read
  bool found = false;
  for (int i = 0; i < header.e_shnum && !found; ++i) {
    char* const at = cubin.data() + header.e_shoff + i * sizeof section;
    std::memcpy(&section, at, sizeof section);
    if (section.sh_type != SHT_NOTE) continue;
    section.sh_type = 0x7000000a;  // SHT_CUDA_SHARED
    section.sh_size = 40'000;
    std::memcpy(at, &section, sizeof section);
    found = true;
  }
  ASSERT_TRUE(found);
  EXPECT_EQ(extract_bytes(cubin).at(0).kernels, std::vector<std::string>{"fma_chain"});
}

// Every truncation and many random corruptions either parse or throw Error.
TEST(Cubin, DamagedFilesNeverCrash) {
  const std::vector<char> fat = fat_binary({sample_cubin(Target::sm_90a)});
  const std::vector<char> cubin = sample_cubin(Target::sm_90a);
  std::mt19937 random(1);
  const auto survive = [](const std::vector<char>& bytes) {
    try {
      for (const DeviceCode& code : extract_bytes(bytes)) EXPECT_LE(code.elf.size(), bytes.size());
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  };
  for (const std::vector<char>* whole : {&fat, &cubin}) {
    for (std::size_t size = 1; size < whole->size(); size += 37)
      survive({whole->begin(), whole->begin() + static_cast<std::ptrdiff_t>(size)});
    for (int trial = 0; trial < 500; ++trial) {
      std::vector<char> bytes = *whole;
      for (int i = 0; i < 8; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
      survive(bytes);
    }
  }
}

}  // namespace
}  // namespace assay
