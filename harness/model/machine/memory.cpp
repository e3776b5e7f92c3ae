// SPDX-License-Identifier: Apache-2.0
#include "harness/model/machine/memory.hpp"

#include <algorithm>
#include <cstring>

#include "harness/model/violation.hpp"

namespace assay::model {

Array& GlobalMemory::allocate(std::string name, std::size_t bytes, std::size_t align) {
  if (bytes > kMostBytes - bytes_)
    throw Violation("memory.size", "'" + name + "' has " + std::to_string(bytes) +
                                       " bytes: the model's global memory holds " +
                                       std::to_string(kMostBytes >> 20) + " MiB in all");
  bytes_ += bytes;
  align = std::max<std::size_t>(align, 256);
  next_ = (next_ + align - 1) / align * align;
  auto array = std::make_unique<Array>(next_, std::move(name), bytes);
  Array& made = *array;
  arrays_[next_] = std::move(array);
  // A gap that no array reaches across, so that the end of one is not the begin of the next.
  next_ += bytes + 4096;
  return made;
}

Array* GlobalMemory::find(Address address, std::size_t bytes) {
  const auto holds = [&](const Array& a) {
    return address >= a.base && address - a.base <= a.bytes.size() &&
           bytes <= a.bytes.size() - (address - a.base);
  };
  if (last_ != nullptr && holds(*last_)) return last_;
  auto after = arrays_.upper_bound(address);
  if (after == arrays_.begin()) return nullptr;
  Array& candidate = *std::prev(after)->second;
  if (!holds(candidate)) return nullptr;
  last_ = &candidate;
  return last_;
}

const Array* GlobalMemory::nearest(Address address) const {
  auto after = arrays_.upper_bound(address);
  return after == arrays_.begin() ? nullptr : std::prev(after)->second.get();
}

void GlobalMemory::write(Address address, std::span<const std::uint8_t> bytes) {
  Array* array = find(address, bytes.size());
  if (array == nullptr) throw Violation("memory.bounds", "the host writes outside of any array");
  const std::size_t at = address - array->base;
  std::copy(bytes.begin(), bytes.end(), array->bytes.begin() + static_cast<std::ptrdiff_t>(at));
  array->shadow.initialize(at, bytes.size());
}

void GlobalMemory::read(Address address, std::span<std::uint8_t> bytes) {
  const Array* array = find(address, bytes.size());
  if (array == nullptr) throw Violation("memory.bounds", "the host reads outside of any array");
  std::memcpy(bytes.data(), array->bytes.data() + (address - array->base), bytes.size());
}

void GlobalMemory::forget_accesses() {
  for (auto& [base, array] : arrays_) array->shadow.forget_accesses();
}

void GlobalMemory::age_accesses(Component before) {
  for (auto& [base, array] : arrays_)
    array->shadow.each_access([&](Access& access) {
      if (access.epoch.time == 0) return;
      const Component number = access.epoch.component & ~kAsynchronous;
      const bool older = access.epoch.component >= grid_strand(1) && number <= before;
      const Component ago = older ? number + 1 : 1;
      if (ago > kMostGrids) {
        access = {};
        return;
      }
      access.epoch = {grid_strand(ago), 1};
      // Narrower scopes take in no thread of another grid.
      if (access.strong != static_cast<std::uint32_t>(Scope::gpu))
        access.strong = static_cast<std::uint32_t>(Scope::none);
    });
}

}  // namespace assay::model
