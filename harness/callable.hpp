// SPDX-License-Identifier: Apache-2.0
// A callable that is stored or handed over, for headers that .cu files include.
//
// std::function would do, but <functional> costs each of the compiler's passes over a .cu file
// (one for the host and one for each target) 13,000 lines, of which nothing else is used.
#pragma once
#include <cstddef>
#include <type_traits>
#include <utility>

namespace assay {

template <class Signature>
class Callable;

// Owns a copy of what it is made of. Copies of it share nothing. Calling an empty one is undefined:
// ask with `if (callable)` where there may be none.
template <class Result, class... Arguments>
class Callable<Result(Arguments...)> {
 public:
  Callable() = default;
  Callable(std::nullptr_t) {}
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Callable> &&
           std::is_invocable_r_v<Result, F&, Arguments...>) Callable(F&& f)
      : stored_(new Owned<std::decay_t<F>>(std::forward<F>(f))) {}
  Callable(const Callable& other) : stored_(other.stored_ ? other.stored_->copy() : nullptr) {}
  Callable(Callable&& other) noexcept : stored_(std::exchange(other.stored_, nullptr)) {}
  Callable& operator=(Callable other) noexcept {
    std::swap(stored_, other.stored_);
    return *this;
  }
  ~Callable() { delete stored_; }

  explicit operator bool() const { return stored_ != nullptr; }
  Result operator()(Arguments... arguments) const {
    return stored_->call(std::forward<Arguments>(arguments)...);
  }

 private:
  struct Stored {
    virtual ~Stored() = default;
    virtual Stored* copy() const = 0;
    virtual Result call(Arguments... arguments) = 0;
  };
  template <class F>
  struct Owned final : Stored {
    F function;

    explicit Owned(const F& from) : function(from) {}
    explicit Owned(F&& from) : function(std::move(from)) {}
    Stored* copy() const override { return new Owned(function); }
    Result call(Arguments... arguments) override {
      return static_cast<Result>(function(std::forward<Arguments>(arguments)...));
    }
  };

  Stored* stored_ = nullptr;
};

}  // namespace assay
