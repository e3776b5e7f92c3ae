// SPDX-License-Identifier: Apache-2.0
// A GPU on the CPU: runs the PTX of kernels, with asynchronous work completed in an order that a
// seed draws, and says what is wrong with them. docs/model.md tells what it knows and what it does
// not.
//
//   model::Gpu gpu(ptx);                                   // text from nvcc -ptx -lineinfo
//   auto a = gpu.allocate("a", 1024);
//   gpu.write(a, bytes);
//   model::Arguments arguments;
//   arguments.push(a).push(16);
//   auto outcome = gpu.launch("kernel", {.grid = {1, 1, 1}, .block = {128, 1, 1}}, arguments);
//   for (const auto& f : outcome.findings) puts(model::to_text(f).c_str());
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/model/machine/run.hpp"
#include "harness/model/violation.hpp"

namespace assay::model {

// The bytes of a kernel's arguments, each at its type's alignment.
class Arguments {
 public:
  template <class T>
  Arguments& push(const T& value) {
    return push(&value, sizeof(T), alignof(T));
  }
  Arguments& push(const void* value, std::size_t bytes, std::size_t align);
  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

class Gpu {
 public:
  // Throws Violation("ptx.syntax") for text that is no PTX.
  explicit Gpu(std::string_view ptx);

  // An array of global memory, with bounds of its own and uninitialized.
  Address allocate(const std::string& name, std::size_t bytes, std::size_t align = 256);
  // Copies of the host, which wait for all grids.
  void write(Address to, std::span<const std::uint8_t> bytes) {
    past_.clear();
    memory_.write(to, bytes);
  }
  void read(Address from, std::span<std::uint8_t> bytes) {
    past_.clear();
    memory_.read(from, bytes);
  }
  template <class T>
  void write(Address to, const std::vector<T>& values) {
    write(to, std::span(reinterpret_cast<const std::uint8_t*>(values.data()),
                        values.size() * sizeof(T)));
  }
  template <class T>
  std::vector<T> read(Address from, std::size_t count) {
    std::vector<T> values(count);
    read(from, std::span(reinterpret_cast<std::uint8_t*>(values.data()), count * sizeof(T)));
    return values;
  }

  // Of the array that begins at `at`. Throws Violation if none does.
  std::size_t bytes_of(Address at);

  // Names of the kernels (entries), as PTX has them: mangled.
  std::vector<std::string> kernels() const;
  // The only kernel whose name contains `part`. Throws Violation if there are none or more.
  std::string kernel(std::string_view part) const;
  const Function& function(const std::string& name) const;

  // What of a kernel the model cannot execute, a sentence for each instruction; empty: nothing.
  std::vector<std::string> unknown(const std::string& kernel) const;

  // Runs a grid to its end, or until most_findings. Where `shape` says that it begins early, it may
  // not touch what grids before it wrote, nor write what they read, until griddepcontrol.wait has
  // said that they have ended; the model runs one after another all the same. Throws Violation for
  // what cannot be launched.
  Outcome launch(const std::string& kernel, const Shape& shape, const Arguments& arguments,
                 const Options& options = {});

 private:
  Module module_;
  GlobalMemory memory_;
  std::unordered_map<std::string, Address> symbols_;
  std::unordered_map<std::string, std::unique_ptr<Program>> programs_;
  std::vector<PastGrid> past_;  // that an early grid may not take to have ended; the last one first
};

// CRC-32 as zlib computes it: what golden files keep of a result.
std::uint32_t crc32(std::span<const std::uint8_t> bytes);

// A finding in a few lines of plain text.
std::string to_text(const Finding& finding);

}  // namespace assay::model
