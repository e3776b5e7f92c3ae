// SPDX-License-Identifier: Apache-2.0
// Shadow memory: who wrote and read each byte last, and whether it has been written at all.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "harness/model/check/clock.hpp"
#include "harness/model/check/spare.hpp"

namespace assay::model {

// One access: when, and by which instruction of which thread.
struct Access {
  Epoch epoch;
  std::uint32_t site = 0;         // index of the instruction
  std::uint32_t thread : 30 = 0;  // number of the thread in the grid that did or issued it
  std::uint32_t strong : 2 = 0;   // the Scope of an atomic, volatile or relaxed-or-stronger access

  bool operator==(const Access&) const = default;
};

struct Cell {
  Access write, read;
  std::uint32_t more_reads = 0;  // index + 1 into ReadLists: reads that are not in order
  bool initialized = false;
  bool barrier = false;  // part of a live mbarrier
  bool split = false;    // of ByteShadow: the bytes of the word have cells of their own
};

class ReadLists {
 public:
  std::vector<Access>& of(Cell& cell) {
    if (cell.more_reads == 0) {
      lists_.emplace_back();
      cell.more_reads = static_cast<std::uint32_t>(lists_.size());
    }
    return lists_[cell.more_reads - 1];
  }
  template <class Visit>
  void each_access(const Visit& visit) {
    for (auto& list : lists_)
      for (Access& access : list) visit(access);
  }

 private:
  std::vector<std::vector<Access>> lists_;
};

// A cell for each element.
class Shadow {
 public:
  explicit Shadow(std::size_t elements) : cells_(elements) {}

  Cell& operator[](std::size_t at) { return cells_[at]; }
  std::vector<Access>& reads(Cell& cell) { return lists_.of(cell); }

 private:
  std::vector<Cell> cells_;
  ReadLists lists_;
};

// Of bytes. A word of four has one cell until one of its bytes is accessed without the others,
// which is rare; from then on each of its bytes has one.
class ByteShadow {
 public:
  explicit ByteShadow(std::size_t bytes)
      : words_(Spare<Cell>::filled((bytes + kWord - 1) / kWord, {})) {}
  ~ByteShadow() { Spare<Cell>::give(std::move(words_)); }
  ByteShadow(const ByteShadow&) = delete;
  ByteShadow& operator=(const ByteShadow&) = delete;

  // Calls visit(cell, first byte) for what these bytes have, in order.
  template <class Visit>
  void access(std::size_t at, std::size_t bytes, const Visit& visit) {
    accessed_ = true;
    each(at, bytes, visit);
  }
  std::vector<Access>& reads(Cell& cell) { return lists_.of(cell); }

  void initialize(std::size_t at, std::size_t bytes) {
    each(at, bytes, [](Cell& cell, std::size_t) { cell.initialized = true; });
  }
  // Calls visit(access) for every access that is known of.
  template <class Visit>
  void each_access(const Visit& visit) {
    if (!accessed_) return;
    const auto of_cell = [&](Cell& cell) {
      visit(cell.write);
      visit(cell.read);
    };
    for (Cell& word : words_)
      if (!word.split) of_cell(word);
    for (auto& bytes : split_)
      for (Cell& byte : bytes) of_cell(byte);
    lists_.each_access(visit);
  }
  void mark_barrier(std::size_t at, std::size_t bytes, bool barrier) {
    each(at, bytes, [&](Cell& cell, std::size_t) { cell.barrier = barrier; });
  }
  // Nobody has accessed anything; what was initialized is.
  void forget_accesses() {
    if (!accessed_) return;
    accessed_ = false;
    lists_ = {};
    for (Cell& word : words_)
      if (!word.split) word = {.initialized = word.initialized};
    for (auto& bytes : split_)
      for (Cell& byte : bytes) byte = {.initialized = byte.initialized};
  }

 private:
  static constexpr std::size_t kWord = 4;

  template <class Visit>
  void each(std::size_t at, std::size_t bytes, const Visit& visit) {
    for (const std::size_t end = at + bytes; at < end;) {
      Cell& word = words_[at / kWord];
      const std::size_t first = at % kWord, last = std::min(first + end - at, kWord);
      if (last - first == kWord && !word.split) {
        visit(word, at);
      } else {
        const std::size_t of_word = split(word);
        for (std::size_t k = first; k < last; ++k) visit(split_[of_word][k], at + k - first);
      }
      at += last - first;
    }
  }

  // The place in split_ of a word's bytes, which `more_reads` of a split word holds.
  std::size_t split(Cell& word) {
    if (word.split) return word.more_reads;
    std::array<Cell, kWord> bytes;
    bytes.fill(word);
    // A list is one cell's: the others get copies.
    for (std::size_t k = 1; k < kWord && word.more_reads != 0; ++k) {
      bytes[k].more_reads = 0;
      const std::vector<Access> list = lists_.of(word);
      lists_.of(bytes[k]) = list;
    }
    split_.push_back(bytes);
    word.split = true;
    word.more_reads = static_cast<std::uint32_t>(split_.size() - 1);
    return word.more_reads;
  }

  std::vector<Cell> words_;
  std::vector<std::array<Cell, kWord>> split_;
  ReadLists lists_;
  bool accessed_ = false;
};

}  // namespace assay::model
