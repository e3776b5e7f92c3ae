// SPDX-License-Identifier: Apache-2.0
#include "harness/isa/assembly.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/code/assembler.hpp"
#include "harness/code/cubin.hpp"
#include "harness/isa/kernel_text.hpp"

namespace assay::isa {
namespace {

constexpr std::size_t kFormsPerModule = 128;

// A form that was assembled.
struct Assembly {
  std::size_t index;  // among those asked for
  std::size_t cubin;  // among those kept
  std::string kernel, frame;
};

void append_once(std::string& words, const std::string& more) {
  if (("; " + words + "; ").find("; " + more + "; ") != std::string::npos) return;
  words += (words.empty() ? "" : "; ") + more;
}

// Whether what stands in quotation marks in a remark is an instruction of the form.
bool names_instruction(const std::string& remark, const std::string& ptx) {
  const std::size_t begin = remark.find('\'');
  const std::size_t end = begin == remark.npos ? begin : remark.find('\'', begin + 1);
  if (end == remark.npos || end == begin + 1) return false;
  return ptx.find(remark.substr(begin + 1, end - begin - 1) + ".") != ptx.npos;
}

// What the assembler says about one form: on the line that holds it or, if nothing there, on those
// around it.
std::string words_about(const Form& form, const FormPlace& place,
                        const std::vector<Remark>& remarks, bool errors) {
  std::string own, around;
  const std::string kernel = " '" + place.kernel + "'";
  for (const Remark& remark : remarks) {
    if (remark.error != errors) continue;
    // An advice may have no place but the instruction it names: "'setmaxnreg' ignored ...".
    const bool advises = !errors && remark.line == 0 && names_instruction(remark.text, form.ptx);
    const std::size_t named = remark.text.find(kernel);
    if (remark.line == place.own || advises)
      append_once(own, remark.text);
    else if (named != remark.text.npos)
      append_once(around, std::string(remark.text).erase(named, kernel.size()));
    else if (remark.line >= place.begin && remark.line < place.end)
      append_once(around, remark.text);
  }
  return own.empty() ? around : own;
}

// nvJitLink does not look at .maxnreg, without which setmaxnreg has no meaning. It says so and goes
// on; ptxas does as it is told.
bool was_ignored(const std::string& words) { return words.find("(C7504)") != words.npos; }

// Lines are those of the module around a form, which nobody has seen.
std::string without_line(std::string text) {
  static const RE2 line(R"((?: encountered)? on line \d+)");
  RE2::GlobalReplace(&text, line, "");
  return text;
}

class Batch {
 public:
  Batch(std::span<const Form* const> forms, std::string_view architecture)
      : forms_(forms), architecture_(architecture), evidence_(forms.size()) {}

  std::vector<Evidence> run() {
    std::vector<std::size_t> together;
    for (std::size_t i = 0; i < forms_.size(); ++i) {
      if (is_module(forms_[i]->ptx)) {
        examine_module(i);
        continue;
      }
      together.push_back(i);
      if (together.size() == kFormsPerModule) assemble(std::exchange(together, {}));
    }
    assemble(together);
    examine_assembled();
    return std::move(evidence_);
  }

 private:
  // Assembles what can be, and keeps why the rest cannot.
  void assemble(std::vector<std::size_t> indices) {
    while (!indices.empty()) {
      std::vector<const Form*> forms;
      for (const std::size_t i : indices) forms.push_back(forms_[i]);
      const Module module = module_text(forms, architecture_);
      Assembled result = try_assemble_anew(module.ptx, architecture_);
      const std::vector<Remark> said = remarks(result.log);
      if (!result.cubin.empty()) {
        const std::size_t cubin = cubins_.size();
        cubins_.push_back(std::move(result.cubin));  // before those of ptxas, if there are any
        for (std::size_t n = 0; n < indices.size(); ++n) {
          const FormPlace& place = module.forms[n];
          std::string words = words_about(*forms[n], place, said, false);
          if (was_ignored(words) && assemble_by_ptxas(indices[n])) continue;
          evidence_[indices[n]].words = std::move(words);
          assembled_.push_back({indices[n], cubin, place.kernel, place.frame});
        }
        return;
      }
      std::vector<std::size_t> innocent;
      for (std::size_t n = 0; n < indices.size(); ++n) {
        Evidence& evidence = evidence_[indices[n]];
        evidence.words = words_about(*forms[n], module.forms[n], said, true);
        if (evidence.words.empty()) innocent.push_back(indices[n]);
      }
      if (innocent.size() == indices.size()) {  // an error without a place: halve until one is left
        if (indices.size() == 1) {
          evidence_[indices[0]].words = said.empty() ? result.log.substr(0, result.log.find('\n'))
                                                     : without_line(said[0].text);
          return;
        }
        const auto middle = indices.begin() + static_cast<std::ptrdiff_t>(indices.size() / 2);
        assemble({indices.begin(), middle});
        innocent.assign(middle, indices.end());
      }
      indices = std::move(innocent);
    }
  }

  bool assemble_by_ptxas(std::size_t index) {
    const Module module = module_text({&forms_[index], 1}, architecture_);
    Assembled result = try_assemble_by_ptxas(module.ptx, architecture_);
    if (result.cubin.empty()) return false;
    const FormPlace& place = module.forms.front();
    evidence_[index].words = words_about(*forms_[index], place, remarks(result.log), false);
    assembled_.push_back({index, cubins_.size(), place.kernel, place.frame});
    cubins_.push_back(std::move(result.cubin));
    return true;
  }

  void examine_assembled() {
    std::vector<FunctionRef> kernels;
    std::map<std::pair<std::size_t, std::string>, std::size_t> index_of;  // in `kernels`
    const auto place_of = [&](std::size_t cubin, const std::string& kernel) {
      const auto [place, is_new] = index_of.emplace(std::pair(cubin, kernel), kernels.size());
      if (is_new) kernels.push_back({cubins_[cubin], kernel});
      return place->second;
    };
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (const Assembly& a : assembled_)
      pairs.emplace_back(place_of(a.cubin, a.frame), place_of(a.cubin, a.kernel));
    const std::vector<Function> functions = disassemble_anew(kernels);
    for (std::size_t i = 0; i < assembled_.size(); ++i) {
      Evidence& evidence = evidence_[assembled_[i].index];
      std::string words = std::move(evidence.words);
      const Function &frame = functions[pairs[i].first], &kernel = functions[pairs[i].second];
      evidence = difference(frame, kernel);
      evidence.words = std::move(words);
      evidence.readable = frame.problem.empty() && kernel.problem.empty();
      if (!evidence.readable)
        append_once(evidence.words, "nvdisasm cannot read the machine code of it");
    }
  }

  // A module of someone's own, for this architecture instead of the one it names, and in the
  // version of PTX that knows all of them.
  void examine_module(std::size_t index) {
    static const RE2 target(R"((^|\n)[ \t]*\.target[ \t]+\w+)");
    static const RE2 version(R"((^|\n)[ \t]*\.version[ \t]+[1-8]\.[0-9]+)");
    std::string ptx = forms_[index]->ptx;
    RE2::GlobalReplace(&ptx, target, R"(\1.target )" + std::string(architecture_));
    RE2::GlobalReplace(&ptx, version, R"(\1.version 9.0)");
    Assembled result = try_assemble_anew(ptx, architecture_);
    if (!result.cubin.empty() && was_ignored(result.log))
      if (Assembled again = try_assemble_by_ptxas(ptx, architecture_); !again.cubin.empty())
        result = std::move(again);
    std::string words;
    for (const Remark& remark : remarks(result.log))
      if (remark.error == result.cubin.empty())
        append_once(words, remark.line > 0 ? fmt::format("line {}: {}", remark.line, remark.text)
                                           : remark.text);
    Evidence& evidence = evidence_[index];
    if (!result.cubin.empty()) {
      const DeviceCode code = device_code(std::move(result.cubin));
      std::vector<FunctionRef> kernels;
      for (const std::string& kernel : code.kernels) kernels.push_back({code.elf, kernel});
      const std::vector<Function> functions = disassemble_anew(kernels);
      evidence = contents(functions);
      evidence.readable = std::ranges::all_of(functions, &std::string::empty, &Function::problem);
      if (!evidence.readable) append_once(words, "nvdisasm cannot read the machine code of it");
    }
    evidence.words = std::move(words);
  }

  std::span<const Form* const> forms_;
  std::string_view architecture_;
  std::vector<Evidence> evidence_;
  std::vector<Assembly> assembled_;
  std::vector<std::vector<char>> cubins_;
};

}  // namespace

std::vector<Remark> remarks(std::string_view log) {
  // ptxas application ptx input, line 189; error   : Unknown modifier '.bar'
  // error   : Entry function 'k' uses too much shared data (0x10000 bytes, 0xc000 max)
  static const RE2 form(R"(^(?:ptxas )?(?:.*?line (\d{1,9}); )?(error|fatal|warning|info) *: (.*))",
                        RE2::Latin1);
  std::vector<Remark> found;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string line(log.substr(0, end));
    log.remove_prefix(std::min(end + 1, log.size()));
    std::string number, severity, text;
    if (!RE2::PartialMatch(line, form, &number, &severity, &text)) continue;
    if (text.starts_with("Ptx assembly aborted")) continue;
    found.push_back({.line = number.empty() ? 0 : std::stoi(number),
                     .error = severity == "error" || severity == "fatal",
                     .text = text});
  }
  return found;
}

std::vector<Evidence> examine(std::span<const Form* const> forms, std::string_view architecture) {
  return Batch(forms, architecture).run();
}

}  // namespace assay::isa
