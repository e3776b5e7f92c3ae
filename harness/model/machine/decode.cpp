// SPDX-License-Identifier: Apache-2.0
#include "harness/model/machine/decode.hpp"

#include <algorithm>
#include <bit>

#include "harness/model/machine/first_use.hpp"
#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

std::uint32_t align_up(std::uint32_t value, std::uint32_t align) {
  return (value + align - 1) / align * align;
}

// CUDA C++ Programming Guide 13.0, "Features and Technical Specifications per Compute Capability":
// local memory of a thread. Shared memory has its limit where it is launched, this is far above it.
constexpr std::uint32_t kMostBytes = 512 << 10;

// Puts the variable after the `bytes` that are taken, and returns where it begins.
std::uint32_t place(const Variable& v, std::uint32_t& bytes) {
  const std::uint32_t begin = align_up(bytes, static_cast<std::uint32_t>(v.align));
  if (begin > kMostBytes || v.bytes > std::int64_t{kMostBytes} - begin)
    throw Violation("ptx.size", "'" + v.name + "' has " + std::to_string(v.bytes) +
                                    " bytes: a kernel has at most 512 KiB of a kind of memory");
  bytes = begin + static_cast<std::uint32_t>(v.bytes);
  return begin;
}

Value immediate_bits(const Operand& o, Type type) {
  if (!o.floating) {
    if (type.bits >= 64) return static_cast<Value>(o.value);
    return static_cast<Value>(o.value) & ((Value{1} << type.bits) - 1);
  }
  const double value = std::bit_cast<double>(o.value);
  if (type.bits == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return std::bit_cast<Value>(value);
}

}  // namespace

Decoder::Decoder(const Module& module, const Function& function,
                 const std::unordered_map<std::string, Address>& symbols, Program& program)
    : module_(module), function_(function), symbols_(symbols), program_(program) {
  program_.function = &function;
  program_.slots = function.slots;
  for (const Variable& p : function.parameters)
    program_.parameters[p.name] = place(p, program_.parameter_bytes);
  std::uint32_t dynamic_align = 16;
  const auto place_shared = [&](const Variable& v) {
    if (v.space != Variable::Space::shared || v.external || v.bytes == 0) return;
    program_.shared[v.name] = place(v, program_.shared_bytes);
  };
  for (const Variable& v : module.variables) place_shared(v);
  for (const Variable& v : function.locals) {
    place_shared(v);
    if (v.space == Variable::Space::local || v.space == Variable::Space::parameter)
      program_.locals[v.name] = place(v, program_.local_bytes);
  }
  for (const Variable& v : module.variables)
    if (v.space == Variable::Space::shared && (v.external || v.bytes == 0))
      dynamic_align = std::max(dynamic_align, static_cast<std::uint32_t>(v.align));
  program_.shared_bytes = align_up(program_.shared_bytes, dynamic_align);
  program_.dynamic_offset = program_.shared_bytes;
  for (const Variable& v : module.variables)
    if (v.space == Variable::Space::shared && (v.external || v.bytes == 0))
      program_.shared[v.name] = program_.dynamic_offset;
}

int Decoder::scratch() { return program_.slots++; }

int Decoder::carry() {
  if (carry_ < 0) carry_ = scratch();
  return carry_;
}

int Decoder::constant(Value value) {
  auto [at, added] = constants_.try_emplace(value, 0);
  if (added) {
    at->second = scratch();
    program_.constants.emplace_back(at->second, value);
  }
  return at->second;
}

int Decoder::special(const std::string& name) {
  auto [at, added] = specials_.try_emplace(name, 0);
  if (added) {
    at->second = scratch();
    program_.special.emplace_back(at->second, name);
  }
  return at->second;
}

int Decoder::symbol(const std::string& name, std::int64_t offset) {
  const auto text = [&](std::uint32_t at) {
    return std::to_string(static_cast<std::int64_t>(at) + offset);
  };
  if (auto p = program_.parameters.find(name); p != program_.parameters.end())
    return special("@parameter:" + text(p->second));
  if (auto s = program_.shared.find(name); s != program_.shared.end())
    return special("@shared:" + text(s->second));
  if (auto l = program_.locals.find(name); l != program_.locals.end())
    return constant(static_cast<Value>(l->second + offset));
  if (auto g = symbols_.find(name); g != symbols_.end())
    return constant(g->second + static_cast<Value>(offset));
  throw Violation("ptx.symbol", "'" + name + "' is neither a register nor a variable");
}

int Decoder::destination(const Operand& operand) {
  if (operand.kind == Operand::Kind::register_) return operand.slot;
  if (operand.kind == Operand::Kind::discard) return scratch();
  throw Violation("ptx.operand", "a result must be a register");
}

int Decoder::source(const Operand& operand, Type type) {
  switch (operand.kind) {
    case Operand::Kind::register_:
      return operand.slot;
    case Operand::Kind::immediate:
      return constant(immediate_bits(operand, type));
    case Operand::Kind::symbol:
      if (operand.symbol == "WARP_SZ") return constant(32);
      if (operand.symbol[0] == '%') return special(operand.symbol);
      return symbol(operand.symbol, operand.value);
    default:
      throw Violation("ptx.operand", "this operand must be a register or a number");
  }
}

std::vector<int> Decoder::destinations(const Operand& operand) {
  std::vector<int> slots;
  if (operand.kind != Operand::Kind::vector) return {destination(operand)};
  for (const Operand& o : operand.elements) slots.push_back(destination(o));
  return slots;
}

std::vector<int> Decoder::sources(const Operand& operand, Type type) {
  std::vector<int> slots;
  if (operand.kind != Operand::Kind::vector) return {source(operand, type)};
  for (const Operand& o : operand.elements) slots.push_back(source(o, type));
  return slots;
}

AddressOperand Decoder::address(const Operand& operand) {
  if (operand.kind != Operand::Kind::memory)
    throw Violation("ptx.operand", "this operand must be an address in brackets");
  if (operand.slot >= 0) return {operand.slot, operand.value};
  if (operand.symbol.empty()) return {constant(static_cast<Value>(operand.value)), 0};
  return {symbol(operand.symbol, operand.value), 0};
}

bool Decoder::is_predicate(const Operand& operand) const {
  return operand.kind == Operand::Kind::register_ &&
         std::ranges::any_of(function_.registers, [&](const Register& r) {
           return r.slot == operand.slot && r.type.kind == Type::Kind::predicate;
         });
}

int Decoder::width(const Operand& operand) const {
  if (operand.kind != Operand::Kind::register_) return 64;
  const auto found = std::ranges::find(function_.registers, operand.slot, &Register::slot);
  return found == function_.registers.end() ? 64 : found->type.bits;
}

std::int64_t Decoder::immediate(const Operand& operand, const char* what) {
  if (operand.kind != Operand::Kind::immediate)
    throw Violation("ptx.operand", std::string(what) + " must be a number known when compiled");
  return operand.value;
}

std::string Meanings::name_of(const Instruction& instruction) const {
  std::string name = instruction.opcode;
  while (!by_name_.contains(name)) {
    const auto dot = name.rfind('.');
    if (dot == name.npos) return {};
    name.resize(dot);
  }
  return name;
}

const Meaning* Meanings::find(const Instruction& instruction) const {
  const auto found = by_name_.find(name_of(instruction));
  return found == by_name_.end() ? nullptr : &found->second;
}

std::vector<std::string> Meanings::names() const {
  std::vector<std::string> all;
  for (const auto& [name, meaning] : by_name_) all.push_back(name);
  return all;
}

namespace {

void collect(const Operand& o, std::vector<int>& slots) {
  if (o.slot >= 0) slots.push_back(o.slot);
  if (o.second >= 0) slots.push_back(o.second);
  for (const Operand& e : o.elements) collect(e, slots);
}

}  // namespace

std::vector<std::string> unknown_instructions(
    const Module& module, const Function& function,
    const std::unordered_map<std::string, Address>& symbols) {
  Program program;
  Decoder decoder(module, function, symbols, program);
  std::vector<std::string> unknown;
  for (const Instruction& i : function.body) {
    const Meaning* meaning = meanings().find(i);
    if (meaning == nullptr) {
      unknown.push_back(i.opcode);
      continue;
    }
    try {
      (void)(*meaning)(decoder, i);
    } catch (const Violation& v) {
      unknown.push_back(i.opcode + ": " + v.what());
    } catch (const std::out_of_range&) {
      unknown.push_back(i.opcode + ": it lacks operands");
    }
  }
  return unknown;
}

Program decode(const Module& module, const Function& function,
               const std::unordered_map<std::string, Address>& symbols) {
  Program program;
  Decoder decoder(module, function, symbols, program);
  for (const Instruction& i : function.body) {
    Decoded d;
    d.instruction = &i;
    d.site = static_cast<std::uint32_t>(program.code.size());
    d.guard = i.guard;
    d.guard_negated = i.guard_negated;
    const auto of_cluster = [](const std::string& p) { return p.find("::cluster") != p.npos; };
    d.own_shared =
        (i.has("shared") || i.has("shared::cta")) && std::ranges::none_of(i.parts, of_cluster);
    d.moves = i.parts[0] == "mov" && i.operands.size() == 2 &&
              i.operands[0].kind == Operand::Kind::register_ &&
              i.operands[1].kind == Operand::Kind::register_;
    for (const Operand& o : i.operands) collect(o, d.slots);
    const bool stores = i.parts[0] == "st" || i.parts[0] == "red" || i.parts[0] == "wgmma";
    if (!i.operands.empty() && !stores) collect(i.operands[0], d.writes);
    program.has_wgmma |= i.parts[0] == "wgmma";
    const auto where = [&] { return "PTX line " + std::to_string(i.text_line) + ": "; };
    const Meaning* meaning = meanings().find(i);
    if (meaning == nullptr)
      throw Violation("model.unknown", where() + "the model has no meaning for '" + i.opcode + "'");
    try {
      d.action = (*meaning)(decoder, i);
    } catch (const Violation& v) {
      throw Violation(v.rule(), where() + "'" + i.opcode + "': " + v.what());
    } catch (const std::out_of_range&) {
      throw Violation("ptx.operand", where() + "'" + i.opcode + "' lacks operands");
    }
    program.code.push_back(std::move(d));
  }
  program.maybe_unwritten = maybe_unwritten(program);
  return program;
}

}  // namespace assay::model
