// SPDX-License-Identifier: Apache-2.0
// What this machine may or may not offer: the thing, or one line that says why not.
#pragma once
#include <optional>
#include <string>
#include <utility>

namespace assay {

// For what a run can do without (NVML, counters): its absence is reported, it does not stop the
// run. What a run cannot do without throws Error instead.
template <class T>
class OrReason {
 public:
  OrReason(T value) : value_(std::move(value)) {}
  static OrReason missing(std::string reason) { return OrReason(std::nullopt, std::move(reason)); }

  explicit operator bool() const { return value_.has_value(); }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return &*value_; }
  // Why there is no value, and how to mend it; empty if there is one.
  const std::string& reason() const { return reason_; }

 private:
  OrReason(std::nullopt_t, std::string reason) : reason_(std::move(reason)) {}

  std::optional<T> value_;
  std::string reason_;
};

}  // namespace assay
