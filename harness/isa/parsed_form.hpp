// SPDX-License-Identifier: Apache-2.0
// A form's text taken apart: which registers it names, which of them it reads and writes, and what
// it needs around it.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/isa/environment.hpp"

namespace assay::isa {

// What an instruction needs: in the same thread before it, so that its operands are ready, and
// after it, so that its results can be read; and a directive of the kernel.
struct Companion {
  std::string_view prefix, before, after, directive = {};
};

class ParsedForm {
 public:
  explicit ParsedForm(std::string_view ptx);

  const std::string& text() const { return text_; }      // one line, without declarations
  const std::string& shared() const { return shared_; }  // declarations of shared memory
  const std::string& launch() const { return launch_; }  // directives of the kernel: ".maxnreg 64"
  int statements() const { return statements_; }
  // Writes a register, or is nothing but directives.
  bool leaves_result() const { return !written_.empty() || statements_ == 0; }
  const std::vector<Register>& registers() const { return registers_; }  // by first use
  // Before it is written, if it is written at all.
  bool reads(const Register& reg) const { return read_.contains(reg.name); }
  bool writes(const Register& reg) const { return written_.contains(reg.name); }

  std::vector<const Companion*> companions() const;
  // Whether one thread of a warp issues it. Without elect.sync around such an instruction the
  // assembler adds a loop that elects threads itself.
  bool is_of_one_thread() const;

 private:
  void take(const std::string& statement);
  void declare(const std::string& statement);
  void note_operands(const std::string& statement);

  std::string text_, shared_, launch_;
  int statements_ = 0;
  std::map<std::string, std::string> declared_;
  std::vector<Register> registers_;
  std::set<std::string> read_, written_;
};

}  // namespace assay::isa
