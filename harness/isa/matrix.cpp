// SPDX-License-Identifier: Apache-2.0
#include "harness/isa/matrix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>

#include "harness/callable.hpp"
#include "harness/code/assembler.hpp"
#include "harness/code/sha256.hpp"
#include "harness/error.hpp"
#include "harness/isa/assembly.hpp"
#include "harness/isa/evidence_store.hpp"
#include "harness/isa/kernel_text.hpp"
#include "harness/isa/parsed_form.hpp"
#include "harness/machine/dynamic_library.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/machine/files.hpp"
#include "harness/machine/parallel.hpp"
#include "harness/target.hpp"

namespace assay::isa {
namespace {

// One process of the disassembler serves the forms of a task: fewer cost more for its start, more
// leave a core idle in the end.
constexpr std::size_t kFormsPerTask = 1024;

// Part of the name of the files of evidence: raised when code is read differently.
constexpr int kEvidenceVersion = 6;

struct Task {
  std::size_t target;
  std::vector<std::size_t> forms;
};

// Changes with the tools beside the assembler: their patch level shows in the size of their files.
std::string tool_identities() {
  std::error_code ignored;
  const auto of = [&](const std::string& file) {
    return file.empty() ? 0 : std::filesystem::file_size(file, ignored);
  };
  return fmt::format("nvdisasm {} ptxas {}", of(find_tool("nvdisasm")), of(find_ptxas()));
}

// What is assembled for a form. The target is not in it: it names the file of evidence.
std::string content_key(const Form& form) {
  const Form* const pointer = &form;
  const std::string text = is_module(form.ptx) ? form.ptx : module_text({&pointer, 1}, "").ptx;
  return sha256(text).substr(0, 32);
}

// A module is as many statements as it has semicolons.
Shape shape_of(const Form& form) {
  if (is_module(form.ptx))
    return {.statements = static_cast<int>(std::ranges::count(form.ptx, ';')),
            .leaves_result = true};
  const ParsedForm parsed(form.ptx);
  return {.statements = parsed.statements(), .leaves_result = parsed.leaves_result()};
}

class Judging {
 public:
  Judging(Matrix& matrix, const Callable<void(std::size_t, std::size_t)>& progress)
      : matrix_(matrix), progress_(progress) {
    const std::string tools = tool_identities();
    for (const Form& form : matrix.forms) {
      keys_.push_back(content_key(form));
      shapes_.push_back(shape_of(form));
    }
    for (const std::string& target : matrix.targets) {
      const std::string identity =
          fmt::format("{}\n{}\n{}\n{}", kEvidenceVersion, matrix.assembler, tools, target);
      stores_.push_back(std::make_unique<EvidenceStore>(
          cache_path(fmt::format("isa-{}-{}.jsonl", target, sha256(identity).substr(0, 16)))));
    }
  }

  void run() {
    look_up();
    for (const Task& task : tasks_) matrix_.judged_now += task.forms.size();
    if (tasks_.empty()) return;
    progress_(0, matrix_.judged_now);
    on_every_core(tasks_.size(), [this](std::size_t i) { examine_task(tasks_[i]); });
  }

 private:
  void look_up() {
    for (std::size_t t = 0; t < matrix_.targets.size(); ++t) {
      std::vector<std::size_t> missing;
      for (std::size_t f = 0; f < matrix_.forms.size(); ++f) {
        if (!matrix_.forms[f].problem.empty())
          matrix_.verdicts[f][t] = {.support = Support::unknown, .words = matrix_.forms[f].problem};
        else if (const Evidence* known = stores_[t]->find(keys_[f]))
          matrix_.verdicts[f][t] = isa::judge(*known, shapes_[f]);
        else
          missing.push_back(f);
      }
      for (std::size_t begin = 0; begin < missing.size(); begin += kFormsPerTask) {
        const std::size_t end = std::min(begin + kFormsPerTask, missing.size());
        tasks_.push_back({t,
                          {missing.begin() + static_cast<std::ptrdiff_t>(begin),
                           missing.begin() + static_cast<std::ptrdiff_t>(end)}});
      }
    }
  }

  void examine_task(const Task& task) {
    std::vector<const Form*> forms;
    for (const std::size_t f : task.forms) forms.push_back(&matrix_.forms[f]);
    const std::vector<Evidence> evidence = examine(forms, matrix_.targets[task.target]);
    std::vector<std::pair<std::string, Evidence>> fresh;
    for (std::size_t i = 0; i < evidence.size(); ++i) {
      matrix_.verdicts[task.forms[i]][task.target] =
          isa::judge(evidence[i], shapes_[task.forms[i]]);
      fresh.emplace_back(keys_[task.forms[i]], evidence[i]);
    }
    stores_[task.target]->append(fresh);
    const std::lock_guard lock(mutex_);
    done_ += fresh.size();
    progress_(done_, matrix_.judged_now);
  }

  Matrix& matrix_;
  const Callable<void(std::size_t, std::size_t)>& progress_;
  std::vector<std::string> keys_;                       // of forms
  std::vector<Shape> shapes_;                           // likewise
  std::vector<std::unique_ptr<EvidenceStore>> stores_;  // of targets
  std::vector<Task> tasks_;
  std::mutex mutex_;  // of what follows
  std::size_t done_ = 0;
};

}  // namespace

const std::vector<std::string>& default_targets() {
  static const std::vector<std::string> targets = [] {
    std::vector<std::string> all;
    for (const TargetRow& row : kTargetTable)
      for (const std::string_view target : words(row.assembled)) all.emplace_back(target);
    return all;
  }();
  return targets;
}

void require_target(const std::string& target) {
  static const RE2 spelling("sm_[0-9]{2,3}[af]?");
  if (!RE2::FullMatch(target, spelling))
    throw Error(ExitCode::usage, fmt::format("unknown target '{}': spell it like one of {}",
                                             excerpt(target), fmt::join(default_targets(), " ")));
}

Matrix judge_all(std::vector<Form> forms, std::vector<std::string> targets,
                 const Callable<void(std::size_t, std::size_t)>& progress) {
  for (const std::string& target : targets) require_target(target);
  Matrix matrix{.forms = std::move(forms),
                .targets = std::move(targets),
                .verdicts = {},
                .assembler = assembler_identity()};
  matrix.verdicts.assign(matrix.forms.size(), std::vector<Verdict>(matrix.targets.size()));
  Judging(matrix, progress).run();
  return matrix;
}

}  // namespace assay::isa
