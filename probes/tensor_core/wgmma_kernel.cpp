// SPDX-License-Identifier: Apache-2.0
#include "probes/tensor_core/wgmma_kernel.hpp"

#include <fmt/format.h>

#include "harness/element.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"

namespace assay {
namespace {

std::string joined(const std::string& prefix, int first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}{}", i ? ", " : "", prefix, first + i);
  return text;
}

std::uint32_t word_of(const std::string& element, double value) {
  return static_cast<std::uint32_t>(pack(element, 32, value));
}

}  // namespace

std::size_t WgmmaKernel::in_words() const {
  return WgmmaOperands::word_count(form) + static_cast<std::size_t>(chains);
}

std::size_t WgmmaKernel::out_words() const {
  return static_cast<std::size_t>(chains * form.registers() * threads());
}

std::string WgmmaKernel::setup() const {
  const int steps = form.steps(), tile = form.tile_bytes();
  // Threads of a second warpgroup and later fill the tile once more: the number launched differs.
  std::string text = "  mov.u32 %tile, tile;\n" + load_tile(tile, WgmmaForm::kWarpgroup);
  text +=
      "  and.b32 %member, %thread, 127;\n"
      "  mad.wide.u32 %mine, %member, 4, %in;\n"
      "  mad.wide.u32 %out, %thread, 4, %out;\n"
      "  setp.ne.u32 %add, 1, 0;\n";
  int at = tile;
  const auto load_of_warpgroup = [&](const std::string& reg, int count) {
    for (int i = 0; i < count; ++i, at += WgmmaForm::kWarpgroup * 4)
      text += fmt::format("  ld.global.b32 {}{}, [%mine+{}];\n", reg, i, at);
  };
  if (form.in_registers) load_of_warpgroup("%f", steps * WgmmaForm::kFragment);
  if (form.sparse) load_of_warpgroup("%meta", steps);
  for (int r = 0; r < chains * form.registers(); ++r)
    text += fmt::format("  ld.global.b32 %d{}, [%in+{}];\n", r, at + r / form.registers() * 4);
  // Descriptors: the constant fields, the address in units of 16 bytes, the step along K.
  text += "  shr.u32 %at, %tile, 4;\n  cvt.u64.u32 %from, %at;\n";
  for (int step = 0; step < steps; ++step) {
    const auto along = [&](std::uint32_t start, int bytes) {
      return ptx::advance(ptx::encode_k_major_128b(0), start + static_cast<std::uint32_t>(bytes));
    };
    const std::uint32_t b = form.in_registers ? 0 : WgmmaForm::kRows * WgmmaForm::kRowBytes;
    if (!form.in_registers)
      text += fmt::format("  add.u64 %a{}, %from, {};\n", step, along(0, 32 * step));
    text += fmt::format("  add.u64 %b{}, %from, {};\n", step,
                        along(b, WgmmaForm::kRowBytes / steps * step));
  }
  return text;
}

std::string WgmmaKernel::loop() const {
  std::string text;
  for (int i = 0; i < instructions(); ++i) {
    const int chain = i % chains, step = i / chains % form.steps();
    if (i % mmas == 0) text += "  wgmma.fence.sync.aligned;\n";
    const std::string a =
        form.in_registers
            ? "{" + joined("%f", step * WgmmaForm::kFragment, WgmmaForm::kFragment) + "}"
            : fmt::format("%a{}", step);
    text += form.ptx(joined("%d", chain * form.registers(), form.registers()), a,
                     fmt::format("%b{}", step), fmt::format("%meta{}", step));
    if (i % mmas == mmas - 1)
      text += fmt::format(
          "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned {};\n", pending);
  }
  return text;
}

KernelUse WgmmaKernel::use(Target target) const {
  PtxKernel kernel{.target = target, .entry = entry, .threads = threads()};
  kernel.declarations = fmt::format(
      "  .shared .align 1024 .b8 tile[{}];\n"
      "  .reg .b32 %d<{}>, %f<{}>, %meta<{}>;\n  .reg .pred %add;\n"
      "  .reg .b32 %at, %tile, %member;\n  .reg .b64 %from, %mine, %a<4>, %b<4>;\n",
      form.tile_bytes(), chains * form.registers(), form.steps() * WgmmaForm::kFragment,
      form.steps());
  kernel.setup = setup();
  kernel.loop = loop();
  kernel.finish = "  wgmma.wait_group.sync.aligned 0;\n";
  for (int r = 0; r < chains * form.registers(); ++r)
    kernel.finish +=
        fmt::format("  @%first st.global.b32 [%out+{}], %d{};\n", r * threads() * 4, r);
  const std::string opcode = form.opcode();
  return {.kernel = entry,
          .sass = {{opcode, instructions(), instructions()},
                   // More of them would say that the assembler takes one instruction at a time.
                   {"WARPGROUP.ARRIVE", groups, groups},
                   {"WARPGROUP.DEPBAR", groups, groups}},
          .ptx = ptx_text(kernel)};
}

GeneratedKernel load_wgmma(State& s, const WgmmaKernel& kernel) {
  const WgmmaForm& form = kernel.form;
  GeneratedKernel loaded(s, kernel.entry, kernel.threads(), kernel.in_words() * 4,
                         kernel.out_words() * 4);
  const WgmmaOperands operands = small_integers(form, s.seed());
  std::vector<std::uint32_t> words = operands.words(form);
  const auto start = [](int chain) { return 3.0 + chain; };
  for (int chain = 0; chain < kernel.chains; ++chain)
    words.push_back(word_of(form.accumulator, start(chain)));
  loaded.set_inputs(words);

  constexpr int kRounds = 2;
  const double times =
      static_cast<double>(kRounds * kernel.instructions()) / (kernel.chains * form.steps());
  const auto found = loaded.outputs_after<std::uint32_t>(kRounds);
  const std::vector<double> product = operands.product(form);
  const int per_word = 32 / element_bits(form.accumulator), threads = kernel.threads();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const int thread = static_cast<int>(i) % threads;
    const int reg = static_cast<int>(i) / threads % form.registers();
    const int chain = static_cast<int>(i) / threads / form.registers();
    for (int part = 0; part < per_word; ++part) {
      const auto [row, column] = accumulator_place(reg * per_word + part, thread);
      const double expected =
          start(chain) + times * product[static_cast<std::size_t>(row * form.n + column)];
      const double value = unpack(form.accumulator, found[i] >> (part * 32 / per_word));
      s.require(value == expected, fmt::format("{}: row {}, column {} of D ended as {}, not {}",
                                               kernel.entry, row, column, value, expected));
    }
  }
  return loaded;
}

void set_operands(const GeneratedKernel& loaded, const WgmmaKernel& kernel,
                  const WgmmaOperands& operands) {
  std::vector<std::uint32_t> words = operands.words(kernel.form);
  words.insert(words.end(), static_cast<std::size_t>(kernel.chains),
               word_of(kernel.form.accumulator, 1));
  loaded.set_inputs(words);
}

}  // namespace assay
