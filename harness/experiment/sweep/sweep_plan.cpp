#include "harness/experiment/sweep/sweep_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include "analyzer/run/run_summary.h"
#include "core/error.h"
#include "core/run_case/program_case.h"
#include "core/run_case/program_files.h"
#include "core/text/number.h"
#include "core/text/text_hash.h"
#include "harness/experiment/sweep/repeat_rule.h"
#include "harness/microbench/micro.h"

namespace ddbench::experiment {
namespace {

template <typename T>
std::vector<T> values_or(const std::vector<T>& values, T own) {
  return values.empty() ? std::vector<T>{std::move(own)} : values;
}

// What does not fit an int is no world that validate() lets pass.
int saturated(std::int64_t value) {
  return static_cast<int>(std::clamp<std::int64_t>(value, -1, std::numeric_limits<int>::max()));
}

std::string definition(const std::vector<SweepCell>& cells, double repeat_margin) {
  std::string text = repeat_margin > 0 ? fmt::format("margin {}\n", repeat_margin) : "";
  for (const SweepCell& cell : cells)
    text += fmt::format("{}#{}\n", case_key(cell.run_case), cell.repetition);
  return fmt::format("{:08x}", static_cast<std::uint32_t>(hash_text(text)));
}

using Field = std::variant<std::string RunCase::*, int RunCase::*, std::int64_t RunCase::*,
                           std::uint64_t RunCase::*, double RunCase::*, LearningRateRule RunCase::*,
                           NetworkRequest RunCase::*, Work RunCase::*>;

const std::map<std::string, Field>& fields() {
  static const std::map<std::string, Field> kFields = {{"accumulate", &RunCase::accumulate},
                                                       {"bucket_bytes", &RunCase::bucket_bytes},
                                                       {"data_workers", &RunCase::data_workers},
                                                       {"link", &RunCase::link},
                                                       {"lr", &RunCase::lr},
                                                       {"lr_rule", &RunCase::lr_rule},
                                                       {"momentum", &RunCase::momentum},
                                                       {"optimizer", &RunCase::optimizer},
                                                       {"precision", &RunCase::precision},
                                                       {"prefetch", &RunCase::prefetch},
                                                       {"requested_network", &RunCase::requested_network},
                                                       {"seed", &RunCase::seed},
                                                       {"strategy", &RunCase::strategy},
                                                       {"workload", &RunCase::work}};
  return kFields;
}

template <typename Value>
void set(RunCase& run_case, Value RunCase::*member, const std::string& name, const std::string& text) {
  if constexpr (std::is_same_v<Value, std::string>) {
    run_case.*member = text;
  } else if constexpr (std::is_same_v<Value, Work>) {
    run_case.work = make_work(text, work_options(run_case.work));
  } else if constexpr (std::is_enum_v<Value>) {
    run_case.*member = choice_from<Value>(name, text);
  } else {
    if (const auto value = number_from<Value>(text)) {
      run_case.*member = *value;
      return;
    }
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} \"{}\" is no {}", name, text,
                            std::is_floating_point_v<Value> ? "number" : "whole number"));
  }
}

void set_field(RunCase& run_case, const SweepAxis& axis, const std::string& text) {
  const std::string& name = axis.field;
  if (constexpr std::string_view kOption = "strategy_options."; name.starts_with(kOption)) {
    run_case.strategy_options.insert_or_assign(name.substr(kOption.size()), text);
    return;
  }
  const auto field = fields().find(name);
  if (field == fields().end()) {
    throw Error(ErrorCode::kBadInput, fmt::format("a sweep cannot vary \"{}\"; it can vary {}", name,
                                                  fmt::join(sweep_fields(), ", ")));
  }
  std::visit([&](auto member) { set(run_case, member, axis.option.empty() ? name : axis.option, text); }, field->second);
}

/// Every combination of the other axes, the first one slowest.
std::vector<RunCase> variants(const RunCase& run_case, const std::vector<SweepAxis>& axes) {
  std::vector<RunCase> cases = {run_case};
  for (const SweepAxis& axis : axes) {
    std::vector<RunCase> next;
    for (const RunCase& variant : cases) {
      for (const std::string& value : axis.values) {
        next.push_back(variant);
        set_field(next.back(), axis, value);
      }
    }
    if (!axis.values.empty()) cases = std::move(next);
  }
  return cases;
}

/// `batch` as in SweepAxes.
RunCase cell_case(const RunCase& run_case, int nodes, int gpus, std::int64_t batch) {
  RunCase cell = run_case;
  cell.nodes = nodes;
  cell.gpus_per_node = gpus;
  if (nodes == 1) {
    cell.link.clear();
    cell.requested_network = NetworkRequest::kAny;
  }
  cell.batch_per_gpu = batch;
  if (is_micro(cell)) {  // has a plan of its own
    cell.steps = RunCase{}.steps;
    cell.margin = cell.max_time_s = 0;
  }
  if (run_case.scaling == ScalingMode::kStrong) {
    RunCase of_one = cell;  // the world must make sense before it divides anything
    of_one.accumulate = 1;
    validate(of_one);
    if (batch % cell.world_size() != 0) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("global-batch {} is not divisible by {} nodes x {} gpus = {} ranks",
                              batch, nodes, gpus, cell.world_size()));
    }
    cell.batch_per_gpu = batch / cell.world_size();
  }
  validate(cell);
  return cell;
}

}  // namespace

std::vector<std::string> sweep_fields() {
  std::vector<std::string> names;
  for (const auto& [name, field] : fields()) names.push_back(name);
  return names;
}

std::vector<SweepCell> sweep_cells(const RunCase& run_case, const SweepAxes& axes) {
  std::vector<RunCase> cases;
  std::set<std::string> seen;
  const std::int64_t own_batch = run_case.scaling == ScalingMode::kStrong ? run_case.global_batch() : run_case.batch_per_gpu;
  for (const RunCase& variant : variants(run_case, axes.others)) {
    for (const std::int64_t batch : values_or(axes.batch, own_batch)) {
      for (const std::int64_t nodes : values_or<std::int64_t>(axes.nodes, run_case.nodes)) {
        for (const std::int64_t gpus : values_or<std::int64_t>(axes.gpus_per_node, run_case.gpus_per_node)) {
          RunCase cell = cell_case(variant, saturated(nodes), saturated(gpus), batch);
          if (!axes.batch.empty() && is_program(cell)) state_batch(cell, batch);
          if (seen.insert(case_key(cell)).second) cases.push_back(std::move(cell));
        }
      }
    }
  }
  std::stable_sort(cases.begin(), cases.end(),
                   [](const RunCase& a, const RunCase& b) { return a.world_size() < b.world_size(); });
  std::vector<SweepCell> cells;
  for (int repetition = 0; repetition < axes.repeat; ++repetition) {
    for (const RunCase& cell : cases) cells.push_back({cell, repetition});
  }
  return cells;
}

std::vector<SweepCell> with_one_gpu(const RunCase& run_case, const SweepAxes& axes) {
  const std::vector<SweepCell> cells = sweep_cells(run_case, axes);
  SweepAxes one_gpu = axes;
  one_gpu.nodes = one_gpu.gpus_per_node = {1};
  std::vector<SweepCell> all = sweep_cells(run_case, one_gpu);
  std::erase_if(all, [&](const SweepCell& reference) {
    return std::any_of(cells.begin(), cells.end(), [&](const SweepCell& cell) { return cell.run_case == reference.run_case; });
  });
  all.insert(all.end(), cells.begin(), cells.end());
  std::stable_sort(all.begin(), all.end(), [](const SweepCell& a, const SweepCell& b) { return a.repetition < b.repetition; });
  return all;
}

std::string new_sweep_id(const std::vector<SweepCell>& cells, double repeat_margin) {
  const std::string run_id =
      store::new_run_id();  // its date is ours; its random part keeps equal sweeps apart
  return fmt::format("sweep-{}-{}", run_id, definition(cells, repeat_margin));
}

std::string unfinished_sweep(const store::RunStore& store, const std::vector<SweepCell>& cells,
                             double repeat_margin) {
  const std::string ending = "-" + definition(cells, repeat_margin);
  for (const store::RunRecord& run : store.runs()) {  // newest first
    if (!run.sweep_id.ends_with(ending)) continue;
    return missing_cells(store, run.sweep_id, cells, repeat_margin).empty() ? "" : run.sweep_id;
  }
  return "";
}

namespace {

/// Within a sweep, whose runs are on one SKU: some may have been made before the machine said which.
std::string key_in_sweep(RunCase run_case) {
  run_case.sku.clear();
  return case_key(run_case);
}

/// What a sweep has measured so far.
class SweepState {
 public:
  SweepState(const store::RunStore& store, const std::string& sweep_id, double repeat_margin) : margin_(repeat_margin) {
    store::Query query;
    query.sweep_id = sweep_id;
    query.state = store::RunState::kDone;
    for (const store::RunRecord& run : store.runs(query)) {
      if (!run.valid || !files_changed_since(run.environment.facts).empty()) continue;
      const std::string key = key_in_sweep(run.run_case);
      finished_.emplace(key, run.repetition);
      if (margin_ == 0) continue;
      const auto step_time_ns = analyzer::summarize_briefly(store, run).step_time_ns;
      if (step_time_ns) step_times_ns_[key].push_back(step_time_ns->value);
    }
  }

  bool lacks(const SweepCell& cell) const {
    const std::string key = key_in_sweep(cell.run_case);
    return !finished_.contains({key, cell.repetition}) && !end_of(key);
  }

  /// Of --repeat auto.
  std::optional<RepeatEnd> end_of(const std::string& key) const {
    const auto times = step_times_ns_.find(key);
    if (margin_ == 0 || times == step_times_ns_.end()) return std::nullopt;
    return end_of_repeats(times->second, margin_);
  }

 private:
  double margin_;
  std::set<std::pair<std::string, int>> finished_;
  std::map<std::string, std::vector<double>> step_times_ns_;
};

}  // namespace

std::vector<SweepCell> missing_cells(const store::RunStore& store, const std::string& sweep_id,
                                     const std::vector<SweepCell>& cells, double repeat_margin) {
  const SweepState measured(store, sweep_id, repeat_margin);
  std::vector<SweepCell> missing;
  for (const SweepCell& cell : cells) {
    if (measured.lacks(cell)) missing.push_back(cell);
  }
  return missing;
}

bool is_missing(const store::RunStore& store, const std::string& sweep_id, const SweepCell& cell,
                double repeat_margin) {
  return repeat_margin == 0 || SweepState(store, sweep_id, repeat_margin).lacks(cell);
}

std::vector<std::string> ends_of_repeats(const store::RunStore& store, const std::string& sweep_id,
                                         const std::vector<SweepCell>& cells, double repeat_margin) {
  const SweepState measured(store, sweep_id, repeat_margin);
  std::vector<std::string> words;
  for (const SweepCell& cell : cells) {
    if (cell.repetition > 0) continue;
    const RunCase& run_case = cell.run_case;
    if (const auto end = measured.end_of(key_in_sweep(run_case))) {
      words.push_back(fmt::format("{} node{} x {}: {}", run_case.nodes, run_case.nodes == 1 ? "" : "s",
                                  run_case.gpus_per_node, to_words(*end, repeat_margin)));
    }
  }
  return words;
}

}  // namespace ddbench::experiment
