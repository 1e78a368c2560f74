#include "analyzer/predict/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analyzer/attribution/nccl_join.h"
#include "analyzer/attribution/rank_timeline.h"
#include "analyzer/attribution/summarize_step.h"
#include "analyzer/clocks/clock_alignment.h"
#include "analyzer/collectives/micro_table.h"
#include "analyzer/predict/record_step.h"
#include "analyzer/predict/step_operators.h"
#include "analyzer/run/run_summary.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"
#include "core/run_case/step_facts.h"
#include "core/text/number.h"

namespace ddbench::analyzer {
namespace {

constexpr std::uint32_t kStepsAtOnce = 32;

/// One rank's step, before ranks are joined.
struct LoadedStep {
  std::vector<Span> spans;
  std::vector<RankCollective> collectives;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};
using LoadedRank = std::map<std::uint32_t, LoadedStep>;

bool is_same(const StepCollective& a, const StepCollective& b) {
  return a.function == b.function && a.bytes == b.bytes && a.bucket == b.bucket;
}

/// Whether spans of the step were discarded: the order of its events is then not known.
bool is_reduced(const std::vector<Span>& spans, const std::vector<std::string>& names) {
  return spans.empty() || std::any_of(spans.begin(), spans.end(), [&](const Span& span) {
           return span.name_id < names.size() && names[span.name_id] == kReducedName;
         });
}

Measured<HalfConversion> conversion_of(const store::RunRecord& run) {
  const bool has_gpus = get_fact(run.environment.facts, fact_key<"gpu.count">).value_or(0) > 0;
  const bool on_cpu = is_program(run.run_case) ? !has_gpus : run.run_case.on_cpu();
  if (!on_cpu || run.provenance.has(Provenance::kImported)) return HalfConversion{};
  const auto narrow = get_fact(run.environment.facts, fact_key<"gradients.narrow_ns_per_mib">);
  const auto widen = get_fact(run.environment.facts, fact_key<"gradients.widen_ns_per_mib">);
  if (!narrow || !widen) {
    return Measured<HalfConversion>::missing(
        "what converting gradients takes on its CPUs was not measured. Runs of reference workloads measure "
        "it; of a program, "
        "record a run with the hook");
  }
  constexpr double kMib = 1 << 20;
  return HalfConversion{std::max(0.0, *narrow) / kMib, std::max(0.0, *widen) / kMib};
}

/// Empty where the run does not state them.
std::vector<double> gradient_bytes_of(const store::RunRecord& run) {
  const auto texts = get_fact(run.environment.facts, fact_key<"workload.gradient_bytes">);
  std::vector<double> all;
  if (!texts) return all;
  for (const std::string& text : *texts) {
    const std::optional<std::int64_t> bytes = number_from<std::int64_t>(text);
    if (!bytes || *bytes <= 0) return {};
    all.push_back(static_cast<double>(*bytes));
  }
  return all;
}

/// Steps of one number would be recorded once, by the first. Others leave before spans are sorted into steps: in a store of somebody
/// else any number of them may lie on all spans.
void keep_first_of_each_step(std::vector<Span>& spans) {
  struct First {
    std::pair<std::int64_t, std::int64_t> times;
    bool is_kept = false;
  };
  const auto times = [](const Span& span) { return std::pair(span.begin_ns, span.end_ns); };
  std::unordered_map<std::uint32_t, First> first;
  for (const Span& span : spans) {
    if (span.kind != SpanKind::kStep || !plausible_step(span)) continue;
    First& own = first.try_emplace(span.step, First{times(span)}).first->second;
    own.times = std::min(own.times, times(span));
  }
  std::erase_if(spans, [&](const Span& span) {
    if (span.kind != SpanKind::kStep || !plausible_step(span)) return false;
    First& own = first[span.step];
    return times(span) != own.times || std::exchange(own.is_kept, true);
  });
}

class Recorder {
 public:
  Recorder(const store::RunStore& store, const store::RunRecord& run, const std::vector<store::RankRecord>& ranks,
           std::size_t most_steps, RecordedDetail detail)
      : store_(store),
        run_(run),
        first_measured_(first_measured_step(run.run_case, run.environment.facts)),
        clocks_(ranks),
        most_steps_(most_steps),
        detail_(detail) {
    result_.run = run.id;
    result_.strategy = run.run_case.strategy;
    result_.shape = {run.run_case.nodes, run.run_case.gpus_per_node, run.run_case.nodes_not_stated};
    result_.conversion = conversion_of(run);
    result_.gradient_bytes = gradient_bytes_of(run);
    set_samples(run);
    const auto slowdown = get_fact(run.environment.facts, fact_key<"analysis.compute_slowdown_percent">);
    if (slowdown) result_.slowdown = std::max(0.0, slowdown->value / 100);
    for (const store::RankRecord& rank : ranks) {
      ranks_.push_back(rank.rank);
      result_.ranks.push_back(rank.rank);
      names_.push_back(store.span_names(run.id, rank.rank));
    }
    if (run.run_case.nodes_not_stated)
      result_.notes.push_back("the source does not state how its ranks sit on nodes: they count as one node (import it with --gpus-per-node)");
    if (static_cast<int>(ranks.size()) < run.run_case.world_size())
      result_.notes.push_back(fmt::format("{} of {} ranks were recorded: the others are taken to do what these did",
                                          ranks.size(), run.run_case.world_size()));
  }

  void set_samples(const store::RunRecord& run) {
    const Measured<double> samples = samples_per_step(run);
    result_.counts_samples = static_cast<bool>(samples);
    result_.samples_per_rank = samples.value_or(run.run_case.world_size()) / run.run_case.world_size();
  }

  Measured<StepRecording> record() {
    const std::uint32_t recorded = store_.recorded_steps(run_);
    std::set<std::uint32_t> ranges;  // a store of others may state any number of steps
    store_.visit_steps(run_.id, [&](const store::StepRecord& row) {
      if (row.step >= first_measured_ && row.step < recorded) ranges.insert((row.step - first_measured_) / kStepsAtOnce);
    });
    for (const std::uint32_t range : ranges) {
      if (result_.steps.size() >= most_steps_) break;
      load_range(first_measured_ + range * kStepsAtOnce);
    }
    if (result_.steps.empty())
      return Measured<StepRecording>::missing(
          seen_ == 0 ? "no measured step with the probes on has its spans on all ranks"
                     : "no two ranks recorded the same collectives in the same order");
    if (left_out_ > 0)
      result_.notes.push_back(fmt::format("{} of {} steps are left out: their ranks or collectives differ from the others",
                                          left_out_, seen_));
    return std::move(result_);
  }

 private:
  /// By its place in the run's rank rows.
  LoadedRank load(std::size_t place, std::uint32_t first) {
    const int rank = ranks_[place];
    const std::uint32_t last = first + kStepsAtOnce - 1;
    std::vector<Span> spans = store_.spans(run_.id, rank, first == 0 ? 0 : first - 1, last + 1);
    std::vector<std::string> names = names_[place];
    join_nccl_events(spans, names, first, last, first_measured_);
    keep_first_of_each_step(spans);
    RankTimeline timeline(std::move(spans));
    LoadedRank steps;
    for (std::size_t window = 0; window < timeline.windows().size(); ++window) {
      const StepWindow& step = timeline.windows()[window];
      if (step.step < first || step.step > last || !step.probes_on) continue;
      const std::span<const Span> inside = timeline.spans_in(window);
      LoadedStep loaded{{inside.begin(), inside.end()}, {}, step.begin_ns, step.end_ns};
      loaded.collectives = rank_collectives(loaded.spans, names, step.begin_ns, step.end_ns);
      if (!is_reference(run_.run_case)) number_buckets(loaded.spans, step.end_ns, loaded.collectives);
      if (!is_reduced(loaded.spans, names)) steps.emplace(step.step, std::move(loaded));
    }
    names_of_range_[place] = std::move(names);
    return steps;
  }

  void load_range(std::uint32_t first) {
    std::vector<LoadedRank> ranks;
    for (std::size_t place = 0; place < ranks_.size(); ++place) ranks.push_back(load(place, first));
    for (const auto& [step, ignored] : ranks.front()) {
      const bool everywhere =
          std::all_of(ranks.begin(), ranks.end(), [&, at = step](const auto& rank) { return rank.contains(at); });
      if (!everywhere || result_.steps.size() >= most_steps_) continue;
      ++seen_;
      left_out_ += !add(step, ranks);
    }
  }

  /// False where the step does not fit to the others.
  bool add(std::uint32_t step, const std::vector<LoadedRank>& ranks) {
    const std::vector<RankCollective>& of_first = ranks.front().at(step).collectives;
    std::map<std::uint64_t, std::uint32_t> place;
    std::vector<StepCollective> collectives;
    for (const RankCollective& one : of_first) {
      place.emplace(one.correlation, static_cast<std::uint32_t>(place.size()));
      collectives.push_back({one.function, one.bytes, one.bucket});
    }
    if (place.size() != of_first.size()) return false;
    if (result_.steps.empty()) result_.collectives = collectives;
    if (!std::equal(collectives.begin(), collectives.end(), result_.collectives.begin(), result_.collectives.end(),
                    is_same))
      return false;
    RecordedStep recorded;
    recorded.step = step;
    for (const LoadedRank& rank : ranks) {
      const LoadedStep& loaded = rank.at(step);
      const bool same_order = std::equal(
          loaded.collectives.begin(), loaded.collectives.end(), of_first.begin(), of_first.end(),
          [](const RankCollective& a, const RankCollective& b) { return a.correlation == b.correlation; });
      if (!same_order) return false;
      const auto at = static_cast<std::size_t>(&rank - ranks.data());
      recorded.ranks.push_back(step_of(loaded, place, names_of_range_[at]));
    }
    for (std::size_t i = 0; i < collectives.size(); ++i) add_transfer(i, step, ranks, recorded);
    result_.steps.push_back(std::move(recorded));
    return true;
  }

  RankStep step_of(const LoadedStep& loaded, const std::map<std::uint64_t, std::uint32_t>& place,
                   const std::vector<std::string>& names) {
    std::vector<WorkRange> ranges;
    RankStep step = rank_step(loaded.spans, loaded.collectives, place, loaded.begin_ns, loaded.end_ns, result_.slowdown,
                              detail_ == RecordedDetail::kOperators ? &ranges : nullptr);
    step.operators = operators_in(loaded.spans, ranges);
    for (StepOperator& one : step.operators) {
      const std::string name = one.name < names.size() ? names[one.name] : "unknown";
      const auto found = operator_names_.emplace(name, static_cast<std::uint32_t>(operator_names_.size())).first;
      if (found->second == result_.operator_names.size()) result_.operator_names.push_back(name);
      one.name = found->second;
    }
    return step;
  }

  void add_transfer(std::size_t i, std::uint32_t step, const std::vector<LoadedRank>& ranks, RecordedStep& recorded) const {
    if (!clocks_.known()) {
      // The rank that arrived last did not wait: its time is that of the transfer, on its own clock.
      double transfer = std::numeric_limits<double>::max();
      for (const LoadedRank& rank : ranks) {
        const RankCollective& one = rank.at(step).collectives[i];
        transfer = std::min(transfer, static_cast<double>(one.end_ns - one.begin_ns));
      }
      recorded.transfer_ns.push_back(transfer);
      return;
    }
    std::int64_t last_begin = std::numeric_limits<std::int64_t>::min();
    std::vector<std::int64_t> ends;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const RankCollective& one = ranks[rank].at(step).collectives[i];
      last_begin = std::max(last_begin, clocks_.to_reference(rank, one.begin_ns));
      ends.push_back(clocks_.to_reference(rank, one.end_ns));
    }
    const std::int64_t last_end = *std::max_element(ends.begin(), ends.end());
    const auto transfer = static_cast<double>(std::max<std::int64_t>(0, last_end - last_begin));
    recorded.transfer_ns.push_back(transfer);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const auto own = static_cast<double>(ends[rank] - last_begin);
      recorded.ranks[rank].end_share[i] = own < 0 ? -1 : transfer > 0 ? own / transfer : 1;
    }
  }

  const store::RunStore& store_;
  const store::RunRecord& run_;
  const std::uint32_t first_measured_;  // step
  ClockAlignment clocks_;
  std::size_t most_steps_;
  std::vector<int> ranks_;
  RecordedDetail detail_;
  std::vector<std::vector<std::string>> names_;
  std::map<std::size_t, std::vector<std::string>> names_of_range_;  ///< by place, with those of joined events
  std::map<std::string, std::uint32_t> operator_names_;
  StepRecording result_;
  std::size_t seen_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace

Measured<StepRecording> recording_of(const store::RunStore& store, const store::RunRecord& run,
                                     std::size_t most_steps, RecordedDetail detail) {
  using Missing = Measured<StepRecording>;
  if (is_micro(run.run_case)) return Missing::missing("a run of `ddbench micro` has no steps of training");
  const RunSummary summary = summarize_briefly(store, run);
  if (!summary.step_time_ns) return Missing::missing(summary.step_time_ns.reason());
  const std::vector<store::RankRecord> ranks = store.ranks(run.id);
  if (ranks.empty()) return Missing::missing("no rank of the run was recorded");
  Measured<StepRecording> recording = Recorder(store, run, ranks, most_steps, detail).record();
  if (!recording) return recording;
  StepRecording result = *recording;
  result.step_ns = summary.step_time_ns->value;
  return result;
}

}  // namespace ddbench::analyzer
