#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "harness/launch/steps/step_series.h"

namespace ddbench::launch {

/// Why a run that ends by its margin ends.
enum class StopReason : std::uint8_t { kMargin, kMaxTime };

/// Decides when a run has measured enough steps. A pure function of its inputs. After nvbench's criterion of
/// the relative standard deviation, with the interval of an autocorrelated series in its place.
///
/// kMargin: after kFewestSteps and kLeastTime, when the half-width of the step time's 95% interval is at most
/// the margin, and that of the probes' cost at most kProbeMargin of a step. It looks only when a tenth more
/// time has been measured than at the last look: looking at every step would stop where chance makes the
/// interval short. kMaxTime: early enough that steps that begin within lead() end within the maximum time.
class StoppingRule {
 public:
  static constexpr std::uint64_t kFewestSteps = 60;
  static constexpr std::chrono::nanoseconds kLeastTime = std::chrono::seconds(3);
  static constexpr double kProbeMargin = 0.005;

  /// `margin`: a share of the step time, above 0.
  StoppingRule(double margin, std::chrono::nanoseconds most_time);

  void add(const StepWindow& window) { series_.add(window); }
  /// `measured`: since the first measured step began, the one under way included.
  std::optional<StopReason> decide(std::chrono::nanoseconds measured);

  /// How far ahead of the ranks the last step is chosen, so that no rank has to wait for the message.
  std::chrono::nanoseconds lead() const noexcept;

 private:
  bool is_enough() const;

  const double margin_;
  const std::chrono::nanoseconds most_time_;
  StepSeries series_;
  std::int64_t next_look_ns_ = kLeastTime.count();
};

}  // namespace ddbench::launch
