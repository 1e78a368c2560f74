#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace ddbench::launch {

/// Which of several failures began it. When a rank dies, its peers fail too, with broken connections, and
/// their messages may arrive first. A death, or an error that is not one of communication, is certain: the
/// first one is the cause. An error of communication is the cause only when nothing better comes within
/// kPatience.
class RootCause {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds kPatience{1000};

  void add(int rank, std::string reason, bool certain, Time now) {
    if (cause_ && (cause_->certain || !certain)) return;
    const Time since = cause_ ? cause_->since : now;
    cause_ = Cause{rank, std::move(reason), certain, since};
  }

  struct Cause {
    int rank = -1;
    std::string reason;
    bool certain = false;
    Time since;
  };
  /// Nothing while there is no failure, or while a better cause may still come (Time::max(): it cannot).
  std::optional<Cause> verdict(Time now) const {
    if (!cause_ || (!cause_->certain && now - cause_->since < kPatience)) return std::nullopt;
    return cause_;
  }

 private:
  std::optional<Cause> cause_;
};

}  // namespace ddbench::launch
