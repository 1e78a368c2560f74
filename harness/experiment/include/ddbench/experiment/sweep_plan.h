#pragma once

#include <string>
#include <vector>

#include "ddbench/record/run_case.h"
#include "ddbench/store/run_store.h"

namespace ddbench::experiment {

/// Which fields of a case a sweep varies; an empty list keeps the case's own value.
struct SweepAxes {
  std::vector<std::int64_t> nodes;
  std::vector<std::int64_t> gpus_per_node;
  std::vector<std::int64_t> batch_per_gpu;
  std::vector<std::string> links;  ///< "" among them: not shaped
  int repeat = 1;
};

struct SweepCell {
  RunCase run_case;
  int repetition = 0;
};

/// Every combination once, small worlds first; repetitions outermost, so that drift of the machine spreads over all cases.
/// With strong scaling the global batch of `run_case` is kept; a world that does not divide it is an Error{kBadInput}.
/// Links apply to worlds of several nodes only (a case on one node appears once).
std::vector<SweepCell> sweep_cells(const RunCase& run_case, const SweepAxes& axes);

/// "sweep-20261121T001905-<definition>": `definition` is the same for the same cells, so that a sweep that was cut short
/// is found again.
std::string new_sweep_id(const std::vector<SweepCell>& cells);

/// The newest sweep of the store with the same cells that is not complete; empty when there is none.
std::string unfinished_sweep(const store::RunStore& store, const std::vector<SweepCell>& cells);

/// Cells without a finished, valid run in the sweep, in order.
std::vector<SweepCell> missing_cells(const store::RunStore& store, const std::string& sweep_id,
                                     const std::vector<SweepCell>& cells);

}  // namespace ddbench::experiment
