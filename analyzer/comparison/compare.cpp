#include "analyzer/comparison/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/comparison/field_differences.h"
#include "analyzer/comparison/case_history.h"
#include "analyzer/run/case_figures.h"
#include "analyzer/run/run_reference.h"
#include "analyzer/run/usable_runs.h"
#include "core/error.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

using Summaries = std::vector<RunSummary>;
/// What a run measured of one thing.
using Pick = std::function<Measured<double>(const RunSummary&)>;

Measured<double> as_number(const Measured<std::int64_t>& value) {
  return value ? Measured<double>(static_cast<double>(*value)) : Measured<double>::missing(value.reason());
}

std::vector<double> picked(const Summaries& summaries, const Pick& pick) {
  std::vector<double> values;
  for (const RunSummary& summary : summaries) {
    if (const Measured<double> value = pick(summary); value && std::isfinite(*value) && *value >= 0)
      values.push_back(*value);
  }
  return values;
}

Measured<double> peer_wait_of(const RunSummary& summary) {
  return as_number(summary.peer_wait_ns);
}
Measured<double> exposed_of(const RunSummary& summary) {
  if (summary.probed_steps == 0) return Measured<double>::missing("no step was measured with the probes on");
  return as_number(summary.exposed_communication_ns);
}
Measured<double> overlap_of(const RunSummary& summary) {
  if (summary.probed_steps == 0) return Measured<double>::missing("no step was measured with the probes on");
  return as_number(summary.overlap_ns);
}
Measured<double> memory_of(const RunSummary& summary) {
  std::int64_t most = 0;
  for (const store::RankRecord& rank : summary.ranks) most = std::max(most, rank.peak_memory_bytes);
  return most > 0 ? Measured<double>(static_cast<double>(most)) : Measured<double>::missing("not reported");
}

/// Geometric where all values are above 0. Missing with the reason of the first run.
Measured<double> mean_over_runs(const Summaries& summaries, const Pick& pick) {
  const std::vector<double> values = picked(summaries, pick);
  if (values.empty()) {
    const Measured<double> first = summaries.empty() ? Measured<double>::missing("not measured") : pick(summaries.front());
    return first ? Measured<double>::missing("not measured") : first;
  }
  const Measured<double> geometric = geometric_mean(values, "");
  return geometric ? geometric : Measured<double>(mean(values));
}

/// Otherwise parts count communication as exposed that computation of a program may have hidden.
bool all_know_what_is_exposed(const Summaries& summaries) {
  return std::all_of(summaries.begin(), summaries.end(),
                     [](const RunSummary& summary) { return summary.probed_steps == 0 || summary.exposed_communication_ns; });
}

/// Sums to the step time, which means of each part alone do not.
Measured<store::StepPartition> mean_step(const Summaries& summaries, const Measured<double>& step_time_ns) {
  if (!step_time_ns) return Measured<store::StepPartition>::missing(step_time_ns.reason());
  std::vector<store::StepPartition> partitions;
  for (const RunSummary& summary : summaries) {
    if (summary.probed_steps > 0) partitions.push_back(summary.partition);
  }
  return mean_partition(partitions, *step_time_ns);
}

class Builder {
 public:
  Builder(const store::RunStore& store, Comparison& comparison) : store_(store), comparison_(comparison) {
    a_ = usable_summaries(store, comparison.a.runs, Figures::kAnything, comparison.notes);
    b_ = usable_summaries(store, comparison.b.runs, Figures::kAnything, comparison.notes);
    for (const auto& [side, summaries] : {std::pair{&comparison.a, &a_}, std::pair{&comparison.b, &b_}}) {
      if (!summaries->empty()) continue;
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{}: no run gave figures{}", side->meaning,
                              comparison.notes.empty() ? "" : ": " + comparison.notes.back()));
    }
  }

  void build() {
    comparison_.differences = field_differences(records(a_), records(b_));
    judge(comparison_);
    note_shared_runs();
    add_figures();
    add_parts();
    add_collectives();
    add_kernels();
    // Of imported throughputs the step time is not known.
    const Measured<RunRatio>& judged = comparison_.figures[0].ratio ? comparison_.figures[0].ratio : comparison_.figures[1].ratio;
    if (judged && !judged->interval) {
      comparison_.notes.push_back(fmt::format(
          "{}, or other runs of the same case in the store: how far runs scatter is not known, and the "
          "difference may be noise",
          judged->interval.reason()));
    }
    const auto keep = [](ComparedSide& side, const Summaries& summaries) { side.runs = records(summaries); };
    keep(comparison_.a, a_);
    keep(comparison_.b, b_);
  }

 private:
  /// A run differs in nothing from itself.
  void note_shared_runs() {
    std::unordered_set<store::RunId> of_a;
    for (const RunSummary& summary : a_) of_a.insert(summary.run.id);
    const auto shared = static_cast<std::size_t>(
        std::count_if(b_.begin(), b_.end(), [&](const RunSummary& summary) { return of_a.contains(summary.run.id); }));
    if (shared == 0) return;
    const bool is_all = shared == a_.size() && shared == b_.size();
    comparison_.notes.push_back(!is_all      ? fmt::format("{} run(s) are on both sides", shared)
                                : shared == 1 ? "A and B are the same run"
                                              : fmt::format("A and B are the same {} runs", shared));
  }

  static std::vector<store::RunRecord> records(const Summaries& summaries) {
    std::vector<store::RunRecord> runs;
    for (const RunSummary& summary : summaries) runs.push_back(summary.run);
    return runs;
  }

  ComparedFigure figure(std::string name, std::string unit, const Pick& pick) const {
    ComparedFigure result;
    result.name = std::move(name);
    result.unit = std::move(unit);
    result.a = mean_over_runs(a_, pick);
    result.b = mean_over_runs(b_, pick);
    result.ratio = measured_ratio(picked(b_, pick), picked(a_, pick));
    return result;
  }

  /// With the values of the mean steps; the ratio and its interval, which are over runs, move with them.
  ComparedFigure of_mean_step(ComparedFigure both, const std::function<std::int64_t(const store::StepPartition&)>& value) const {
    if (both.a && step_a_) both.a = static_cast<double>(value(*step_a_));
    if (both.b && step_b_) both.b = static_cast<double>(value(*step_b_));
    if (!both.ratio || !(both.ratio->value > 0) || !(both.a.value_or(0) > 0) || !(both.b.value_or(0) > 0)) return both;
    RunRatio ratio = *both.ratio;
    const double factor = *both.b / *both.a / ratio.value;
    ratio.value *= factor;
    if (ratio.interval) {
      ConfidenceInterval interval = *ratio.interval;
      interval.low *= factor;
      interval.high *= factor;
      ratio.interval = std::move(interval);
    }
    both.ratio = std::move(ratio);
    return both;
  }

  void add_figures() {
    std::vector<ComparedFigure>& figures = comparison_.figures;
    figures.push_back(figure("step time", "ns", [](const RunSummary& summary) {
      return summary.step_time_ns ? Measured<double>(summary.step_time_ns->value)
                                  : Measured<double>::missing(summary.step_time_ns.reason());
    }));
    figures.push_back(
        figure("throughput", "samples/s", [](const RunSummary& summary) { return summary.samples_per_s; }));
    add_intervals_from_history(figures[0], figures[1]);
    step_a_ = mean_step(a_, figures[0].a);
    step_b_ = mean_step(b_, figures[0].b);
    ComparedFigure exposed = figure("exposed communication", "ns", exposed_of);
    if (all_know_what_is_exposed(a_) && all_know_what_is_exposed(b_))
      exposed = of_mean_step(std::move(exposed), [](const store::StepPartition& step) { return step.exposed_communication_ns(); });
    figures.push_back(std::move(exposed));
    figures.push_back(figure("overlap", "ns", overlap_of));
    figures.push_back(figure("peer wait", "ns", peer_wait_of));
    figures.push_back(figure("host memory", "bytes", memory_of));
    figures.push_back(figure("device memory", "bytes", [](const RunSummary& summary) { return device_peak_bytes(summary.run); }));
    figures.push_back(figure("last loss", "1", [](const RunSummary& summary) { return summary.loss_last; }));
  }

  /// If the sides have too few runs, uses the scatter of other runs of the same case.
  void add_intervals_from_history(ComparedFigure& step, ComparedFigure& throughput) const {
    if (!throughput.ratio || throughput.ratio->interval) return;
    const Measured<RunRatio> ratio = throughput_ratio(store_, b_, a_);
    if (!ratio || !ratio->interval) return;
    throughput.ratio = ratio;
    if (!step.ratio) return;
    // For the same runs, the logarithm of the step time scatters equally.
    const ConfidenceInterval& interval = *ratio->interval;
    RunRatio longer = *step.ratio;
    longer.interval =
        ConfidenceInterval{longer.value * interval.low / ratio->value,
                           longer.value * interval.high / ratio->value, interval.level, interval.method};
    step.ratio = longer;
  }

  void add_parts() {
    for (int i = 0; i < store::kStepPartCount; ++i) {
      const auto part = static_cast<store::StepPart>(i);
      ComparedFigure both =
          figure(std::string(store::to_string(part)), "ns", [part](const RunSummary& summary) {
            if (summary.partition.total_ns() == 0) return Measured<double>::missing("not recorded");
            return Measured<double>(static_cast<double>(summary.partition[part]));
          });
      both = of_mean_step(std::move(both), [part](const store::StepPartition& step) { return step[part]; });
      if (both.a.value_or(0) > 0 || both.b.value_or(0) > 0) comparison_.parts.push_back(std::move(both));
    }
  }

  /// A figure for each name that a list of any run has, picked by the name. Values of equal names are added
  /// up; missing where one of them is.
  template <typename List, typename NameOf, typename ValueOf>
  std::vector<ComparedFigure> by_name(const List& list_of, const NameOf& name_of,
                                      const ValueOf& value_of) const {
    std::vector<std::string> names;
    std::map<const RunSummary*, std::unordered_map<std::string, Measured<double>>> sums;
    std::unordered_set<std::string> seen;
    for (const Summaries* side : {&a_, &b_}) {
      for (const RunSummary& summary : *side) {
        for (const auto& item : list_of(summary)) {
          const std::string name = name_of(item);
          if (seen.insert(name).second) names.push_back(name);
          const Measured<double> value = value_of(item, summary);
          Measured<double>& sum = sums[&summary].try_emplace(name, 0.0).first->second;
          if (sum) sum = value ? Measured<double>(*sum + *value) : value;
        }
      }
    }
    std::vector<ComparedFigure> figures;
    for (const std::string& name : names) {
      figures.push_back(figure(name, "ns", [&](const RunSummary& summary) {
        const auto sum = sums[&summary].find(name);
        return sum == sums[&summary].end() ? Measured<double>::missing("not recorded") : sum->second;
      }));
    }
    return figures;
  }

  /// Equal sizes are compared. Names have them in bytes, short names as reports show them, if no two would look the same.
  void add_collectives() {
    std::map<std::string, std::string> shown;
    std::map<std::string, int> uses;
    comparison_.collectives = by_name(
        [](const RunSummary& summary) -> const auto& { return summary.collectives; },
        [&](const CollectiveSummary& collective) {
          const store::CollectiveRecord& record = collective.record;
          const std::string bucket = record.bucket < 0 ? "" : fmt::format(" bucket {}", record.bucket);
          const std::string communicator =
              collective.communicator.empty() ? "" : fmt::format(" ({})", collective.communicator);
          const std::string which = record.function + bucket + communicator;
          std::string name = fmt::format("{}, {} bytes", which, record.bytes);
          const auto [entry, is_new] = shown.emplace(name, fmt::format("{}, {}", which, quantity(static_cast<double>(record.bytes), "B")));
          if (is_new) ++uses[entry->second];
          return name;
        },
        [](const CollectiveSummary& collective, const RunSummary&) {
          return carried_transfer_ns(collective);
        });
    for (ComparedFigure& each : comparison_.collectives) {
      const std::string& name = shown.at(each.name);
      if (uses[name] == 1) each.short_name = name;
    }
  }

  void add_kernels() {
    comparison_.kernels = by_name(
        [](const RunSummary& summary) -> const auto& { return summary.kernels; },
        [](const store::KernelRecord& kernel) { return fmt::format("{} ({})", kernel.name, kernel.kind); },
        [](const store::KernelRecord& kernel, const RunSummary& summary) {
          const auto steps = static_cast<double>(std::max<std::int64_t>(1, summary.kernel_steps));
          return static_cast<double>(kernel.total_ns) / steps;
        });
    std::stable_sort(comparison_.kernels.begin(), comparison_.kernels.end(),
                     [](const auto& x, const auto& y) {
                       const auto change = [](const ComparedFigure& both) {
                         return std::abs(both.b.value_or(0) - both.a.value_or(0));
                       };
                       return change(x) > change(y);
                     });
  }

  const store::RunStore& store_;
  Comparison& comparison_;
  Summaries a_;
  Summaries b_;
  Measured<store::StepPartition> step_a_ = Measured<store::StepPartition>::missing("not computed");
  Measured<store::StepPartition> step_b_ = Measured<store::StepPartition>::missing("not computed");
};

}  // namespace

std::string_view to_string(ComparisonVerdict verdict) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"repetitions", "one-change", "several-changes",
                                                      "other-hardware"};
  return kNames[static_cast<std::size_t>(verdict)];
}

ComparedSide compared_side(const store::RunStore& store, std::string_view reference) {
  ResolvedReference resolved = resolve_reference(store, reference);
  if (resolved.runs.empty()) throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", reference, resolved.missing));
  return {resolved.meaning, std::move(resolved.runs)};
}

Comparison compare_runs(const store::RunStore& store, ComparedSide a, ComparedSide b) {
  Comparison comparison;
  comparison.a = std::move(a);
  comparison.b = std::move(b);
  Builder(store, comparison).build();
  return comparison;
}

Figure comparison_figure(const Comparison& comparison) {
  Figure figure;
  figure.title = "Step time by parts";
  figure.x = {"side", "1", false};
  figure.y = {"time", "ms", false};
  figure.notes = comparison.notes;
  figure.notes.insert(figure.notes.begin(), comparison.verdict_text);
  for (const ComparedFigure& part : comparison.parts) {
    Series series{part.name, SeriesShape::kStackedBars, {}, {}};
    series.points.push_back({0, part.a.value_or(0) / 1e6, {}, "A: " + comparison.a.meaning});
    series.points.push_back({1, part.b.value_or(0) / 1e6, {}, "B: " + comparison.b.meaning});
    for (const ComparedSide* side : {&comparison.a, &comparison.b}) {
      for (const store::RunRecord& run : side->runs) {
        series.provenance = ProvenanceSet::from_bits(series.provenance.bits() | run.provenance.bits());
      }
    }
    figure.series.push_back(std::move(series));
  }
  if (figure.series.empty()) figure.notes.push_back("no step was measured with the probes on");
  return figure;
}

}  // namespace ddbench::analyzer
