#include "ddbench/imports/table.h"

#include <fmt/format.h>

#include <cmath>

#include "case_fields.h"
#include "csv.h"
#include "ddbench/record/error.h"
#include "numbers.h"
#include "table_columns.h"

namespace ddbench::imports {
namespace {

constexpr double kLongestStep_ns = 9e18;

/// Makes the rows of one file into runs. Errors name the line.
class RowReader {
 public:
  RowReader(const std::string& origin, const CsvRow& row) : origin_(origin), row_(row) {}

  ImportedRun read(const std::vector<Column>& columns) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string cell(trimmed(row_.cells[i]));
      if (const std::string wrong = columns[i].set(values_, cell); !wrong.empty()) {
        fail(fmt::format("column {} ({}): {}", i + 1, columns[i].name, wrong));
      }
    }
    return imported();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kBadInput, fmt::format("{} line {}: {}", origin_, row_.line, what), 0, origin_);
  }

  void set_sizes(RunCase& run_case) const {
    std::int64_t nodes = values_.nodes;
    std::int64_t per_node = values_.gpus_per_node;
    if (values_.gpus > 0) {
      if (nodes == 0) nodes = per_node == 0 ? 1 : values_.gpus / per_node;
      if (per_node == 0) per_node = nodes == 0 ? 0 : values_.gpus / nodes;
      if (nodes * per_node != values_.gpus) {
        fail(fmt::format("{} GPUs are not {} node(s) of {}", values_.gpus, nodes, per_node));
      }
    }
    constexpr std::int64_t kMost = 1 << 20;
    run_case.nodes = static_cast<int>(std::clamp<std::int64_t>(nodes, 1, kMost));
    run_case.gpus_per_node = static_cast<int>(std::clamp<std::int64_t>(per_node, 1, kMost));
  }

  void set_batch(RunCase& run_case) const {
    if (values_.case_fields.count("batch_per_gpu") == 0) run_case.batch_per_gpu = 1;
    if (values_.global_batch == 0) return;
    if (values_.global_batch % run_case.world_size() != 0) {
      fail(fmt::format("a global batch of {} cannot be shared by {} GPUs", values_.global_batch,
                       run_case.world_size()));
    }
    const std::int64_t share = values_.global_batch / run_case.world_size();
    if (values_.case_fields.count("batch_per_gpu") != 0 && run_case.batch_per_gpu != share) {
      fail(fmt::format("a global batch of {} on {} GPUs is {} a GPU, not {}", values_.global_batch,
                       run_case.world_size(), share, run_case.batch_per_gpu));
    }
    run_case.batch_per_gpu = share;
    if (values_.case_fields.count("scaling") == 0) run_case.scaling = ScalingMode::kStrong;
  }

  /// From whichever metrics there are; they must agree.
  std::int64_t step_ns(const RunCase& run_case) const {
    const auto batch = static_cast<double>(run_case.global_batch());
    double ns = values_.step_ns;
    for (const double rate : {values_.samples_per_s, values_.samples_per_s_per_gpu * run_case.world_size()}) {
      if (rate <= 0) continue;
      const double other_ns = batch / rate * 1e9;
      // Without the batch a step is not known, and the two say different things: the throughput counts.
      if (ns > 0 && values_.global_batch + batch_said() > 0 && std::abs(std::log(ns / other_ns)) > 0.05) {
        fail(fmt::format(
            "step time and throughput do not agree: {} samples in {} s are {:.6g} samples/s, not {:.6g}",
            batch, ns / 1e9, batch / ns * 1e9, rate));
      }
      if (ns <= 0 || values_.global_batch + batch_said() == 0) ns = other_ns;
    }
    if (ns <= 0) fail("no metric is given: one of step_time, throughput and throughput_per_gpu must be");
    if (!(ns >= 1) || ns > kLongestStep_ns) fail(fmt::format("a step of {:.3g} ns cannot be stored", ns));
    return std::llround(ns);
  }
  std::int64_t batch_said() const {
    return static_cast<std::int64_t>(values_.case_fields.count("batch_per_gpu"));
  }

  RunCase run_case() const {
    try {
      RunCase run_case = case_from(values_.case_fields);
      set_sizes(run_case);
      set_batch(run_case);
      run_case.steps = 1;
      run_case.warmup = 0;
      validate(run_case);
      return run_case;
    } catch (const Error& error) {
      if (error.where() == origin_) throw;
      fail(error.message());
    }
  }

  ImportedRun imported() const {
    ImportedRun imported;
    store::RunRecord& run = imported.run;
    run.run_case = run_case();
    run.state = store::RunState::kDone;
    run.provenance = {Provenance::kImported};
    run.environment.network = values_.network;
    run.environment.facts = values_.facts;
    run.environment.facts[kFactLine] = fmt::format("{}", row_.line);
    store::StepRecord step;
    step.duration_ns = step_ns(run.run_case);
    step.probes_on = false;
    imported.steps.push_back(step);
    return imported;
  }

  const std::string& origin_;
  const CsvRow& row_;
  RowValues values_;
};

}  // namespace

std::vector<ImportedRun> read_table(std::string_view text, const std::string& origin,
                                    const TableOptions& options) {
  const CsvTable table = read_csv(text, origin);
  const std::vector<Column> columns = table_columns(table.header.cells, options, origin, table.header.line);
  if (table.rows.empty()) {
    throw Error(ErrorCode::kBadInput, fmt::format("{} has a header and no rows", origin), 0, origin);
  }
  std::vector<ImportedRun> runs;
  for (const CsvRow& row : table.rows) runs.push_back(RowReader(origin, row).read(columns));
  return runs;
}

}  // namespace ddbench::imports
