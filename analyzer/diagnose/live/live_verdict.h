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

/// Who holds the others up while the run goes on, from how long each rank is in collectives: the slow one comes last and is in them for
/// the shortest time, the others wait in them. It names who, since when and at what cost, and
/// why, where ranks report their own time: the part of it (compute without CPU wait, CPU wait, data, the rest) that has 60% of what the
/// named ranks take longer than the median other rank.
///
/// Looks are about a second apart, and longer where a step takes longer. Ranks, at most half of them, are named when over the last
/// kLooks looks the others were in collectives longer by 10% of the time on average, by 5% three standard errors below that, and in
/// four of five looks those were the ones. They are forgotten when that has been less than 5% for as long. So a verdict comes
/// about 10 s after the onset.
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

  /// "rank 2 (node 0) holds the others up since step 120: they wait 31% of the time for it; it waits for its data loader". Empty while
  /// nobody is named.
  const std::string& verdict() const noexcept { return verdict_; }
  /// Fewest of all ranks.
  std::uint64_t steps() const noexcept;
  /// Over the last looks; nothing before the first.
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
    LiveReading latest;
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
