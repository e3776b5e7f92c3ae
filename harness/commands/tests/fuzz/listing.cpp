// SPDX-License-Identifier: Apache-2.0
// What a disassembler prints, up to the analysis of the kernel.
#include <memory>

#include "harness/code/disassembly.hpp"
#include "harness/commands/tests/fuzz/reader.hpp"
#include "harness/sass/analysis.hpp"
#include "harness/sass/report_text.hpp"

namespace assay {
namespace {

const FuzzedReader reader("listing", [](std::string_view input) {
  static const sass::CostTable table = sass::CostTable::newest("sm_90a");
  if (input.empty()) return;  // asked for the table alone
  Function function{
      .name = "kernel", .arch = "sm_90a", .cubin_sha256 = "", .code = {}, .routines = {}};
  try {
    function.code = parse_listing(input);
  } catch (const Error&) {
    return;  // says that the tool is not understood, which is no error of input
  }
  if (function.code.size() > 2000) return;
  for (std::size_t i = 0; i < function.code.size(); ++i)
    function.code[i].address = static_cast<std::uint32_t>(16 * i);
  must_survive([&] {
    const auto kernel = sass::analyse(std::make_shared<const Function>(std::move(function)), table);
    sass::report_text(kernel, table, true);
  });
});

}  // namespace
}  // namespace assay
