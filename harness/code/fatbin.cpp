// SPDX-License-Identifier: Apache-2.0
//
// The layout of fat binaries is not documented by NVIDIA. What is used here was checked against
// files built by nvcc 13.0 and against cuBLASLt 13: a container is {magic u32, version u16, header
// size u16, size of all entries u64}, an entry the header below, followed by its payload.
// Containers of several objects lie one after another, 8-byte aligned.
#include "harness/code/fatbin.hpp"

#include <zstd.h>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "harness/callable.hpp"
#include "harness/code/elf.hpp"
#include "harness/error.hpp"
#include "harness/machine/dynamic_library.hpp"

namespace assay {
namespace {

constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::uint16_t kKindPtx = 1;
constexpr std::uint16_t kKindElf = 2;             // a cubin
constexpr std::uint64_t kCompressedLz4 = 0x2000;  // in flags
constexpr std::uint64_t kCompressedZstd = 0x8000;
// Twice what the largest of NVIDIA's libraries hold is 256 MiB; they pack at most 24 to 1.
constexpr std::uint64_t kLargestCubin = std::uint64_t{512} << 20;  // bytes, unpacked
constexpr std::uint64_t kMostUnpacked = 1000;                      // bytes, of a packed one

struct ContainerHeader {
  std::uint32_t magic;
  std::uint16_t version, header_size;
  std::uint64_t size;
};
struct EntryHeader {
  std::uint16_t kind, version;
  std::uint32_t header_size;
  std::uint64_t payload_size;      // a multiple of 8
  std::uint32_t packed_size;       // of the payload without its padding, if it is compressed
  std::uint32_t unknown, toolkit;  // the version that made it, in halves
  std::uint32_t architecture;      // 90 of sm_90 and sm_90a
  std::uint32_t name[2];           // of the source, where it is kept
  std::uint64_t flags, zero, unpacked_size;
};
// As far as every header reaches; the rest is there when the entry is compressed.
constexpr std::size_t kShortEntry = 16;

template <class Record>
std::optional<Record> peek(std::span<const char> bytes, std::size_t offset) {
  Record record;
  if (offset > bytes.size() || bytes.size() - offset < sizeof record) return std::nullopt;
  std::memcpy(&record, bytes.data() + offset, sizeof record);
  return record;
}

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ExitCode::usage, "damaged fat binary: " + what + "; build or copy the file again");
}

// ZSTD_decompress, or nullptr if there is no libzstd.
using Decompress = decltype(&ZSTD_decompress);
Decompress zstd_decompress() {
  static const Decompress function = []() -> Decompress {
    try {
      return DynamicLibrary::open(Library::zstd)["ZSTD_decompress"];
    } catch (const Error&) {
      return nullptr;
    }
  }();
  return function;
}

std::vector<char> unpack_zstd(std::span<const char> packed, std::size_t size) {
  std::vector<char> unpacked(size);  // bounded above
  if (zstd_decompress()(unpacked.data(), size, packed.data(), packed.size()) != size)
    damaged("a compressed cubin does not unpack");
  return unpacked;
}

bool can_unpack(std::span<const char> header, std::span<const char> payload) {
  if (ElfImage::is_elf(payload)) return true;
  const auto entry = peek<EntryHeader>(header, 0);
  return !entry || !(entry->flags & kCompressedZstd) || zstd_decompress();
}

std::vector<char> cubin_of(std::span<const char> header, std::span<const char> payload) {
  if (ElfImage::is_elf(payload)) return {payload.begin(), payload.end()};
  const auto entry = peek<EntryHeader>(header, 0);
  if (!entry) damaged("a cubin is none");
  const bool zstd = (entry->flags & kCompressedZstd) != 0;
  if (!zstd && !(entry->flags & kCompressedLz4)) damaged("a cubin is none");
  if (entry->packed_size > payload.size()) damaged("a compressed cubin reaches past its entry");
  const auto packed = payload.first(entry->packed_size ? entry->packed_size : payload.size());
  const std::uint64_t most = std::min(kLargestCubin, packed.size() * kMostUnpacked);
  if (entry->unpacked_size > most)
    damaged("a compressed cubin of " + std::to_string(packed.size()) + " bytes says it has " +
            std::to_string(entry->unpacked_size) + " unpacked; at most " + std::to_string(most) +
            " are read");
  return zstd ? unpack_zstd(packed, entry->unpacked_size)
              : unpack_lz4(packed, entry->unpacked_size);
}

}  // namespace

bool is_fatbin(std::span<const char> bytes) { return peek<std::uint32_t>(bytes, 0) == kMagic; }

namespace {

using VisitEntry = Callable<void(std::span<const char> header, std::span<const char> payload)>;

void for_each_entry(std::span<const char> bytes, std::uint16_t wanted, const VisitEntry& visit) {
  for (std::size_t at = 0; const auto container = peek<ContainerHeader>(bytes, at);) {
    if (container->magic != kMagic) {
      at += 8;  // padding between containers
      continue;
    }
    const std::size_t begin = at + container->header_size;
    if (begin > bytes.size() || container->size > bytes.size() - begin ||
        container->header_size < sizeof(ContainerHeader))
      damaged("a container reaches past the end");
    const auto entries = bytes.subspan(begin, container->size);
    for (std::size_t entry_at = 0; entries.size() - entry_at >= kShortEntry;) {
      const auto rest = entries.subspan(entry_at);
      const auto kind = *peek<std::uint16_t>(rest, 0);
      const auto header_size = *peek<std::uint32_t>(rest, offsetof(EntryHeader, header_size));
      const auto payload_size = *peek<std::uint64_t>(rest, offsetof(EntryHeader, payload_size));
      if (header_size < kShortEntry || header_size > rest.size() ||
          payload_size > rest.size() - header_size)
        damaged("an entry reaches past its end");
      if (kind == wanted) visit(rest.first(header_size), rest.subspan(header_size, payload_size));
      entry_at += header_size + payload_size;
    }
    at = (begin + container->size + 7) / 8 * 8;
  }
}

}  // namespace

bool can_unpack(std::span<const char> bytes) {
  bool all = true;
  for_each_entry(bytes, kKindElf,
                 [&](auto header, auto payload) { all = all && can_unpack(header, payload); });
  return all;
}

void for_each_cubin(std::span<const char> bytes, const Callable<void(std::vector<char>)>& take,
                    int architecture) {
  for_each_entry(bytes, kKindElf, [&](auto header, auto payload) {
    const auto its = peek<std::uint32_t>(header, offsetof(EntryHeader, architecture));
    if (architecture && its && static_cast<int>(*its) != architecture) return;
    take(cubin_of(header, payload));
  });
}

void for_each_ptx(std::span<const char> bytes, const Callable<void(std::string_view)>& take) {
  for_each_entry(bytes, kKindPtx, [&](auto header, auto payload) {
    const auto entry = peek<EntryHeader>(header, 0);
    // Compressed PTX is of other people's programs: what is built here is not.
    if (entry && (entry->flags & (kCompressedLz4 | kCompressedZstd)) != 0) return;
    const std::string_view text(payload.data(), payload.size());
    take(text.substr(0, text.find('\0')));
  });
}

std::vector<char> unpack_lz4(std::span<const char> packed, std::size_t size) {
  std::vector<char> out;
  std::size_t at = 0;
  const auto byte = [&]() -> std::size_t {
    if (at == packed.size()) damaged("a compressed cubin ends too early");
    return static_cast<unsigned char>(packed[at++]);
  };
  // Lengths of 15 or more go on in bytes of up to 255.
  const auto length = [&](std::size_t first) {
    if (first != 15) return first;
    for (std::size_t more = 255; more == 255; first += more) more = byte();
    return first;
  };
  while (at < packed.size()) {
    const std::size_t token = byte();
    const std::size_t literals = length(token >> 4);
    if (literals > packed.size() - at || literals > size - out.size())
      damaged("a compressed cubin is longer than it says");
    out.insert(out.end(), packed.begin() + static_cast<std::ptrdiff_t>(at),
               packed.begin() + static_cast<std::ptrdiff_t>(at + literals));
    at += literals;
    if (at == packed.size()) break;  // the last sequence has literals alone
    const std::size_t low = byte(), distance = low | byte() << 8;
    const std::size_t match = length(token & 15) + 4;
    if (distance == 0 || distance > out.size() || match > size - out.size())
      damaged("a compressed cubin refers to what is not there");
    for (std::size_t i = 0; i < match; ++i) out.push_back(out[out.size() - distance]);
  }
  if (out.size() != size) damaged("a compressed cubin is shorter than it says");
  return out;
}

}  // namespace assay
