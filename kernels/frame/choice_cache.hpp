// SPDX-License-Identifier: Apache-2.0
// Which form of a kernel a problem takes, kept for the next call of the same: to choose takes the
// CPU longer than a small product takes the GPU.
#pragma once
#include <cstddef>
#include <map>
#include <mutex>

namespace assay::kernels {

// Thread-safe. `Key` has an order, and says all that the choice depends on.
template <class Key, class Choice>
class ChoiceCache {
 public:
  // make() is called without the lock, so two threads may make the same choice at once.
  template <class Make>
  Choice get(const Key& key, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = made_.find(key); found != made_.end()) return found->second;
    }
    const Choice choice = make();
    const std::lock_guard lock(mutex_);
    if (made_.size() >= kMost) made_.clear();
    made_.insert_or_assign(key, choice);
    return choice;
  }

 private:
  // A serving program meets its shapes again, not ever new ones.
  static constexpr std::size_t kMost = 65536;
  std::mutex mutex_;
  std::map<Key, Choice> made_;
};

}  // namespace assay::kernels
