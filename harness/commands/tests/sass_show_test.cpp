// SPDX-License-Identifier: Apache-2.0
// `assay sass FILE`, on files that are not what they should be: one line that says which file, what
// is wrong and what to do.
#include "harness/commands/sass_show.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <utility>

#include "harness/code/assembler.hpp"
#include "harness/code/tests/samples.hpp"
#include "harness/tests/scratch.hpp"

namespace assay {
namespace {

class SassShow : public ScratchFolder {
 protected:
  std::filesystem::path file(const std::string& name, const std::vector<char>& bytes) const {
    const std::filesystem::path path = folder() / name;
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  static std::string refusal(const std::filesystem::path& path, const std::string& kernel = "",
                             ExitCode code = ExitCode::usage) {
    const std::string said = message_of(code, [&] { commands::show_file(path, kernel, {}, {}); });
    return said;
  }
  static std::vector<char> cubin() {
    return assemble(samples::fma_chain(Target::sm_90a), Target::sm_90a).cubin;
  }
};

TEST_F(SassShow, NoDeviceCode) {
  const std::string said = refusal("/bin/ls");
  EXPECT_NE(said.find("/bin/ls"), said.npos) << said;
  EXPECT_NE(said.find("no device code"), said.npos) << said;
}

TEST_F(SassShow, TruncatedCubin) {
  std::vector<char> bytes = cubin();
  bytes.resize(bytes.size() / 2);
  const std::string said = refusal(file("half.cubin", bytes));
  EXPECT_NE(said.find("half.cubin"), said.npos) << said;
  EXPECT_NE(said.find("past the end"), said.npos) << said;
  EXPECT_NE(said.find("copy the file again"), said.npos) << said;
}

// As `strip` leaves it: no symbol table, so nothing says where a kernel begins.
TEST_F(SassShow, StrippedCubin) {
  std::vector<char> bytes = cubin();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (int i = 0; i < header.e_shnum; ++i) {
    char* at = bytes.data() + header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    std::memcpy(&section, at, sizeof section);
    if (section.sh_type != SHT_SYMTAB) continue;
    section.sh_type = SHT_NULL;
    std::memcpy(at, &section, sizeof section);
  }
  const std::string said = refusal(file("bare.cubin", bytes));
  EXPECT_NE(said.find("bare.cubin"), said.npos) << said;
  EXPECT_NE(said.find("no kernel"), said.npos) << said;
  EXPECT_NE(said.find("stripped"), said.npos) << said;
}

TEST_F(SassShow, TargetTheDisassemblerDoesNotKnow) {
  std::vector<char> bytes = cubin();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.e_flags = (header.e_flags & ~0xff00u) | 250u << 8;
  std::memcpy(bytes.data(), &header, sizeof header);
  const std::string said = refusal(file("future.cubin", bytes), "", ExitCode::usage);
  EXPECT_NE(said.find("sm_250"), said.npos) << said;
  EXPECT_NE(said.find("ASSAY_NVDISASM"), said.npos) << said;
}

TEST_F(SassShow, UnknownKernelNamesTheNearest) {
  const std::string said = refusal(file("good.cubin", cubin()), "fma_chian");
  EXPECT_NE(said.find("fma_chain"), said.npos) << said;
}

// More than are shown at once.
TEST_F(SassShow, ManyOfOneNameAreListed) {
  std::string ptx = ".version 8.0\n.target sm_90a\n.address_size 64\n";
  for (const char* name : {"copy", "fill"})  // void copy<0>() and so on
    for (int i = 0; i < 21; ++i)
      ptx += fmt::format(".visible .entry _Z4{}ILi{}EEvv() {{ ret; }}\n", name, i);
  const auto path = file("many.cubin", assemble(ptx, Target::sm_90a).cubin);
  const auto listed = [&](const std::string& kernel) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(commands::show_file(path, kernel, {}, {}), ExitCode::ok);
    const std::string said = testing::internal::GetCapturedStdout();
    return std::pair(std::ranges::count(said, '\n'), said.find("fill") != said.npos);
  };
  EXPECT_EQ(listed("copy"), std::pair(std::ptrdiff_t{21}, false));
  EXPECT_EQ(listed("copy<"), std::pair(std::ptrdiff_t{21}, false));
  EXPECT_EQ(listed(""), std::pair(std::ptrdiff_t{42}, true));
  commands::SassView brief;
  brief.brief = true;
  testing::internal::CaptureStdout();
  EXPECT_EQ(commands::show_file(path, "copy<7", {}, brief), ExitCode::ok);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("copy<7>"), std::string::npos);
}

TEST_F(SassShow, UnknownTargetNamesThoseThereAre) {
  const auto path = file("good.cubin", cubin());
  const std::string said =
      message_of(ExitCode::usage, [&] { commands::show_file(path, "", {"sm_120a"}, {}); });
  EXPECT_NE(said.find("sm_90a"), said.npos) << said;
}

TEST_F(SassShow, PictureAndJson) {
  commands::SassView view;
  view.json = true;
  view.svg = folder() / "loop.svg";
  testing::internal::CaptureStdout();
  EXPECT_EQ(commands::show_file(file("good.cubin", cubin()), "fma_chain", {"sm_90a"}, view),
            ExitCode::ok);
  const std::string json = testing::internal::GetCapturedStdout();
  EXPECT_NE(json.find("\"assay.sass/1\""), json.npos);
  EXPECT_NE(json.find("\"bound_by\""), json.npos);
  const std::string svg = content_of(view.svg);
  EXPECT_TRUE(svg.starts_with("<svg"));
  EXPECT_NE(svg.find("prefers-color-scheme: dark"), svg.npos);
  EXPECT_NE(svg.find("FFMA"), svg.npos);
}

}  // namespace
}  // namespace assay
