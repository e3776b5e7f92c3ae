// SPDX-License-Identifier: Apache-2.0
#include "harness/model_case/model_case.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "harness/code/cubin.hpp"
#include "harness/error.hpp"

namespace assay {
namespace {

std::vector<ModelCase>& all() {
  static std::vector<ModelCase> cases;
  return cases;
}

// The PTX of one object file: kernels, and what they share. It is gone through once, as the texts
// are long and every case asks for a kernel.
struct Text {
  struct Part {
    std::string_view text, entry;  // the name of a kernel; empty: of all of them
  };
  std::vector<Part> parts;

  explicit Text(std::string_view all) {
    std::size_t first = 0;  // of the part that is read
    std::string_view entry;
    bool section = false;  // of debug information: names of functions, which nobody asks for
    const auto end_part = [&](std::size_t at) {
      if (at > first && !section) parts.push_back({all.substr(first, at - first), entry});
      first = at;
      entry = {};
      section = false;
    };
    const auto line_end = [&](std::size_t at) {
      return std::min(all.find('\n', at), all.size() - 1) + 1;
    };
    std::size_t open = 0;  // the next brace that opens
    for (std::size_t begin = 0; begin < all.size();) {
      std::size_t end = line_end(begin);
      const std::string_view line = all.substr(begin, end - begin);
      constexpr std::string_view kEntry = ".entry ";
      if (const auto at = line.find(kEntry); at != line.npos) {
        end_part(begin);
        entry = line.substr(at + kEntry.size(), line.find('(') - at - kEntry.size());
      } else if (line.starts_with(".section")) {
        end_part(begin);
        section = true;
      }
      // What it opens ends where all braces are closed. From brace to brace, as lines are many.
      std::ptrdiff_t depth = std::ranges::count(line, '{') - std::ranges::count(line, '}');
      const bool opens = depth > 0;
      for (std::size_t at = end; depth > 0 && at < all.size();) {
        if (open != all.npos && open < at) open = all.find('{', at);
        const std::size_t brace = std::min(open, all.find('}', at));
        depth += brace == open ? 1 : -1;
        at = brace == all.npos ? all.size() : brace + 1;
        end = line_end(at - 1);
      }
      begin = end;
      if (opens) end_part(begin);
    }
    end_part(all.size());
  }
};

const std::vector<Text>& program_texts() {
  static const std::vector<Text> texts = [] {
    std::vector<Text> found;
    for (const std::string_view whole : program_ptx()) found.emplace_back(whole);
    return found;
  }();
  return texts;
}

const Text& text_of(std::string_view kernel) {
  for (const Text& text : program_texts())
    for (const Text::Part& part : text.parts)
      // The first of several targets' is as good as another: a kernel of one architecture has one.
      if (part.entry.find(kernel) != part.entry.npos) return text;
  throw Error(ExitCode::unfit, "this program holds no PTX of a kernel '" + std::string(kernel) +
                                   "': build it for the kernel's target");
}

// Sixteen bytes a thread, and by others the words that are left at the end.
constexpr const char* kGridBefore = R"(
.visible .entry assay_grid_before(.param .u64 at, .param .u32 quads, .param .u32 rest) {
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<6>;
  griddepcontrol.launch_dependents;
  griddepcontrol.wait;
  ld.param.u64 %rd1, [at];
  ld.param.u32 %r1, [quads];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra REST;
  mul.wide.s32 %rd2, %r5, 16;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd3];
  st.global.v4.u32 [%rd3], {%r6, %r7, %r8, %r9};
  ret;
REST:
  ld.param.u32 %r10, [rest];
  sub.s32 %r6, %r5, %r1;
  setp.ge.s32 %p2, %r6, %r10;
  @%p2 bra DONE;
  mul.wide.s32 %rd2, %r1, 16;
  mul.wide.s32 %rd3, %r6, 4;
  add.s64 %rd4, %rd1, %rd2;
  add.s64 %rd5, %rd4, %rd3;
  ld.global.u32 %r7, [%rd5];
  st.global.u32 [%rd5], %r7;
DONE:
  ret;
}
)";

}  // namespace

ModelCase::Registration::Registration(ModelCase one) { all().push_back(std::move(one)); }

ModelCase::Registration::Registration(std::vector<ModelCase> many) {
  for (ModelCase& one : many) all().push_back(std::move(one));
}

const std::vector<ModelCase>& model_cases() {
  std::ranges::sort(all(), {}, &ModelCase::name);
  return all();
}

std::string ptx_of(const std::vector<std::string>& kernels) {
  std::string kept;
  for (const Text::Part& part : text_of(kernels.at(0)).parts)
    if (part.entry.empty() || std::ranges::any_of(kernels, [&](const std::string& kernel) {
          return part.entry.find(kernel) != part.entry.npos;
        }))
      kept += part.text;
  if (kept.find("griddepcontrol.wait") != kept.npos) kept += kGridBefore;
  return kept;
}

void written_by_a_grid_before(model::Gpu& gpu, std::initializer_list<const void*> arrays) {
  for (const void* array : arrays) {
    const auto at = std::bit_cast<model::Address>(array);
    const int words = at == 0 ? 0 : static_cast<int>(gpu.bytes_of(at) / 4);
    if (words == 0) continue;
    const int quads = words / 4, rest = words % 4, threads = 256;
    gpu.launch("assay_grid_before",
               {.grid = {(quads + rest + threads - 1) / threads, 1, 1},
                .block = {threads, 1, 1},
                .early = true},
               model::Arguments().push(at).push(quads).push(rest));
  }
}

}  // namespace assay
