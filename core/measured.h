#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace ddbench {

/// A number that was measured, or the reason why it could not be. "Cannot measure" is never written as 0.
template <typename T>
class Measured {
 public:
  Measured(T value)
      : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor): a value is a Measured
  static Measured missing(std::string reason) { return Measured(Missing{std::move(reason)}); }

  explicit operator bool() const noexcept { return value_.has_value(); }
  const T& value() const {
    assert(value_);
    return *value_;
  }
  const T& operator*() const { return value(); }
  const T* operator->() const { return &value(); }
  T value_or(T other) const { return value_.value_or(std::move(other)); }
  /// Why there is no value; empty when there is one.
  const std::string& reason() const noexcept { return reason_; }

 private:
  struct Missing {
    std::string reason;
  };
  explicit Measured(Missing missing) : reason_(std::move(missing.reason)) {}

  std::optional<T> value_;
  std::string reason_;
};

/// A two-sided interval and the name of the method that gave it. Unit as the estimate it belongs to.
struct ConfidenceInterval {
  double low = 0;
  double high = 0;
  double level = 0.95;
  std::string method;
};

/// A number with its unit ("ns", "samples/s", "1", ...) and, where it has one, its interval.
struct Metric {
  std::string name;
  std::string unit;
  double value = 0;
  std::optional<ConfidenceInterval> interval;
};

}  // namespace ddbench
