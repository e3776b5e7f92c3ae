// SPDX-License-Identifier: Apache-2.0
// What an instruction was asked to do and may not.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace assay::model {

// Thrown by the semantics of an instruction whose operands the manual forbids. `rule` is a short
// stable identifier ("tensor_map.box_inner"), what() one sentence with the numbers. The machine
// adds kernel, thread and source line.
class Violation : public std::runtime_error {
 public:
  Violation(std::string rule, const std::string& text)
      : std::runtime_error(text), rule_(std::move(rule)) {}

  const std::string& rule() const { return rule_; }

 private:
  std::string rule_;
};

}  // namespace assay::model
