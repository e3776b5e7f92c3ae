// SPDX-License-Identifier: Apache-2.0
// `assay isa`: which instruction exists on which target, asked of the assembler.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "harness/commands/commands.hpp"
#include "harness/isa/crash_guard.hpp"
#include "harness/isa/environment.hpp"
#include "harness/isa/render.hpp"
#include "harness/machine/excerpt.hpp"

namespace assay::commands {
namespace {

constexpr std::size_t kFewForms = 12;  // are shown with details unasked

struct Options {
  std::string filter;
  std::optional<std::string> ptx;
  std::vector<std::string> targets;
  bool json = false, markdown = false, html = false, details = false;
};

void show_progress(std::size_t done, std::size_t total) {
  if (::isatty(STDERR_FILENO) == 0) return;
  show_on_stderr("\r\033[K");
  if (done < total)
    show_on_stderr(fmt::format("[{}/{}] assembling and disassembling", done, total));
}

void show_matrix(const Options& options) {
  const std::vector<std::string>& targets =
      options.targets.empty() ? isa::default_targets() : options.targets;
  for (const std::string& target : targets) isa::require_target(target);
  std::vector<isa::Form> forms =
      options.ptx ? isa::forms_from(*options.ptx) : isa::select_forms(options.filter);
  if (options.ptx) isa::mark_crashes(forms, targets, show_progress);
  const isa::Matrix matrix = isa::judge_all(std::move(forms), targets, show_progress);
  const bool details = options.details || matrix.forms.size() <= kFewForms;
  fmt::print("{}", options.json       ? to_json(matrix)
                   : options.markdown ? to_markdown(matrix)
                   : options.html     ? made_by("assay-isa-page", to_json(matrix))
                                      : to_text(matrix, details));
}

std::string examples() {
  return "Needs no GPU. Each form is assembled and disassembled for each target; what it became "
         "is\n"
         "compared with a kernel without it. Nothing is looked up in a list.\n\n"
         "Examples:\n"
         "  assay isa                                    everything\n"
         "  assay isa 'mma.sync.*e2m1' --details         where, as what, and why not\n"
         "  assay isa --targets sm_100a sm_100f --json   for programs\n"
         "  assay isa --html > isa.html                  a page to search\n"
         "  assay isa --ptx 'add.(u32|u64).sat %r0, %r1, %r2;'\n"
         "  assay isa --ptx '.reg .f16x2 a, b; tanh.approx.f16x2 a, b;'\n"
         "  assay isa --ptx forms.txt                    one form a line\n"
         "  assay isa --ptx kernel.ptx                   a module: its .target is replaced\n\n"
         "Registers that --ptx may name without declaring them (values known at run time only):\n" +
         isa::environment_text() +
         "\n(a|b) stands for both in turn, %r[0:4] for %r0, %r1, %r2, %r3.\n"
         "Instructions of one thread (bulk and tensor copies, tcgen05.mma) are issued by an "
         "elected\n"
         "one; around wgmma.mma_async stand fence, commit and wait; behind tcgen05.ld its wait.\n\n"
         "Exit status: 0 shown, 2 no such instruction or target, 4 no assembler or disassembler.";
}

}  // namespace

void add_isa(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "isa", "The instruction x target matrix: native, emulated, split, rejected or unknown");
  auto options = std::make_shared<Options>();
  auto* filter = command->add_option("FILTER", options->filter,
                                     "Regular expression found in the name or the PTX of a form");
  command->add_option("--ptx", options->ptx, "Forms of your own: PTX, or a file of it")
      ->excludes(filter);
  command
      ->add_option("--targets,--target", options->targets,
                   fmt::format("Columns, such as sm_90a sm_100f (default: {})",
                               fmt::join(isa::default_targets(), " ")))
      ->delimiter(',');
  command->add_flag("--details", options->details, "With what each form becomes, or why not");
  auto* json = command->add_flag("--json", options->json, "For programs");
  auto* markdown = command->add_flag("--markdown", options->markdown, "Grouped tables");
  command->add_flag("--html", options->html, "One page to search and filter")
      ->excludes(json)
      ->excludes(markdown);
  json->excludes(markdown);
  command->footer(examples());
  command->callback([options, &exit_code] {
    show_matrix(*options);
    exit_code = 0;
  });
}

}  // namespace assay::commands
