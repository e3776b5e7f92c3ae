// SPDX-License-Identifier: Apache-2.0
#include "harness/code/elf.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "harness/error.hpp"

namespace assay {
namespace {

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ExitCode::usage, "damaged ELF image: " + what + "; build or copy the file again");
}

std::span<const char> slice(std::span<const char> bytes, std::uint64_t offset, std::uint64_t size,
                            const char* what) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    damaged(std::string(what) + " reaches past the end of the file");
  return bytes.subspan(offset, size);
}

// Files give no alignment, so records are copied out.
template <class Record>
Record read(std::span<const char> bytes, std::uint64_t offset, const char* what) {
  Record record;
  std::memcpy(&record, slice(bytes, offset, sizeof record, what).data(), sizeof record);
  return record;
}

std::string_view text_at(std::span<const char> table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const auto* begin = table.data() + offset;
  const auto* end = static_cast<const char*>(std::memchr(begin, 0, table.size() - offset));
  if (!end) damaged("a name without an end");
  return {begin, end};
}

// Sections of device code that say how much memory is wanted and hold nothing, whatever their size:
// global without initial values, local, shared and reserved shared memory (SHT_CUDA_* in the
// headers of cuda-gdb). Relocatable code has them.
bool is_empty(std::uint16_t machine, std::uint32_t type) {
  constexpr std::uint32_t kGlobal = 0x70000007, kLocal = 0x70000009, kShared = 0x7000000a,
                          kReservedShared = 0x70000015;
  if (type == SHT_NOBITS || type == SHT_NULL) return true;
  return machine == kMachineCuda &&
         (type == kGlobal || type == kLocal || type == kShared || type == kReservedShared);
}

}  // namespace

bool ElfImage::is_elf(std::span<const char> bytes) {
  return bytes.size() >= sizeof(Elf64_Ehdr) && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

ElfImage::ElfImage(std::span<const char> bytes) {
  if (!is_elf(bytes)) damaged("no ELF header");
  const auto header = read<Elf64_Ehdr>(bytes, 0, "the header");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    damaged("not 64-bit little-endian");
  size_ = bytes.size();
  machine_ = header.e_machine;
  flags_ = header.e_flags;
  abi_version_ = header.e_ident[EI_ABIVERSION];
  if (header.e_shoff == 0) return;
  if (header.e_shentsize != sizeof(Elf64_Shdr)) damaged("section headers of unknown size");

  // With 65280 sections or more (a -ffunction-sections object can have that many), count and name
  // table index move into section 0 (ELF specification, "Section header table").
  const auto first = read<Elf64_Shdr>(bytes, header.e_shoff, "section header 0");
  const std::uint64_t count = header.e_shnum ? header.e_shnum : first.sh_size;
  const std::uint64_t names = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
  if (count > bytes.size() / sizeof(Elf64_Shdr)) damaged("more section headers than bytes");

  // Names in a damaged file may overlap, each as long as the table.
  std::size_t name_bytes = 0;
  const auto name_at = [&](const ElfSection& table, std::uint64_t offset) {
    const std::string_view name = text_at(table.bytes, offset);
    name_bytes += name.size();
    if (name_bytes / 4 > bytes.size()) damaged("names longer than the file");
    return name;
  };

  std::vector<Elf64_Shdr> raw(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    raw[i] = read<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr), "a section header");
    const bool empty = is_empty(machine_, raw[i].sh_type);
    sections_.push_back({{},
                         raw[i].sh_type,
                         raw[i].sh_link,
                         raw[i].sh_info,
                         empty ? std::span<const char>{}
                               : slice(bytes, raw[i].sh_offset, raw[i].sh_size, "a section")});
  }
  if (names < count)
    for (std::uint64_t i = 0; i < count; ++i)
      sections_[i].name = name_at(sections_[names], raw[i].sh_name);

  for (const ElfSection& table : sections_) {
    if (table.type != SHT_SYMTAB) continue;
    if (table.link >= count) damaged("a symbol table without names");
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.bytes.size();
         at += sizeof(Elf64_Sym)) {
      const auto symbol = read<Elf64_Sym>(table.bytes, at, "a symbol");
      symbols_.push_back({name_at(sections_[table.link], symbol.st_name),
                          static_cast<std::uint8_t>(ELF64_ST_TYPE(symbol.st_info)), symbol.st_other,
                          symbol.st_shndx, symbol.st_value, symbol.st_size});
    }
    break;  // an image has at most one
  }
}

const ElfSection* ElfImage::section(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &ElfSection::name);
  return found == sections_.end() ? nullptr : &*found;
}

std::vector<ElfRelocation> ElfImage::relocations(std::size_t section_index) const {
  std::vector<ElfRelocation> found;
  std::size_t total = 0;  // bytes of tables, which in a damaged file may overlap
  for (const ElfSection& table : sections_) {
    if ((table.type != SHT_RELA && table.type != SHT_REL) || table.info != section_index) continue;
    total += table.bytes.size();
    if (total > size_) damaged("more relocations than bytes");
    const std::size_t size = table.type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (std::uint64_t at = 0; at + size <= table.bytes.size(); at += size) {
      const auto entry = read<Elf64_Rel>(table.bytes, at, "a relocation");  // RELA starts with REL
      found.push_back({entry.r_offset, static_cast<std::uint32_t>(ELF64_R_SYM(entry.r_info))});
    }
  }
  return found;
}

}  // namespace assay
