#pragma once

#include <vector>

#include "analyzer/figure/figure.h"
#include "gui/models/data_table_model.h"
#include "gui/models/store_jobs.h"

namespace ddbench::gui {

inline constexpr std::size_t kMostComparedRuns = 12;

/// Runs side by side.
struct ComparedRuns {
  QString title;
  QString about;  ///< what may be concluded
  reports::DataTable table;
  analyzer::Figure figure;
};

/// One run: its figures; two: each with ratio and interval, and what differs; more: a row each (the first
/// kMostComparedRuns). On a job's thread.
ComparedRuns compare_chosen(JobContext& context, const std::vector<store::RunRecord>& runs);

}  // namespace ddbench::gui
