// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction/registry.hpp"

#include <algorithm>

namespace assay {
namespace {

std::vector<RegisteredRow>& registered() {
  static std::vector<RegisteredRow> rows;  // function-local: safe before main()
  return rows;
}

}  // namespace

void register_instruction_rows(const std::string& group, const std::vector<InstructionRow>& rows) {
  for (const InstructionRow& row : rows)
    registered().push_back({group + "/" + row.name, group, row});
}

const std::vector<RegisteredRow>& instruction_rows() {
  // Registration ends before main(), where the first call comes from.
  static const std::vector<RegisteredRow>& sorted = [&]() -> std::vector<RegisteredRow>& {
    std::ranges::sort(registered(), {}, &RegisteredRow::name);
    return registered();
  }();
  return sorted;
}

const InstructionRow* find_instruction(std::string_view name) {
  const auto& rows = instruction_rows();
  const auto found = std::ranges::lower_bound(rows, name, {}, &RegisteredRow::name);
  return found == rows.end() || found->name != name ? nullptr : &found->row;
}

}  // namespace assay
