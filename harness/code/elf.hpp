// SPDX-License-Identifier: Apache-2.0
// A read-only, bounds-checked view of a 64-bit little-endian ELF image, host or device.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace assay {

inline constexpr std::uint16_t kMachineCuda = 190;  // EM_CUDA

struct ElfSection {
  std::string_view name;
  std::uint32_t type, link, info;
  std::span<const char> bytes;  // empty for sections without contents in the file
};

struct ElfSymbol {
  std::string_view name;
  std::uint8_t type, other;
  std::uint16_t section;
  std::uint64_t value, size;
};

struct ElfRelocation {
  std::uint64_t offset;
  std::uint32_t symbol;  // index into symbols()
};

// Views point into `bytes`, which must outlive the image.
class ElfImage {
 public:
  // Throws Error(usage) if the headers, section names or symbols reach outside `bytes`.
  explicit ElfImage(std::span<const char> bytes);

  static bool is_elf(std::span<const char> bytes);

  std::uint16_t machine() const { return machine_; }
  std::uint32_t flags() const { return flags_; }
  std::uint8_t abi_version() const { return abi_version_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  const std::vector<ElfSymbol>& symbols() const { return symbols_; }  // of .symtab
  const ElfSection* section(std::string_view name) const;             // nullptr if there is none
  // Relocations (SHT_REL and SHT_RELA) that apply to the section with this index.
  std::vector<ElfRelocation> relocations(std::size_t section_index) const;

 private:
  std::size_t size_;
  std::uint16_t machine_;
  std::uint32_t flags_;
  std::uint8_t abi_version_;
  std::vector<ElfSection> sections_;
  std::vector<ElfSymbol> symbols_;
};

}  // namespace assay
