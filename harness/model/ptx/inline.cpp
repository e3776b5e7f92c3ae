// SPDX-License-Identifier: Apache-2.0
#include "harness/model/ptx/inline.hpp"

#include <algorithm>
#include <set>

namespace assay::model {
namespace {

using Names = std::map<std::string, std::string>;

constexpr std::size_t kMostInstructions = 1'000'000;  // of a function with all that it calls

class Inliner {
 public:
  explicit Inliner(Module& module) : module_(module) {}

  void expand(Function& f) {
    if (!done_.insert(f.name).second) return;
    const bool calls = std::ranges::any_of(f.body, is_call);
    if (!calls) return;
    under_way_.insert(f.name);
    std::vector<Instruction> body;
    std::vector<int> place;  // of each instruction of before
    std::vector<bool> own;   // whether its targets count instructions of before
    for (Instruction& i : f.body) {
      place.push_back(static_cast<int>(body.size()));
      Function* callee = is_call(i) ? callee_of(i) : nullptr;
      if (callee == nullptr || body.size() + callee->body.size() > kMostInstructions) {
        body.push_back(std::move(i));
      } else {
        replace(f, i, *callee, body);
      }
      const bool moved = callee == nullptr;
      own.resize(body.size(), moved);
    }
    place.push_back(static_cast<int>(body.size()));
    for (std::size_t k = 0; k < body.size(); ++k) {
      if (!own[k]) continue;
      if (body[k].target >= 0) body[k].target = place[static_cast<std::size_t>(body[k].target)];
      for (int& target : body[k].targets) target = place[static_cast<std::size_t>(target)];
    }
    f.body = std::move(body);
    under_way_.erase(f.name);
  }

 private:
  static bool is_call(const Instruction& i) { return i.parts[0] == "call"; }

  // The function to put in place of the call, with its own calls replaced; null: none.
  Function* callee_of(const Instruction& i) {
    const auto found = module_.function_of.find(i.operands.at(1).symbol);
    if (found == module_.function_of.end()) return nullptr;
    Function& f = *found->second;
    const auto fit = [](const Operand& given, const std::vector<Variable>& wanted) {
      return given.elements.size() == wanted.size() &&
             std::ranges::all_of(given.elements, [](const Operand& o) {
               return o.kind == Operand::Kind::symbol && o.value == 0;
             });
    };
    if (f.body.empty() || f.entry || under_way_.contains(f.name) ||
        !fit(i.operands.at(0), f.results) || !fit(i.operands.at(2), f.parameters))
      return nullptr;
    expand(f);
    return &f;
  }

  static Instruction jump(const Instruction& from, int target) {
    Instruction i;
    i.opcode = "bra";
    i.parts = {"bra"};
    i.operands.push_back({.kind = Operand::Kind::label});
    i.source = from.source;
    i.text_line = from.text_line;
    i.target = target;
    return i;
  }

  static void rename(Operand& o, int first_slot, const Names& names) {
    if (o.slot >= 0) o.slot += first_slot;
    if (o.second >= 0) o.second += first_slot;
    if (const auto name = names.find(o.symbol); name != names.end()) o.symbol = name->second;
    for (Operand& e : o.elements) rename(e, first_slot, names);
  }

  void replace(Function& caller, const Instruction& call, const Function& callee,
               std::vector<Instruction>& body) {
    const std::string prefix = callee.name + "$" + std::to_string(number_++) + "$";
    Names names;
    for (const Variable& v : callee.locals) {
      if (v.space == Variable::Space::shared) {  // one for all calls
        if (std::ranges::none_of(caller.locals,
                                 [&](const Variable& o) { return o.name == v.name; }))
          caller.locals.push_back(v);
        continue;
      }
      names[v.name] = prefix + v.name;
      caller.locals.push_back(v);
      caller.locals.back().name = prefix + v.name;
    }
    for (std::size_t k = 0; k < callee.results.size(); ++k)
      names[callee.results[k].name] = call.operands[0].elements[k].symbol;
    for (std::size_t k = 0; k < callee.parameters.size(); ++k)
      names[callee.parameters[k].name] = call.operands[2].elements[k].symbol;

    const int first_slot = caller.slots;
    caller.slots += callee.slots;
    for (Register r : callee.registers) {
      r.name = prefix + r.name;
      r.slot += first_slot;
      caller.registers.push_back(std::move(r));
    }
    const bool guarded = call.guard >= 0;
    const int first = static_cast<int>(body.size()) + (guarded ? 1 : 0);
    const int after = first + static_cast<int>(callee.body.size());
    if (guarded) {
      body.push_back(jump(call, after));
      body.back().guard = call.guard;
      body.back().guard_negated = !call.guard_negated;
    }
    for (const Instruction& of_callee : callee.body) {
      Instruction i = of_callee.parts[0] == "ret" ? jump(of_callee, after - first) : of_callee;
      if (i.guard < 0) i.guard = of_callee.guard;
      i.guard_negated = of_callee.guard_negated;
      if (i.guard >= 0) i.guard += first_slot;
      for (Operand& o : i.operands) rename(o, first_slot, names);
      if (i.target >= 0) i.target += first;
      for (int& target : i.targets) target += first;
      // Its parameters are the caller's variables, in local memory.
      std::ranges::replace(i.parts, std::string("param"), std::string("param::func"));
      i.source.callers.emplace_back(call.source.file, call.source.line);
      i.source.callers.insert(i.source.callers.end(), call.source.callers.begin(),
                              call.source.callers.end());
      body.push_back(std::move(i));
    }
  }

  Module& module_;
  std::set<std::string> done_, under_way_;
  int number_ = 0;
};

}  // namespace

void inline_calls(Module& module) {
  Inliner inliner(module);
  for (auto& [name, function] : module.function_of)
    if (function->entry) inliner.expand(*function);
}

}  // namespace assay::model
