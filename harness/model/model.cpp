// SPDX-License-Identifier: Apache-2.0
#include "harness/model/model.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "harness/model/machine/decode.hpp"
#include "harness/model/ptx/inline.hpp"

namespace assay::model {

Arguments& Arguments::push(const void* value, std::size_t bytes, std::size_t align) {
  bytes_.resize((bytes_.size() + align - 1) / align * align);
  const auto* from = static_cast<const std::uint8_t*>(value);
  bytes_.insert(bytes_.end(), from, from + bytes);
  return *this;
}

Gpu::Gpu(std::string_view ptx) : module_(parse_ptx(ptx)) {
  inline_calls(module_);
  for (const Variable& v : module_.variables) {
    if (v.space == Variable::Space::shared || v.bytes == 0) continue;
    Array& a = memory_.allocate(v.name, static_cast<std::size_t>(v.bytes),
                                static_cast<std::size_t>(v.align));
    symbols_[v.name] = a.base;
  }
  for (const Variable& v : module_.variables) {
    if (v.space == Variable::Space::shared || v.bytes == 0) continue;
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(v.bytes), 0);
    std::copy_n(v.initial.begin(), std::min(bytes.size(), v.initial.size()), bytes.begin());
    for (const auto& a : v.addresses) {
      const auto found = symbols_.find(a.symbol);
      if (found == symbols_.end()) continue;
      const Address address = found->second + static_cast<Address>(a.addend);
      std::memcpy(bytes.data() + a.offset, &address, sizeof address);
    }
    memory_.write(symbols_[v.name], bytes);
    memory_.find(symbols_[v.name], 1)->writable = v.space == Variable::Space::global;
  }
}

Address Gpu::allocate(const std::string& name, std::size_t bytes, std::size_t align) {
  return memory_.allocate(name, bytes, align).base;
}

std::vector<std::string> Gpu::kernels() const {
  std::vector<std::string> names;
  for (const auto& [name, function] : module_.function_of)
    if (function->entry) names.push_back(name);
  return names;
}

std::string Gpu::kernel(std::string_view part) const {
  std::string found;
  for (const std::string& name : kernels()) {
    if (name == part) return name;
    if (name.find(part) == name.npos) continue;
    if (!found.empty() && part.empty()) {
      std::string all;
      for (const std::string& each : kernels()) all += (all.empty() ? "" : ", ") + each;
      throw Violation("launch.kernel", "the PTX has several kernels, say which: " + all);
    }
    if (!found.empty())
      throw Violation("launch.kernel", "more than one kernel is named like '" + std::string(part) +
                                           "': " + found + ", " + name);
    found = name;
  }
  if (found.empty()) {
    if (kernels().empty()) throw Violation("launch.kernel", "the PTX has no kernel");
    std::string all;
    for (const std::string& name : kernels()) all += (all.empty() ? "" : ", ") + name;
    throw Violation("launch.kernel",
                    "no kernel is named like '" + std::string(part) + "'; the PTX has " + all);
  }
  return found;
}

const Function& Gpu::function(const std::string& name) const {
  const auto found = module_.function_of.find(name);
  if (found == module_.function_of.end() || !found->second->entry)
    throw Violation("launch.kernel", "the PTX has no kernel '" + name + "'");
  return *found->second;
}

std::size_t Gpu::bytes_of(Address at) {
  const Array* array = memory_.find(at, 1);
  if (!array || array->base != at) throw Violation("memory.bounds", "no array begins there");
  return array->bytes.size();
}

std::vector<std::string> Gpu::unknown(const std::string& kernel) const {
  return unknown_instructions(module_, function(kernel), symbols_);
}

Outcome Gpu::launch(const std::string& kernel, const Shape& shape, const Arguments& arguments,
                    const Options& options) {
  auto& program = programs_[kernel];
  if (!program) program = std::make_unique<Program>(decode(module_, function(kernel), symbols_));
  if (!shape.early) past_.clear();
  if (past_.empty())
    memory_.forget_accesses();
  else
    memory_.age_accesses(static_cast<Component>(past_.size() - 1));
  Run run(*program, module_, memory_, symbols_, shape, arguments.bytes(), options, past_);
  Outcome outcome = run.go();
  if (past_.size() == kMostGrids) past_.pop_back();
  past_.insert(past_.begin(),
               {program.get(), run.shape(), run.waited_for_grids(), run.let_begin_late()});
  return outcome;
}

std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = ~0u;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
  }
  return ~crc;
}

std::string to_text(const Finding& f) {
  std::ostringstream out;
  const auto place = [&](const Place& p) {
    if (!p.file.empty())
      out << p.file << ":" << p.line;
    else
      out << "PTX line " << p.ptx_line;
    for (const Place::Call& c : p.callers) out << ", called at " << c.file << ":" << c.line;
    out << ", CTA " << p.cta[0] << "," << p.cta[1] << "," << p.cta[2] << " warp " << p.warp
        << " lane " << p.lane << " (thread " << p.thread << ")";
    if (!p.instruction.empty()) out << ", " << p.instruction;
  };
  out << f.rule << ": " << f.text << "\n    at ";
  place(f.at);
  if (f.has_other) {
    out << "\n    and ";
    place(f.other);
  }
  if (f.times > 1) out << "\n    " << f.times << " times";
  if (!f.mend.empty()) out << "\n    mend: " << f.mend;
  return out.str();
}

}  // namespace assay::model
