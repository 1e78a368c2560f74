#include "analyzer/import/table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <variant>

#include "analyzer/import/numbers.h"
#include "analyzer/import/table/case_fields.h"
#include "analyzer/import/table/csv.h"
#include "analyzer/import/table/report_csv.h"
#include "analyzer/import/table/scaling_modes.h"
#include "analyzer/import/table/table_columns.h"
#include "core/error.h"
#include "core/facts/facts.h"

namespace ddbench::imports {
namespace {

constexpr double kLongestStep_ns = 9e18;

/// Tables repeat few cases, under many names: each is made of its cells once, without labels.
using CaseMemory = std::unordered_map<std::string, RunCase>;
constexpr std::size_t kMostCases = 4096;

/// Makes the rows of one file into runs. Errors name the line.
class RowReader {
 public:
  RowReader(const std::string& origin, const CsvRow& row, const ScalingModes& modes, CaseMemory& cases)
      : origin_(origin), row_(row), modes_(modes), cases_(cases) {}

  ImportedRun read(const std::vector<Column>& columns) {
    values(columns);
    return imported();
  }

  const RowValues& values(const std::vector<Column>& columns) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string cell(trimmed(row_.cells[i]));
      if (const std::string wrong = columns[i].set(values_, cell); !wrong.empty()) {
        fail(fmt::format("column {} ({}): {}", i + 1, columns[i].name, wrong));
      }
    }
    return values_;
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
      if (nodes * per_node != values_.gpus) {  // both are at most kMostRanks
        fail(fmt::format("{} GPUs are not {} node(s) of {}", values_.gpus, nodes, per_node));
      }
    }
    nodes = std::max<std::int64_t>(nodes, 1);
    per_node = std::max<std::int64_t>(per_node, 1);
    if (nodes * per_node > kMostRanks) fail(fmt::format("{} nodes of {} GPUs are too many", nodes, per_node));
    run_case.nodes = static_cast<int>(nodes);
    run_case.gpus_per_node = static_cast<int>(per_node);
    if (values_.nodes == 0 && values_.gpus_per_node == 0) set_unplaced(run_case, run_case.world_size());
  }

  void set_batch(RunCase& run_case) const {
    if (values_.case_fields.count("batch_per_gpu") == 0) run_case.batch_per_gpu = 1;
    if (values_.global_batch == 0) return;
    const std::int64_t copies = run_case.world_size() / model_parallel(values_);
    if (values_.global_batch % copies != 0) {
      const bool parallel = copies != run_case.world_size();
      fail(fmt::format("a global batch of {} cannot be shared by {} {}", values_.global_batch, copies,
                       parallel ? "copies of the model"
                                : "GPUs (where several hold one copy of the model, say so in columns "
                                  "tensor_parallel, pipeline_parallel or context_parallel)"));
    }
    const std::int64_t share = values_.global_batch / copies;
    if (values_.case_fields.count("batch_per_gpu") != 0 && run_case.batch_per_gpu != share) {
      fail(fmt::format("a global batch of {} on {} GPUs is {} a GPU, not {}", values_.global_batch,
                       run_case.world_size(), share, run_case.batch_per_gpu));
    }
    run_case.batch_per_gpu = share;
    if (values_.case_fields.count("scaling") == 0 && !modes_.is_weak(values_))
      run_case.scaling = ScalingMode::kStrong;
  }

  /// Its throughput counts tokens, and its batch something else: how long a step takes is not known.
  bool has_useless_batch() const { return values_.counts_tokens && values_.step_ns <= 0 && states_batch(); }
  bool states_batch() const { return values_.global_batch > 0 || values_.case_fields.count("batch_per_gpu") > 0; }
  /// Without one, a step has as many samples as GPUs here, so that its length stands for the throughput.
  bool has_known_batch() const { return states_batch() && !has_useless_batch(); }
  /// Without a batch, a throughput alone does not say how long a step takes.
  bool has_known_step(const RunCase& run_case) const { return has_known_batch() || !states_throughput() || samples_of_step(run_case) > 0; }
  /// By the length of a step and the throughput, where no batch is stated. 0: they do not say it, or contradict each other, as a step has a
  /// sample at least; then the throughput counts.
  double samples_of_step(const RunCase& run_case) const {
    if (states_batch() || values_.step_ns <= 0) return 0;
    const double samples = rate_of(run_case) * values_.step_ns * 1e-9;
    return samples >= 0.95 ? samples : 0;
  }
  /// Of all GPUs. 0: not stated.
  double rate_of(const RunCase& run_case) const {
    const double by_gpu = values_.samples_per_s_per_gpu * run_case.world_size();
    if (values_.samples_per_s <= 0) return by_gpu;
    if (by_gpu > 0 && !agree(by_gpu, values_.samples_per_s)) {
      fail(fmt::format("throughput and throughput_per_gpu do not agree: {:.6g} samples/s on each of {} GPUs are {:.6g}, not {:.6g}: leave out the one "
                       "that is rounded",
                       values_.samples_per_s_per_gpu, run_case.world_size(), by_gpu, values_.samples_per_s));
    }
    return values_.samples_per_s;
  }
  static bool agree(double a, double b) { return std::abs(std::log(a / b)) <= 0.05; }
  bool states_throughput() const { return values_.samples_per_s > 0 || values_.samples_per_s_per_gpu > 0; }

  /// Runs of other batches are other cases, so they stay apart by what is constant on their curve.
  void keep_useless_batch(RunCase& run_case) const {
    const bool is_strong = values_.global_batch > 0 && !modes_.is_weak(values_);
    run_case.strategy_options[is_strong ? "global_batch" : "batch_per_gpu"] =
        std::to_string(is_strong ? values_.global_batch : run_case.batch_per_gpu);
    run_case.batch_per_gpu = 1;
    run_case.scaling = ScalingMode::kWeak;
  }

  void set_model_parallel(RunCase& run_case) const {
    const std::int64_t gpus = model_parallel(values_);
    if (run_case.world_size() % gpus != 0)
      fail(fmt::format("{} GPUs cannot hold whole copies of a model that is spread over {}", run_case.world_size(),
                       gpus));
    const auto set = [&](const char* name, std::int64_t size) {
      if (size > 1) run_case.strategy_options[name] = std::to_string(size);
    };
    set("tensor_parallel", values_.tensor_parallel);
    set("pipeline_parallel", values_.pipeline_parallel);
    set("context_parallel", values_.context_parallel);
  }

  /// From whichever metrics there are; they must agree.
  std::int64_t step_ns(const RunCase& run_case) const {
    const auto batch = static_cast<double>(run_case.global_batch());
    const double rate = rate_of(run_case);
    double ns = values_.step_ns;
    if (counts_steps_alone()) return checked_step_ns(ns);
    if (rate > 0) {
      const double other_ns = batch / rate * 1e9;
      if (ns > 0 && states_batch() && !agree(ns, other_ns)) {
        fail(fmt::format(
            "step time and throughput do not agree: {} samples in {} s are {:.6g} samples/s, not {:.6g}",
            batch, ns / 1e9, batch / ns * 1e9, rate));
      }
      if (ns <= 0 || !has_known_step(run_case)) ns = other_ns;
    }
    if (ns <= 0) fail("no metric is given: one of step_time, throughput and throughput_per_gpu must be");
    return checked_step_ns(ns);
  }
  /// Its rate is of tokens, and its step time belongs to a batch of samples.
  bool counts_steps_alone() const {
    return values_.counts_tokens && values_.step_ns > 0 && states_batch();
  }
  std::int64_t checked_step_ns(double ns) const {
    if (!(ns >= 1) || ns > kLongestStep_ns) fail(fmt::format("a step of {:.3g} ns cannot be stored", ns));
    return std::llround(ns);
  }

  /// What the case follows from.
  std::string case_cells() const {
    std::string cells;
    for (const std::int64_t number : {values_.gpus, values_.nodes, values_.gpus_per_node, values_.global_batch, values_.tensor_parallel,
                                      values_.pipeline_parallel, values_.context_parallel, std::int64_t{modes_.is_weak(values_)},
                                      std::int64_t{has_useless_batch()}})
      cells.append(std::to_string(number)).append(1, ' ');
    for (const auto& [name, text] : values_.case_fields) {
      if (!is_label(name)) cells.append(1, '\0').append(name).append(1, '\0').append(text);
    }
    return cells;
  }

  const RunCase& unlabelled_case() const {
    std::string cells = case_cells();
    if (const auto known = cases_.find(cells); known != cases_.end()) return known->second;
    if (cases_.size() >= kMostCases) cases_.clear();
    RunCase made = new_case();
    return cases_.emplace(std::move(cells), std::move(made)).first->second;
  }

  RunCase run_case() const {
    RunCase run_case = unlabelled_case();
    set_labels(run_case, values_.case_fields);
    return run_case;
  }

  RunCase new_case() const {
    try {
      auto fields = values_.case_fields;
      std::erase_if(fields, [](const auto& field) { return is_label(field.first); });
      RunCase run_case = case_from(fields);
      set_sizes(run_case);
      set_model_parallel(run_case);
      set_batch(run_case);
      if (has_useless_batch()) keep_useless_batch(run_case);
      if (auto* const workload = std::get_if<ReferenceWorkload>(&run_case.work)) workload->batch_is_known = has_known_batch();
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
    set_fact(run.environment.facts, fact_key<"import.line">, row_.line);
    if (counts_steps_alone()) run.environment.facts.erase(std::string(fact_key<"import.sample_unit">.name));
    if (const double samples = samples_of_step(run.run_case); samples > 0)
      set_fact(run.environment.facts, fact_key<"import.samples_per_step">, samples);
    if (!has_known_step(run.run_case)) {
      set_fact(run.environment.facts, fact_key<"import.step_time">, "not said");
      set_fact(run.environment.facts, fact_key<"import.samples_per_s">, rate_of(run.run_case));
    }
    if (has_useless_batch()) {
      set_fact(run.environment.facts, fact_key_of<"note.*">(1),
               "the throughput counts tokens and the batch does not: how long a step takes is not known");
    }
    store::StepRecord step;
    step.duration_ns = step_ns(run.run_case);
    step.probes_on = false;
    imported.steps.push_back(step);
    return imported;
  }

  const std::string& origin_;
  const CsvRow& row_;
  const ScalingModes& modes_;
  CaseMemory& cases_;
  RowValues values_;
};

/// Weak or strong scaling follows from all rows of a curve together: they are examined before any becomes a
/// run.
ScalingModes modes_of(std::string_view text, const std::string& origin, const std::vector<Column>& columns) {
  ScalingModes modes;
  const auto is = [](const char* name) {
    return [name](const Column& column) { return column.key == name; };
  };
  if (std::none_of(columns.begin(), columns.end(), is("global_batch"))) return modes;
  if (std::any_of(columns.begin(), columns.end(), is("scaling"))) return modes;
  const ScalingModes none;
  CaseMemory cases;
  CsvReader reader(text, origin);
  for (CsvRow row; reader.next(row);) modes.see(RowReader(origin, row, none, cases).values(columns));
  return modes;
}

}  // namespace

void read_table(std::string_view text, const std::string& origin, const TableOptions& options,
                const TakeRun& take) {
  CsvReader reader(text, origin);
  const std::vector<Column> columns =
      table_columns(reader.header().cells, options, origin, reader.header().line);
  const ScalingModes modes = modes_of(text, origin, columns);
  CaseMemory cases;
  CsvRow row;
  bool any = false;
  const bool is_report = is_report_csv(reader.header().cells);
  while (reader.next(row)) {
    if (is_report && !is_usable_report_row(reader.header().cells, row.cells)) continue;
    take(RowReader(origin, row, modes, cases).read(columns));
    any = true;
  }
  if (!any && is_report)
    throw Error(ErrorCode::kBadInput, fmt::format("{} has no finished, valid run with a step time or a throughput", origin), 0, origin);
  if (!any) throw Error(ErrorCode::kBadInput, fmt::format("{} has a header and no rows", origin), 0, origin);
}

}  // namespace ddbench::imports
