// SPDX-License-Identifier: Apache-2.0
// What the instruction x target matrix has rows of.
#pragma once
#include <string>
#include <vector>

namespace assay::isa {

// One instruction (or a few that belong together) as PTX text, its operands registers of the
// standard environment (environment.hpp).
struct Form {
  std::string name;   // "mma.sync/mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
  std::string group;  // "mma.sync"
  std::string ptx;
  std::string timed = {};    // the case that measures this form; empty if none does
  std::string problem = {};  // why it is not to be assembled (crash_guard.hpp)
};

// Every form of the registered instruction tables, by group and in the order registered, timed
// tables last. Of rows that are one instruction the first stays, and bears the name of a case that
// times it.
std::vector<Form> all_forms();

// Those whose name or PTX `filter`, a regular expression, is found in, or the name of a row that is
// the same instruction. Throws Error(usage) with the nearest names if there is none, or if it is no
// expression.
std::vector<Form> select_forms(const std::string& filter);

// Texts of a person's own: `source` is PTX, one form or several in the notation of notation.hpp, or
// names a file with one form a line, or with a module (".version ..."), which is one form.
// Throws Error(usage) if it holds none.
std::vector<Form> forms_from(const std::string& source);

// Whether the text is a module of its own rather than instructions for the environment.
bool is_module(const std::string& ptx);

}  // namespace assay::isa
