#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace ddbench::analyzer {

/// What a rank has reported so far, at the end of a step.
struct LiveReading {
  int rank = 0;
  std::uint64_t steps = 0;
  std::int64_t collectives_ns = 0;  ///< in collectives since its begin
};

/// What a rank's own thread has done so far in the steps that it recorded, before it waited for others: sums.
struct LiveOwnTime {
  int rank = 0;
  std::uint64_t steps = 0;
  std::int64_t compute_ns = 0;   ///< with the CPU wait in it; -1: not known
  std::int64_t data_ns = 0;
  std::int64_t cpu_wait_ns = 0;
};

/// Finds the ranks that delay the others during the run, from the time that each rank spends in collectives:
/// the slow one arrives last and spends the shortest time in them, while the others wait. The verdict states
/// the ranks, since when and at what cost. If ranks report their own time, it also states the cause: the part
/// of it (compute without CPU wait, CPU wait, data, the rest) with 60% of the excess of the named ranks over
/// the median other rank.
///
/// Looks are about a second apart, and further apart if a step takes longer. Ranks, at most half of them, are
/// named when over the last kLooks looks the others were in collectives longer by 10% of the time on average,
/// by 5% three standard errors below that, and the same ranks were the slowest in four of five looks. They
/// are no longer named after this share has been below 5% for equally long. So a verdict comes about 10 s
/// after the onset.
class LiveVerdict {
 public:
  static constexpr std::size_t kLooks = 8;

  /// `nodes`: of each rank. `first_step`: steps before it are not looked at (warm-up).
  LiveVerdict(std::vector<int> nodes, std::uint64_t first_step);

  /// Readings that go back, or of ranks that do not exist, are ignored.
  void add(const LiveReading& reading);
  void add_own(const LiveOwnTime& time);
  /// About once a second; `now_ns`: of a steady clock. True when the verdict has changed.
  bool look(std::int64_t now_ns);

  /// "rank 2 (node 0) holds the others up since step 120: they wait 31% of the time for it; it waits for its
  /// data loader". Empty while no rank is named.
  const std::string& verdict() const noexcept { return verdict_; }
  /// Fewest of all ranks, also before `first_step`.
  std::uint64_t steps() const noexcept;
  /// Over the last looks; empty before the first.
  std::optional<double> steps_per_s() const;
  std::optional<double> communication_share() const;  ///< of the time, mean over ranks, hidden or not

 private:
  struct Look {
    std::uint64_t first_step = 0;
    double seconds = 0;
    double steps = 0;            ///< median rank
    double communication = 0;    ///< share of the time, mean over ranks
    double step_ns = 0;
    std::vector<LiveOwnTime> own;  ///< by rank, until then
    std::vector<double> waited;  ///< by rank: how much longer the median other rank was in collectives, share of the time
  };
  struct Rank {
    std::uint64_t steps = 0;
    LiveReading latest;  ///< of those that are looked at
    LiveReading at_look;
    LiveOwnTime own;
  };
  bool take_look(std::int64_t now_ns);
  std::vector<std::size_t> suspects() const;
  bool are_named(const std::vector<std::size_t>& ranks) const;
  std::string words(const std::vector<std::size_t>& ranks) const;
  std::string why(const std::vector<std::size_t>& ranks) const;
  double mean_waited(std::size_t rank) const;

  std::vector<int> nodes_;
  std::uint64_t first_step_;
  std::vector<Rank> ranks_;
  std::deque<Look> looks_;  // the last 60
  std::optional<std::int64_t> last_look_ns_;
  std::vector<std::size_t> named_;
  std::string verdict_;
};

}  // namespace ddbench::analyzer
