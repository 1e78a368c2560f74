#pragma once

#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"
#include "core/run_case/run_case.h"

namespace ddbench::experiment {

/// A field of the case, and what a sweep sets it to in turn.
struct SweepAxis {
  std::string field;  ///< as RunCase names it: one of sweep_fields(), or "strategy_options.KEY"
  std::vector<std::string> values;
  std::string option{};  ///< how errors name the field; empty: as RunCase does
};

/// Fields of RunCase that are varied by name, beside sizes and batch: "link", "strategy", "lr", ...
std::vector<std::string> sweep_fields();

/// Which fields of a case a sweep varies; an empty list keeps the case's own value.
struct SweepAxes {
  std::vector<std::int64_t> nodes;
  std::vector<std::int64_t> gpus_per_node;
  std::vector<std::int64_t> batch;  ///< per GPU with weak scaling, of all GPUs with strong scaling
  std::vector<SweepAxis> others;
  int repeat = 1;
};

struct SweepCell {
  RunCase run_case;
  int repetition = 0;
};

/// Every combination once, small worlds first; repetitions outermost, so that drift of the machine spreads
/// over all cases. With strong scaling the global batch is kept; a world that does not divide it is an
/// Error{kBadInput}, and so is a field that is none of sweep_fields(), or a value that it cannot have. Link
/// and requested network apply to worlds of several nodes only (a case on one node appears once).
std::vector<SweepCell> sweep_cells(const RunCase& run_case, const SweepAxes& axes);

/// The same, and before each repetition of it the cases on one GPU that it lacks. Errors as sweep_cells.
std::vector<SweepCell> with_one_gpu(const RunCase& run_case, const SweepAxes& axes);

/// "sweep-20261121T001905-<definition>": `definition` is the same for the same cells and margin, so that a sweep that
/// was cut short is found again. `repeat_margin`, here and below: 0, or of --repeat auto (end_of_repeats): the cells are then
/// those of kMostRepeats repetitions, and of a case that was run often enough no more are missing.
std::string new_sweep_id(const std::vector<SweepCell>& cells, double repeat_margin = 0);

/// The newest sweep of the store with the same cells that is not complete; empty when there is none.
std::string unfinished_sweep(const store::RunStore& store, const std::vector<SweepCell>& cells,
                             double repeat_margin = 0);

/// Cells without a finished, valid run in the sweep, in order.
std::vector<SweepCell> missing_cells(const store::RunStore& store, const std::string& sweep_id,
                                     const std::vector<SweepCell>& cells, double repeat_margin = 0);
bool is_missing(const store::RunStore& store, const std::string& sweep_id, const SweepCell& cell,
                double repeat_margin);

/// Why each case that was run often enough is not run once more, in words.
std::vector<std::string> ends_of_repeats(const store::RunStore& store, const std::string& sweep_id,
                                         const std::vector<SweepCell>& cells, double repeat_margin);

}  // namespace ddbench::experiment
