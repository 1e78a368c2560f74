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
  QString about;  ///< which conclusions the comparison allows
  reports::DataTable table;
  analyzer::Figure figure;
};

/// One run: its figures; two: each figure with ratio and interval, and the differences; more: one row per run
/// (the first kMostComparedRuns). Call on a job's thread.
ComparedRuns compare_chosen(JobContext& context, const std::vector<store::RunRecord>& runs);

}  // namespace ddbench::gui
