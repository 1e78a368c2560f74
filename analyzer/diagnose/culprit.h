#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/diagnose/own_work.h"

namespace ddbench::analyzer {

/// Steps [first, end), counted as the rows of a WorkTable.
struct StepWindowRows {
  std::size_t first = 0;
  std::size_t end = 0;
  std::size_t size() const noexcept { return end - first; }
};

/// Below these limits no rank is accused.
struct CulpritLimits {
  double least_cost = 0.10;       ///< of the step time in the window
  double least_explained = 0.80;  ///< of the wait
  double level = 0.999;           ///< of the two-sided interval of the slowdown, whose lower end must be above 1
  double least_swings = 3;        ///< the excess is at least this multiple of Culprit::usual_swing_ns
  std::size_t least_steps = 12;   ///< and a tenth of all
};

/// Ranks that delay the others, and the saving if their work were as long as that of the others.
struct Culprit {
  std::vector<std::size_t> ranks;  ///< indices into the table, ascending; at most half of all ranks
  StepWindowRows window;
  OwnPart part = OwnPart::kCompute;  ///< that takes most of the excess
  double part_share = 0;             ///< of the excess
  double part_ratio = 0;             ///< part on these ranks / its median on the others; 0: others have none
  double excess_ns = 0;              ///< own work above the median of the others, a step; mean over ranks and steps
  double usual_swing_ns = 0;         ///< of mean excesses over windows as long: of the other ranks, and of these outside; 0: too few
  double slowdown_low = 0;           ///< lower end of the interval of own work / median of the others, far values drawn in
  double cost_ns = 0;                ///< a step: by how much its slowest rank's work would be shorter; at most excess_ns
  double cost_share = 0;             ///< of the step time in the window
  double explained = 0;              ///< of the excess of the slowest rank over the median, single steps smoothed
  double typical_share = 0;          ///< excess of the median step / mean excess; near 0 when few steps have it all
};

/// The mean over the window of the slowest rank's own work minus the median of the other ranks' own work: the
/// time that a step loses to waiting. `smooth`: the number of steps over which own work is averaged first, to
/// even out chance.
double lost_to_waiting_ns(const WorkTable& table, StepWindowRows window, std::size_t smooth);

/// The fewest ranks without whose excess the slowest rank would be no slower than usual: taken one after the other, the one
/// with the largest mean excess first, until they explain enough or half of the ranks are taken. Whether the limits are met is
/// another question: is_accused().
Culprit culprit_in(const WorkTable& table, StepWindowRows window, const CulpritLimits& limits = {});
bool is_accused(const Culprit& culprit, const CulpritLimits& limits = {});

/// The culprit with the highest cost to the run, over the whole run and all windows between change points of
/// each rank's excess. Returns it with the shortest window that has 97% of that cost; nothing if no rank is
/// accused in any window.
std::optional<Culprit> find_culprit(const WorkTable& table, const CulpritLimits& limits = {});

/// Own work of a rank minus the median of the other ranks', by step.
std::vector<double> excess_of(const WorkTable& table, std::size_t rank);

}  // namespace ddbench::analyzer
