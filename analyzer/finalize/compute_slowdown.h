#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/attribution/step_range.h"
#include "analyzer/statistics/statistics.h"
#include "core/span.h"

namespace ddbench::analyzer {

/// How much longer compute takes while its rank communicates: contention for cores, caches and memory.
///
/// An operator of a layer (a rank's n-th of its name in a step) is compared with itself in other steps, or in
/// other micro-batches of the step. With f the share of the operator's time beside communication, the
/// logarithm of its time is taken as a + b f, where `a` is the operator's own and `b` that of all, by least
/// squares weighted with the operator's time. Interval: jackknife over groups of steps (Student's t).
class ComputeSlowdown {
 public:
  /// An operator that runs once in each micro-batch is identified by its position in the micro-batch.
  explicit ComputeSlowdown(int micro_batches = 1) : micro_batches_(static_cast<std::size_t>(micro_batches)) {}

  /// Adds the operators of one rank in the steps of `range`; `spans` are those of its steps and neighbours.
  /// Spans that stand for others (kReducedName) are left out.
  void add(std::size_t rank, std::span<const Span> spans, std::span<const std::string> names,
           const StepRange& range);

  /// Adds what another gathered.
  void add(const ComputeSlowdown& other);

  /// 100 (e^b - 1). Missing, with the reason, where too few operators were seen both with and without.
  Measured<Estimate> percent() const;

 private:
  static constexpr std::size_t kGroups = 10;
  struct Sums {
    double count = 0;
    double share = 0;
    double share_squared = 0;
    double log_time = 0;
    double share_log_time = 0;
    double time_ns = 0;

    Sums& operator+=(const Sums& other);
  };
  using Operator = std::tuple<std::size_t, std::uint32_t, std::size_t>;  ///< rank, name id, place in the step

  struct Fit {
    double slope = 0;
    double spread = 0;  ///< how many operators' worth of difference in the share it stands on
  };
  /// Without one group; kGroups: with all.
  Fit fit_without(std::size_t group) const;

  std::size_t micro_batches_;
  std::map<Operator, std::array<Sums, kGroups>> operators_;
  bool communicates_ = false;
};

}  // namespace ddbench::analyzer
