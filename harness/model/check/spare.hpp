// SPDX-License-Identifier: Apache-2.0
// Memory of large arrays that are gone, for the next ones: fresh pages from the system cost more
// time than most launches.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace assay::model {

template <class T>
class Spare {
 public:
  static std::vector<T> filled(std::size_t count, const T& value) {
    std::vector<T> made;
    if (count >= kLeast && !gone && !kept.vectors.empty()) {
      made = std::move(kept.vectors.back());
      kept.vectors.pop_back();
      kept.elements -= made.capacity();
    }
    made.assign(count, value);
    return made;
  }

  static void give(std::vector<T> vector) {
    if (gone || vector.capacity() < kLeast || kept.elements + vector.capacity() > kMost) return;
    kept.elements += vector.capacity();
    kept.vectors.push_back(std::move(vector));
  }

 private:
  static constexpr std::size_t kLeast = (std::size_t{32} << 10) / sizeof(T),
                               kMost = (std::size_t{64} << 20) / sizeof(T);
  struct Kept {
    std::vector<std::vector<T>> vectors;
    std::size_t elements = 0;
    ~Kept() { gone = true; }
  };
  static inline thread_local bool gone = false;  // at the end of the thread
  static inline thread_local Kept kept;
};

}  // namespace assay::model
