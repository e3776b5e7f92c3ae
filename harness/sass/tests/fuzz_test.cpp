// SPDX-License-Identifier: Apache-2.0
// Strange input: whatever the bytes, reading them ends, in an Error at worst. Mutations of real
// files and listings, from fixed seeds; the address and undefined-behaviour sanitizers (preset
// asan) make more of these than they can alone.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "harness/code/archive.hpp"
#include "harness/code/assembler.hpp"
#include "harness/code/cubin.hpp"
#include "harness/code/elf.hpp"
#include "harness/code/fatbin.hpp"
#include "harness/code/tests/samples.hpp"
#include "harness/error.hpp"
#include "harness/sass/analysis.hpp"
#include "harness/sass/report_json.hpp"
#include "harness/sass/report_text.hpp"

namespace assay::sass {
namespace {

using Random = std::mt19937;

// One to four changes: a byte, a stretch doubled, removed or overwritten by another, an end cut
// off.
template <class Bytes>
Bytes mutated(Bytes bytes, Random& random) {
  for (unsigned change = random() % 4 + 1; change > 0 && !bytes.empty(); --change) {
    const std::size_t at = random() % bytes.size();
    const std::size_t length = std::min<std::size_t>(random() % 64 + 1, bytes.size() - at);
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(length);
    switch (random() % 6) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1: {  // numbers at the edges
        constexpr std::uint32_t kEdges[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
        for (std::size_t i = 0; i < std::min<std::size_t>(4, length); ++i)
          bytes[at + i] = static_cast<char>(kEdges[random() % 5] >> 8 * i);
        break;
      }
      case 2: {
        Bytes longer(bytes.begin(), end);
        longer.insert(longer.end(), begin, bytes.end());
        bytes = std::move(longer);
        break;
      }
      case 3:
        bytes.erase(begin, end);
        break;
      case 4: {
        const std::size_t from = random() % (bytes.size() - length + 1);
        for (std::size_t i = 0; i < length; ++i) bytes[at + i] = bytes[from + i];
        break;
      }
      default:
        bytes.resize(at);
    }
  }
  return bytes;
}

// Runs `read`; what it throws must be an Error of one line.
template <class Read>
void survives(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

// What nvdisasm prints for a kernel.
std::string listing_of(const Function& function) {
  std::string listing = "\t.headerflags\t@\"EF_CUDA_SM90\"\n";
  for (const Instruction& instruction : function.code) {
    char address[32];
    std::snprintf(address, sizeof address, "        /*%04x*/   ", instruction.address);
    listing += address + instruction.text() + " ;\n";
  }
  return listing;
}

std::vector<std::shared_ptr<const Function>> seeds() {
  std::vector<std::shared_ptr<const Function>> found;
  const std::vector<DeviceCode> codes = extract("/proc/self/exe");
  for (const auto& [target, name] :
       {std::pair{Target::sm_90a, "gemm_sm90<0,0,0,128,256,4,2,1,false,false>"},
        {Target::sm_89, "read_l2"},
        {Target::sm_120a, "arrive_wait"}})
    if (const auto kernel = find_kernel(codes, target, name))
      found.push_back(disassemble(kernel->code->elf, kernel->symbol));
  return found;
}

TEST(Fuzz, Listings) {
  Random random(1);
  const CostTable table = CostTable::newest("sm_90a");
  std::size_t parsed = 0;
  for (const auto& seed : seeds()) {
    const std::string listing = listing_of(*seed);
    for (int trial = 0; trial < 150; ++trial)
      survives([&] {
        Function function = *seed;
        function.code = parse_listing(mutated(listing, random));
        // Where disassemble() puts them; the encodings are those of other instructions now.
        for (std::size_t i = 0; i < function.code.size(); ++i) {
          function.code[i].address = static_cast<std::uint32_t>(16 * i);
          function.code[i].words = {random(), std::uint64_t{random()} << 32 | random()};
        }
        ++parsed;
        const KernelAnalysis kernel =
            analyse(std::make_shared<const Function>(std::move(function)), table);
        EXPECT_FALSE(report_text(kernel, table, true).empty());
        if (trial % 10 != 0) return;
        EXPECT_LE(report_json(kernel, table, false).size(), report_json(kernel, table).size());
      });
  }
  EXPECT_GT(parsed, 100u);
}

std::vector<char> archive_of(const std::vector<std::vector<char>>& members) {
  std::string bytes = "!<arch>\n";
  for (const std::vector<char>& member : members) {
    char header[61];
    std::snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8o%-10zu`\n", "member.o/", 0, 0, 0,
                  0644, member.size());
    bytes += header;
    bytes.append(member.begin(), member.end());
    if (bytes.size() % 2) bytes += '\n';
  }
  return {bytes.begin(), bytes.end()};
}

std::vector<char> sample(Target target) {
  return assemble(samples::fma_chain(target), target).cubin;
}

std::filesystem::path scratch_file() {
  return std::filesystem::temp_directory_path() / ("assay-fuzz-" + std::to_string(::getpid()));
}

std::vector<DeviceCode> extract_bytes(const std::vector<char>& bytes) {
  std::ofstream(scratch_file(), std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  struct Cleanup {
    ~Cleanup() { std::filesystem::remove(scratch_file()); }
  } cleanup;
  return extract(scratch_file());
}

TEST(Archive, HoldsEveryMembersDeviceCode) {
  const auto codes = extract_bytes(archive_of({sample(Target::sm_90a), sample(Target::sm_120a)}));
  ASSERT_EQ(codes.size(), 2u);
  EXPECT_EQ(codes[0].arch, "sm_90a");
  EXPECT_EQ(codes[1].arch, "sm_120a");
  EXPECT_EQ(codes[1].kernels, std::vector<std::string>{"fma_chain"});
}

TEST(Archive, ThinAndDamagedOnesAreRefused) {
  const auto members = [](std::string_view text) {
    return archive_members(std::span(text.data(), text.size()));
  };
  EXPECT_THROW(members("!<thin>\n"), Error);
  EXPECT_THROW(members("!<arch>\nshort"), Error);
  EXPECT_TRUE(members("!<arch>\n").empty());
}

TEST(Fuzz, FilesWithDeviceCode) {
  Random random(2);
  const std::vector<char> cubin = sample(Target::sm_90a);
  const std::vector<char> archive = archive_of({cubin, sample(Target::sm_89)});
  for (const std::vector<char>* whole : {&cubin, &archive})
    for (int trial = 0; trial < 1000; ++trial) {
      const std::vector<char> bytes = mutated(*whole, random);
      survives([&] { archive_members(bytes); });
      survives([&] { device_code(bytes); });
      survives([&] {
        const ElfImage image(bytes);
        for (std::size_t s = 0; s < image.sections().size(); ++s)
          EXPECT_LE(image.relocations(s).size(), bytes.size());
      });
      if (trial % 10 == 0) survives([&] { extract_bytes(bytes); });
    }
}

// Literals, then a match that overlaps what it makes: "abcd" and 12 more by repeating it.
TEST(Fatbin, UnpacksLz4) {
  const std::vector<char> packed = {0x48, 'a', 'b', 'c', 'd', 4, 0, 0x10, 'e'};
  const std::vector<char> unpacked = unpack_lz4(packed, 17);
  EXPECT_EQ(std::string(unpacked.begin(), unpacked.end()), "abcdabcdabcdabcde");
  EXPECT_THROW(unpack_lz4(packed, 16), Error);
  EXPECT_THROW(unpack_lz4(packed, 18), Error);
  EXPECT_THROW(unpack_lz4(std::vector<char>{0x08, 'a', 4, 0}, 12), Error);
  Random random(3);
  for (int trial = 0; trial < 5000; ++trial)
    survives([&] { EXPECT_EQ(unpack_lz4(mutated(packed, random), 17).size(), 17u); });
}

}  // namespace
}  // namespace assay::sass
