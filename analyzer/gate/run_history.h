#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/figure/figure.h"
#include "analyzer/run/run_measures.h"
#include "analyzer/run/run_reference.h"
#include "analyzer/statistics/change_points.h"

namespace ddbench::analyzer {

struct HistoryPoint {
  store::RunId run;
  std::string name;
  std::int64_t started_wall_ns = 0;
  double value = 0;  ///< in the metric's unit
  /// Files of the program that changed since the runs before: from here on it is a different program.
  std::vector<std::string> edited = {};
};

/// A change of level. Levels are medians of the segments, in the metric's unit.
struct LevelChange {
  std::size_t index = 0;  ///< of the first point after the change
  double before = 0;
  double after = 0;
  double p_value = 1;
  bool worse = false;
};

/// The runs of one case in one environment.
struct HistorySeries {
  std::string label;  ///< the case in words, with the fields that distinguish it from other series
  ProvenanceSet provenance;
  std::vector<HistoryPoint> points;  ///< oldest first
  std::vector<LevelChange> changes;
  int unmeasured = 0;  ///< finished runs of this case that have no value
};

struct RunHistory {
  RunMetric metric = RunMetric::kStepTime;
  std::vector<HistorySeries> series;  ///< the one with the newest run first
  std::vector<std::string> notes;
};

/// The newest `limit` runs (0: all) that match `conditions`, restricted to those that are done and valid,
/// grouped by all fields that define a run; change points of the logarithms by change_points. A note states
/// if there are older runs.
RunHistory run_history(const store::RunStore& store, RunMetric metric,
                       const std::vector<FieldCondition>& conditions, std::size_t limit,
                       const ChangePointOptions& options = {});
/// The same of runs that are measured already, in any order.
RunHistory run_history(std::vector<RunMeasures> runs, RunMetric metric,
                       const ChangePointOptions& options = {});

/// Values over the number of the run, with the levels between change points as lines.
Figure history_figure(const RunHistory& history);

}  // namespace ddbench::analyzer
