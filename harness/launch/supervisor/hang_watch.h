#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/run_case/run_case.h"
#include "harness/launch/control/launch_contract.h"
#include "harness/launch/supervisor/flight_answers.h"
#include "harness/launch/supervisor/flights.h"
#include "harness/launch/supervisor/supervised_ranks.h"

namespace ddbench::launch {

/// Which rank is missing from which collective: reported on request, once when ranks wait for some seconds, and kept with a run
/// that hung. The flight recorders of ranks on this machine are read from their files; ranks elsewhere are asked for theirs.
class HangWatch {
 public:
  /// `remote`: the ranks are elsewhere. The references must outlive this object.
  HangWatch(const RunCase& run_case, const LaunchOptions& options, LaunchObserver& observer, SupervisedRanks& ranks, bool remote);

  /// An answer to a question for flight recorders.
  void take(int rank, const Flight& flight);
  /// Answers a person who asked where the ranks are; ranks elsewhere get some time to answer first.
  void answer_where(const std::vector<RankView>& views, SteadyTime now);
  /// Once a second: reports a hang when it begins. Call it while the ranks train. Of a program: why it is to be ended, once its ranks
  /// have stood in collectives, or a rank has been silent, for LaunchOptions::watchdog.
  std::optional<std::string> look(const std::vector<RankView>& views, SteadyTime now);
  /// The launcher itself was away (paused with its ranks): what stood still meanwhile ends no program until the limit is over again.
  void forgive(SteadyTime now) { not_before_ = now + options_.watchdog; }
  /// The last collectives of ranks, as notes for a run that hung; none where the ranks were not asked.
  std::vector<std::string> notes() const;

 private:
  std::vector<RankFlight> flights(bool with_stopped) const;
  void ask(SteadyTime now);
  std::string where_ranks_are_now(const std::vector<RankView>& views, SteadyTime now) const;
  std::optional<std::string> who_hangs(const std::vector<RankView>& views, SteadyTime now) const;
  std::optional<std::string> who_hangs_elsewhere(const std::vector<RankView>& views, SteadyTime now) const;
  std::optional<std::string> why_program_ends(const std::vector<RankView>& views, SteadyTime now) const;

  const RunCase& run_case_;
  const LaunchOptions& options_;
  LaunchObserver& observer_;
  SupervisedRanks& ranks_;
  const bool remote_;
  FlightAnswers flight_answers_;
  SteadyTime next_question_;
  SteadyTime next_look_;
  SteadyTime not_before_;                ///< ends no program before
  std::optional<SteadyTime> where_due_;  ///< set while a person waits for an answer
  bool reported_ = false;                ///< the hang that goes on
};

}  // namespace ddbench::launch
