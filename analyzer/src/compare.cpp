#include "ddbench/analyzer/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "ddbench/record/error.h"
#include "run_groups.h"
#include "side_differences.h"

namespace ddbench::analyzer {
namespace {

using Summaries = std::vector<RunSummary>;
/// What a run says of one thing; not positive when it says nothing.
using Pick = std::function<double(const RunSummary&)>;

std::vector<double> picked(const Summaries& summaries, const Pick& pick) {
  std::vector<double> values;
  for (const RunSummary& summary : summaries) {
    if (const double value = pick(summary); std::isfinite(value) && value > 0) values.push_back(value);
  }
  return values;
}

double loss_of(const RunSummary& summary) {
  return summary.loss_last.value_or(0);
}
double peer_wait_of(const RunSummary& summary) {
  return static_cast<double>(summary.peer_wait_ns.value_or(0));
}
double samples_of(const RunSummary& summary) {
  return summary.samples_per_s.value_or(0);
}
double exposed_of(const RunSummary& summary) {
  return static_cast<double>(summary.exposed_communication_ns.value_or(0));
}
double overlap_of(const RunSummary& summary) {
  return static_cast<double>(summary.overlap_ns.value_or(0));
}
double memory_of(const RunSummary& summary) {
  std::int64_t most = 0;
  for (const store::RankRecord& rank : summary.ranks) most = std::max(most, rank.peak_memory_bytes);
  return static_cast<double>(most);
}

/// One run a side: the spread of their steps is all there is.
Measured<ConfidenceInterval> interval_within(const store::RunStore& store, const RunSummary& a,
                                             const RunSummary& b, double ratio) {
  constexpr double kTwoSided95 = 1.959964;
  double variance = 0;
  for (const RunSummary* side : {&a, &b}) {
    const Measured<Estimate> step = summarize(store, side->run.id).step_time_ns;
    if (!step || step->interval.low <= 0) {
      return Measured<ConfidenceInterval>::missing(step ? "a step took no time" : step.reason());
    }
    variance += std::pow(std::log(step->interval.high / step->interval.low) / (2 * kTwoSided95), 2);
  }
  const double reach = kTwoSided95 * std::sqrt(variance);
  return ConfidenceInterval{ratio * std::exp(-reach), ratio * std::exp(reach), 0.95,
                            "bootstrap of steps within one run a side: the noise between runs is not in it"};
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
    comparison_.differences = side_differences(records(a_), records(b_));
    judge(comparison_);
    add_figures();
    add_parts();
    add_collectives();
    add_kernels();
    if (a_.size() < 2 || b_.size() < 2) {
      comparison_.notes.push_back(fmt::format(
          "{} and {} run(s): a difference of less than about 2 % may be noise; repeat the runs (--repeat)",
          a_.size(), b_.size()));
    }
    const auto keep = [](ComparedSide& side, const Summaries& summaries) { side.runs = records(summaries); };
    keep(comparison_.a, a_);
    keep(comparison_.b, b_);
  }

 private:
  static std::vector<store::RunRecord> records(const Summaries& summaries) {
    std::vector<store::RunRecord> runs;
    for (const RunSummary& summary : summaries) runs.push_back(summary.run);
    return runs;
  }

  ComparedFigure figure(std::string name, std::string unit, const Pick& pick) const {
    const std::vector<double> a = picked(a_, pick);
    const std::vector<double> b = picked(b_, pick);
    ComparedFigure result;
    result.name = std::move(name);
    result.unit = std::move(unit);
    result.a = geometric_mean(a, "not measured");
    result.b = geometric_mean(b, "not measured");
    result.ratio = measured_ratio(b, a);
    return result;
  }

  void add_figures() {
    std::vector<ComparedFigure>& figures = comparison_.figures;
    figures.push_back(figure("step time", "ns", median_step_ns));
    figures.push_back(figure("throughput", "samples/s", samples_of));
    if (a_.size() == 1 && b_.size() == 1) {
      for (ComparedFigure& both : figures) {
        if (!both.ratio) continue;
        RunRatio ratio = *both.ratio;
        ratio.interval = interval_within(store_, a_[0], b_[0], ratio.value);
        both.ratio = ratio;
      }
    }
    figures.push_back(figure("exposed communication", "ns", exposed_of));
    figures.push_back(figure("overlap", "ns", overlap_of));
    figures.push_back(figure("peer wait", "ns", peer_wait_of));
    figures.push_back(figure("peak memory", "bytes", memory_of));
    figures.push_back(figure("last loss", "1", loss_of));
  }

  void add_parts() {
    for (int i = 0; i < store::kStepPartCount; ++i) {
      const auto part = static_cast<store::StepPart>(i);
      ComparedFigure both =
          figure(std::string(store::to_string(part)), "ns",
                 [part](const RunSummary& summary) { return static_cast<double>(summary.partition[part]); });
      if (both.a || both.b) comparison_.parts.push_back(std::move(both));
    }
  }

  /// A figure for each name that a list of any run has, picked by the name. Values of equal names are added
  /// up.
  template <typename List, typename NameOf, typename ValueOf>
  std::vector<ComparedFigure> by_name(const List& list_of, const NameOf& name_of,
                                      const ValueOf& value_of) const {
    std::vector<std::string> names;
    for (const Summaries* side : {&a_, &b_}) {
      for (const RunSummary& summary : *side) {
        for (const auto& item : list_of(summary)) {
          const std::string name = name_of(item);
          if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        }
      }
    }
    std::vector<ComparedFigure> figures;
    for (const std::string& name : names) {
      figures.push_back(figure(name, "ns", [&](const RunSummary& summary) {
        double sum = 0;
        for (const auto& item : list_of(summary)) {
          if (name_of(item) == name) sum += value_of(item, summary);
        }
        return sum;
      }));
    }
    return figures;
  }

  void add_collectives() {
    comparison_.collectives = by_name(
        [](const RunSummary& summary) -> const auto& { return summary.collectives; },
        [](const CollectiveSummary& collective) {
          const store::CollectiveRecord& record = collective.record;
          const std::string bucket = record.bucket < 0 ? "" : fmt::format(" bucket {}", record.bucket);
          return fmt::format("{}{}, {} bytes", record.function, bucket, record.bytes);
        },
        [](const CollectiveSummary& collective, const RunSummary&) {
          return static_cast<double>(collective.record.transfer_ns);
        });
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
};

}  // namespace

std::string_view to_string(ComparisonVerdict verdict) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"repetitions", "one-change", "several-changes",
                                                      "other-hardware"};
  return kNames[static_cast<std::size_t>(verdict)];
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
  figure.title = "Mean step by parts";
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
