#include "analyzer/finalize/finalize.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/attribution/collective_join.h"
#include "analyzer/attribution/collective_totals.h"
#include "analyzer/attribution/nccl_join.h"
#include "analyzer/attribution/partition.h"
#include "analyzer/attribution/rank_timeline.h"
#include "analyzer/clocks/clock_alignment.h"
#include "analyzer/collectives/micro_records.h"
#include "analyzer/collectives/micro_table.h"
#include "analyzer/finalize/compute_slowdown.h"
#include "analyzer/finalize/cpu_wait.h"
#include "analyzer/finalize/kernel_totals.h"
#include "analyzer/finalize/rank_facts.h"
#include "analyzer/finalize/reported_values.h"
#include "analyzer/run/contention.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"
#include "core/span_limits.h"

namespace ddbench::analyzer {
namespace {

constexpr std::uint32_t kFirstRangeSteps = 64;
constexpr std::uint64_t kSpansInARange = 1'000'000;  // of one rank: 48 MB
constexpr std::uint32_t kLongestRangeSteps = 1 << 16;

/// A run that was cut off has no rank rows yet: its spans are still read, with clocks never compared.
std::vector<store::RankRecord> ranks_of(const store::RunStore& store, const store::RunRecord& run) {
  std::vector<store::RankRecord> ranks = store.ranks(run.id);
  if (!ranks.empty()) return ranks;
  for (int rank = 0; rank < run.run_case.world_size(); ++rank) ranks.emplace_back().rank = rank;
  return ranks;
}

class Finalizer {
 public:
  Finalizer(store::RunStore& store, store::RunRecord run)
      : store_(store),
        run_(std::move(run)),
        ranks_(ranks_of(store, run_)),
        clocks_(ranks_),
        members_(ranks_.size()),
        slowdown_(run_.run_case.accumulate) {
    probed_steps_.resize(ranks_.size());
    communication_ns_.resize(ranks_.size());
    collectives_.set_clocks_known(clocks_.known());
  }

  void finalize() {
    const auto planned = store_.recorded_steps(run_);
    StepRange range{0, kFirstRangeSteps - 1};
    while (!ranks_.empty()) {
      const std::uint64_t spans = finalize_range(range);
      if (spans == 0 && range.last >= planned) break;
      const std::uint32_t steps = next_range_steps(range.last - range.first + 1, spans);
      range = {range.last + 1, range.last + steps};
    }
    run_.environment.facts.merge(nccl_facts(nccl_));
    const std::vector<store::CollectiveRecord> rows = collective_rows();
    store_.put_collectives(run_.id, rows);
    note_unknown_communicators(rows);
    store_.put_kernels(run_.id, kernels_.records());
    store_verdict();
  }

 private:
  /// So that the fullest rank has about kSpansInARange in the next range.
  static std::uint32_t next_range_steps(std::uint32_t steps, std::uint64_t spans) {
    const std::uint64_t fitting = kSpansInARange * steps / std::max<std::uint64_t>(spans, 1);
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fitting, 1, kLongestRangeSteps));
  }

  struct Loaded {
    std::vector<Span> spans;
    std::vector<std::string> names;
    NcclJoin nccl;
  };
  Loaded load(std::size_t rank, StepRange range) const {
    const std::uint32_t before = range.first == 0 ? 0 : range.first - 1;
    Loaded loaded{store_.spans(run_.id, ranks_[rank].rank, before, range.last + 1),
                  store_.span_names(run_.id, ranks_[rank].rank),
                  {}};
    loaded.nccl = join_nccl_events(loaded.spans, loaded.names, range.first, range.last,
                                   static_cast<std::uint32_t>(run_.run_case.warmup));
    return loaded;
  }

  /// Returns the largest number of spans that a rank has in the range.
  std::uint64_t finalize_range(StepRange range) {
    const auto warmup = static_cast<std::uint32_t>(run_.run_case.warmup);
    const StepRange measured{std::max(range.first, warmup), range.last};
    CollectiveJoin join(clocks_, members_, measured);
    std::uint64_t most_spans = 0;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const auto [spans, names, nccl] = load(rank, range);
      nccl_.add(nccl);
      join.add_rank(rank, spans, names);
      kernels_.add(spans, names, measured);
      slowdown_.add(rank, spans, names, measured);
      most_spans = std::max<std::uint64_t>(most_spans, spans.size());
    }
    if (most_spans == 0) return 0;
    join.join();
    contradictions_ += join.contradictions();
    join.add_totals(collectives_);
    incomplete_collectives_ += join.incomplete();
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) finalize_rank(rank, range, join);
    return most_spans;
  }

  void finalize_rank(std::size_t rank, StepRange range, const CollectiveJoin& join) {
    RankTimeline timeline(load(rank, range).spans);
    join.add_totals_of_rank(rank, timeline.spans(), collectives_);
    damaged_spans_ += timeline.damaged(range);
    const LastArrivals arrivals = join.last_arrivals(rank, timeline.spans());
    const ReportedValues reported(store_, run_.id, ranks_[rank].rank);
    const auto uncertainties_ns = join.wait_uncertainties_ns(rank);
    std::vector<store::StepRecord> records;
    for (std::size_t window = 0; window < timeline.windows().size(); ++window) {
      if (!range.holds(timeline.windows()[window].step)) continue;
      records.push_back(step_record(rank, timeline, window, arrivals, reported));
      const auto uncertainty = uncertainties_ns.find(records.back().step);
      if (records.back().probes_on && uncertainty != uncertainties_ns.end())
        records.back().peer_wait_uncertainty_ns = uncertainty->second;
    }
    store_.put_steps(run_.id, records);
  }

  store::StepRecord step_record(std::size_t rank, RankTimeline& timeline, std::size_t window,
                                const LastArrivals& arrivals, const ReportedValues& reported) {
    const StepWindow& step = timeline.windows()[window];
    store::StepRecord record;
    record.rank = ranks_[rank].rank;
    record.step = step.step;
    record.begin_ns = step.begin_ns;
    record.duration_ns = step.end_ns - step.begin_ns;
    record.probes_on = step.probes_on;
    record.loss = reported.loss(step.step);
    const bool measured = step.step >= static_cast<std::uint32_t>(run_.run_case.warmup);
    measured_steps_ += measured;
    ++all_steps_;
    if (!step.probes_on) return record;
    PartitionedStep parts = partition_step(timeline.spans_in(window), step.begin_ns, step.end_ns, arrivals);
    if (const std::optional<CpuWait> wait = reported.cpu_wait(step.step)) {
      book_cpu_wait(*wait, parts);
      steps_with_cpu_wait_ += measured;
    }
    record.partition = parts.partition;
    record.communication_ns = parts.communication_ns;
    record.overlap_ns = parts.overlap_ns;
    record.peer_wait_ns = parts.peer_wait_ns;
    if (measured) {
      ++probed_steps_[rank];
      communication_ns_[rank] = add_ns(communication_ns_[rank], parts.communication_ns);
    }
    return record;
  }

  std::vector<store::CollectiveRecord> collective_rows() const {
    std::vector<int> run_ranks;
    for (const store::RankRecord& rank : ranks_) run_ranks.push_back(rank.rank);
    std::vector<store::CollectiveRecord> rows = collectives_.records([&](std::uint16_t communicator) {
      store::CommunicatorRecord record = members_.record(communicator, run_ranks);
      // A reference workload has one communicator, of all ranks, even if its ranks run a version that does
      // not report it.
      if (record.ranks == 0 && !is_program(run_.run_case)) record = {run_.run_case.world_size()};
      return record;
    });
    for (store::CollectiveRecord& row : rows) {
      row.nccl_algorithm = nccl_algorithm_of(run_.environment.facts, row.function, row.bytes, row.communicator.ranks);
    }
    return rows;
  }

  void note_unknown_communicators(const std::vector<store::CollectiveRecord>& rows) {
    const auto why = fact_key<"analysis.communicators_unknown">;
    run_.environment.facts.erase(std::string(why.name));
    const bool any = std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.communicator.ranks == 0; });
    if (!any) return;
    set_fact(run_.environment.facts, why,
             nccl_.numbered > 0 ? "NCCL's profiler reported nothing (it needs NCCL 2.26.2 or later)"
                                : "its ranks reported none, or different ones");
  }

  std::string reason_against_use() const {
    if (measured_steps_ == 0 && is_program(run_.run_case)) {
      return all_steps_ == 0
                 ? std::string(
                       "the program made no collective that ddbench can see (those of NCCL, of MPI, and of "
                       "Gloo in PyTorch or in a shared library), so nothing is known of its steps: if it "
                       "starts its ranks itself, use --per-node; no option helps where a framework hides a "
                       "Gloo of its own (Horovod) or has other collectives (TensorFlow)")
                 : fmt::format("only {} steps of the program were found; the first {} are warm-up (--warmup)",
                               all_steps_ / ranks_.size(), run_.run_case.warmup);
    }
    if (measured_steps_ == 0) {
      if (run_.run_case.ends_by_margin())
        return fmt::format("no measured step was recorded (the first {} are warm-up)", run_.run_case.warmup);
      return fmt::format("no measured step was recorded ({} warm-up and {} measured steps were asked for)",
                         run_.run_case.warmup, run_.run_case.steps);
    }
    if (std::string reason = unrecognised_kernels(); !reason.empty()) return reason;
    for (std::size_t rank = 0; rank < ranks_.size() && ranks_.size() > 1; ++rank) {
      if (probed_steps_[rank] == 0 || communication_ns_[rank] != 0) continue;
      return fmt::format(
          "rank {} of {} shows no communication in its measured steps: the probes did not see its "
          "collectives, so its time cannot be divided into parts",
          ranks_[rank].rank, ranks_.size());
    }
    return differing_replicas();
  }

  /// They would count as compute, in addition to the collectives that NCCL's profiler reported.
  std::string unrecognised_kernels() const {
    const Facts& facts = run_.environment.facts;
    const auto alone = get_fact(facts, fact_key<"nccl.events_alone">);
    const bool has_kernels =
        has_fact(facts, fact_key<"cupti.records">) && !has_fact(facts, fact_key<"cupti.unavailable">);
    if (!alone || !has_kernels) return {};
    return fmt::format(
        "NCCL's profiler reported {} collectives on ranks where CUPTI's records have no kernel that is "
        "recognised as NCCL's: what of these is compute is not known",
        *alone);
  }

  std::string differing_replicas() const {
    const store::RankRecord* first = nullptr;
    for (const store::RankRecord& rank : ranks_) {
      if (rank.parameter_hash.empty()) continue;
      if (first == nullptr) first = &rank;
      if (rank.parameter_hash == first->parameter_hash) continue;
      return fmt::format(
          "replicas differ after the last step: the parameters of rank {} hash to {}, those of rank {} "
          "to {}. Gradients were not averaged alike on all ranks",
          first->rank, first->parameter_hash, rank.rank, rank.parameter_hash);
    }
    return {};
  }

  void store_verdict() {
    Facts& facts = run_.environment.facts;
    set_count(facts, fact_key<"analysis.incomplete_collectives">, incomplete_collectives_);
    set_count(facts, fact_key<"analysis.damaged_spans">, damaged_spans_);
    set_count(facts, fact_key<"analysis.clock_contradictions">, contradictions_);
    set_count(facts, fact_key<"analysis.reduced_steps">, kernels_.reduced_steps());
    note_contention();
    add_counted_facts(store_, run_.id, ranks_, facts);
    add_reported_facts(store_, run_.id, ranks_, facts);
    // A reason recorded earlier explains why there are no data now.
    if (std::string reason = run_.valid ? reason_against_use() : ""; !reason.empty()) {
      run_.valid = false;
      run_.invalid_reason = std::move(reason);
    }
    store_.update_run(run_);
  }

  void note_contention() {
    std::uint64_t probed = 0;
    for (const std::uint64_t steps : probed_steps_) probed += steps;
    Facts& facts = run_.environment.facts;
    facts.erase(std::string(fact_key<"analysis.cpu_wait">.name));
    if (probed > 0 && steps_with_cpu_wait_ == probed)
      set_fact(facts, fact_key<"analysis.cpu_wait">, "measured");
    set_fact(facts, fact_key<"analysis.compute_slowdown_percent">, as_fact(slowdown_.percent()));
  }

  store::RunStore& store_;
  store::RunRecord run_;
  std::vector<store::RankRecord> ranks_;
  ClockAlignment clocks_;
  CommunicatorMembers members_;
  CollectiveTotals collectives_;
  KernelTotals kernels_;
  ComputeSlowdown slowdown_;
  std::vector<std::uint64_t> probed_steps_;     ///< by rank: measured, with the probes on
  std::vector<std::int64_t> communication_ns_;  ///< by rank, in those
  std::uint64_t steps_with_cpu_wait_ = 0;       ///< over ranks, measured
  std::uint64_t measured_steps_ = 0;            ///< over ranks
  std::uint64_t all_steps_ = 0;                 ///< likewise, warm-up included
  std::uint64_t incomplete_collectives_ = 0;
  std::uint64_t damaged_spans_ = 0;
  std::uint64_t contradictions_ = 0;  ///< CausalClocks::contradictions
  NcclJoin nccl_;
};

}  // namespace

void finalize_run(store::RunStore& store, const store::RunId& id) {
  std::optional<store::RunRecord> run = store.run(id);
  if (!run) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("run {} is not in {}: nothing can be analysed", id, store.file().string()));
  }
  if (is_micro(run->run_case)) return finalize_micro_run(store, *std::move(run));
  Finalizer(store, *std::move(run)).finalize();
}

}  // namespace ddbench::analyzer
