#pragma once

#include <QString>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analyzer/run/run_measures.h"
#include "analyzer/store/rows/run_store.h"

namespace ddbench::gui {

/// The data that the dashboard holds for one run.
struct RunEntry {
  analyzer::RunMeasures measures;  ///< `run` from the start; values once they are read
  bool measured = false;
  int steps_seen = 0;  ///< for a running run: steps stored so far, including warm-up

  const store::RunRecord& run() const noexcept { return measures.run; }
};

/// All runs of a store, newest first. A list that was handed out never changes.
using RunList = std::vector<RunEntry>;
using SharedRunList = std::shared_ptr<const RunList>;

/// The rows of `run`, without values. Runs that changed since `known` are read again; values of unchanged
/// runs are kept.
RunList list_runs(const store::RunStore& store, const RunList& known);

/// Reads the values of entries [first, last) that have none.
void measure_entries(const store::RunStore& store, RunList& list, std::size_t first, std::size_t last);

/// The runs of a sweep, as people choose them.
struct SweepChoice {
  std::string id;
  QString label;  ///< "21 Nov 02:00 · mlp · 12 runs"
  std::size_t runs = 0;
};
std::vector<SweepChoice> sweeps_of(const RunList& list);  ///< newest first

/// "1 run", "12 runs"
QString runs_text(std::size_t count);
/// Local date and time, "21 Nov 2026 02:00".
QString date_text(std::int64_t wall_ns);
/// Without the year, "21 Nov 02:00".
QString short_date_text(std::int64_t wall_ns);
/// "2 × 4"; "? × ? = 16" for an import that does not state how its ranks sit on nodes.
QString size_text(const store::RunRecord& run);
QString provenance_text(ProvenanceSet provenance);
/// "batch per gpu" of the field "batch_per_gpu".
QString spaced(std::string text);

}  // namespace ddbench::gui
