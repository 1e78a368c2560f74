#include "analyzer/finalize/finalize.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/attribution/collective_join.h"
#include "analyzer/attribution/collective_totals.h"
#include "analyzer/attribution/nccl_join.h"
#include "analyzer/clocks/clock_alignment.h"
#include "analyzer/collectives/micro_records.h"
#include "analyzer/collectives/micro_table.h"
#include "analyzer/finalize/compute_slowdown.h"
#include "analyzer/finalize/kernel_totals.h"
#include "analyzer/finalize/rank_facts.h"
#include "analyzer/finalize/rank_rows.h"
#include "analyzer/finalize/reported_values.h"
#include "analyzer/finalize/unusable.h"
#include "analyzer/run/contention.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"
#include "core/run_case/step_facts.h"
#include "core/span_limits.h"
#include "core/threads/pipeline.h"

namespace ddbench::analyzer {
namespace {

constexpr std::uint64_t kFirstRangeRows = 65'536;       // of steps, while nothing is known of their spans
constexpr std::uint32_t kFirstRangeSteps = 64;
constexpr std::uint32_t kMostGrowth = 4;  // of a range over the one before: steps of a warm-up may hold less than others
constexpr std::uint64_t kSpansUnderWay = 1'000'000;  // of the ranks that are worked on at a time: 48 MB
constexpr std::uint64_t kFewestSpansOfARank = 65'536;  // fewer would decode a chunk of the store for several ranges
constexpr std::uint64_t kPartsInARange = 4'000'000;    // of ranks in collectives: 250 MB
constexpr std::uint64_t kRowsInARange = 1'000'000;     // of steps: 200 MB
constexpr std::size_t kRowsAtOnce = 1 << 16;           // in a transaction: other writers wait for it
constexpr std::size_t kMostThreads = 16;

/// A run that was cut off has no rank rows yet: its spans are still read, with clocks never compared.
std::vector<store::RankRecord> ranks_of(const store::RunStore& store, const store::RunRecord& run) {
  std::vector<store::RankRecord> ranks = store.ranks(run.id);
  if (!ranks.empty()) return ranks;
  for (int rank = 0; rank < run.run_case.world_size(); ++rank) ranks.emplace_back().rank = rank;
  return ranks;
}

class Finalizer {
 public:
  Finalizer(store::RunStore& store, store::RunRecord run, std::size_t threads)
      : store_(store),
        run_(std::move(run)),
        ranks_(ranks_of(store, run_)),
        clocks_(ranks_),
        members_(ranks_.size()),
        slowdown_(slowdown_of_a_rank()),
        first_measured_(first_measured_step(run_.run_case, run_.environment.facts)),
        threads_(threads > 0 ? threads : std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads)) {
    probed_steps_.resize(ranks_.size());
    communication_ns_.resize(ranks_.size());
    collectives_.set_clocks_known(clocks_.known());
  }

  void finalize() {
    const auto planned = store_.recorded_steps(run_);
    if (ranks_.empty()) return store_results();
    const auto first = std::clamp<std::uint64_t>(kFirstRangeRows / ranks_.size(), 1, kFirstRangeSteps);
    StepRange range{0, static_cast<std::uint32_t>(first) - 1};
    for (;;) {
      const RangeSize size = finalize_range(range);
      if (size.most_spans == 0 && range.last >= planned) break;
      const std::uint32_t steps = next_range_steps(range.last - range.first + 1, size);
      range = {range.last + 1, range.last + steps};
    }
    store_results();
  }

 private:
  void store_results() {
    run_.environment.facts.merge(nccl_facts(nccl_));
    const std::vector<store::CollectiveRecord> rows = collective_rows();
    store_.put_collectives(run_.id, rows);
    note_unknown_communicators(rows);
    store_.put_kernels(run_.id, kernels_.records());
    store_verdict();
  }

  struct RangeSize {
    std::uint64_t most_spans = 0;  ///< of a rank, in the range and the steps beside it
    std::uint64_t parts = 0;       ///< CollectiveJoin::parts, likewise
  };
  /// So that memory stays bounded, however many ranks there are. Depends on the run alone, not on the number of threads.
  std::uint32_t next_range_steps(std::uint32_t steps, RangeSize size) const {
    const std::uint64_t under_way = std::min<std::uint64_t>(ranks_.size(), kMostThreads);
    const std::uint64_t spans_of_a_rank = std::max<std::uint64_t>(kSpansUnderWay / under_way, kFewestSpansOfARank);
    const std::uint64_t read = std::uint64_t{steps} + 2;
    const std::uint64_t fitting = std::min(spans_of_a_rank * read / std::max<std::uint64_t>(size.most_spans, 1),
                                           kPartsInARange * read / std::max<std::uint64_t>(size.parts, 1));
    const std::uint64_t most = std::min(std::uint64_t{steps} * kMostGrowth, kRowsInARange / ranks_.size());
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(std::min(fitting - std::min<std::uint64_t>(fitting, 2), most), 1));
  }

  /// A rank's spans around a range as stored, then as they are analyzed.
  struct Stored {
    store::EncodedSpans spans;
    std::vector<std::string> names;
  };
  struct Loaded {
    std::vector<Span> spans;
    std::vector<std::string> names;
    NcclJoin nccl;
  };
  Stored read(std::size_t rank, StepRange range) const {
    const std::uint32_t before = range.first == 0 ? 0 : range.first - 1;
    return {store_.encoded_spans(run_.id, ranks_[rank].rank, before, range.last + 1),
            store_.span_names(run_.id, ranks_[rank].rank)};
  }
  Loaded load(Stored stored, StepRange range) const {
    Loaded loaded{stored.spans.decode(), std::move(stored.names), {}};
    loaded.nccl = join_nccl_events(loaded.spans, loaded.names, range.first, range.last, first_measured_);
    return loaded;
  }

  RangeSize finalize_range(StepRange range) {
    const StepRange measured{std::max(range.first, first_measured_), range.last};
    CollectiveJoin join(clocks_, members_, measured);
    RangeSize size;
    const auto collect = [&](std::size_t rank, Stored stored) {
      RankTotals totals{.loaded = load(std::move(stored), range), .collectives = {}, .kernels = {}, .slowdown = slowdown_of_a_rank()};
      const auto& [spans, names, nccl] = totals.loaded;
      totals.collectives = own_collectives(spans, measured);
      totals.kernels.add(spans, names, measured);
      totals.slowdown.add(rank, spans, names, measured);
      return totals;
    };
    const auto add = [&](std::size_t rank, RankTotals totals) {
      size.most_spans = std::max<std::uint64_t>(size.most_spans, totals.loaded.spans.size());
      nccl_.add(totals.loaded.nccl);
      join.add_rank(rank, totals.collectives, totals.loaded.names);
      kernels_.add(totals.kernels);
      slowdown_.add(totals.slowdown);
    };
    pipeline(ranks_.size(), threads_, [&](std::size_t rank) { return read(rank, range); }, collect, add);
    size.parts = join.parts();
    if (size.most_spans == 0) return size;
    join.join(threads_);
    contradictions_ += join.contradictions();
    join.add_totals(collectives_);
    incomplete_collectives_ += join.incomplete();
    finalize_ranks(range, join);
    return size;
  }

  /// What a rank adds to a range before the ranks' collectives are joined.
  struct RankTotals {
    Loaded loaded;
    OwnCollectives collectives;
    KernelTotals kernels;
    ComputeSlowdown slowdown;
  };
  ComputeSlowdown slowdown_of_a_rank() const { return ComputeSlowdown(run_.run_case.accumulate); }

  void finalize_ranks(StepRange range, const CollectiveJoin& join) {
    using Input = std::pair<Stored, ReportedValues>;
    const auto read_rank = [&](std::size_t rank) {
      return Input(read(rank, range), ReportedValues(store_, run_.id, ranks_[rank].rank, range));
    };
    const auto rows_of = [&](std::size_t rank, Input input) {
      Loaded loaded = load(std::move(input.first), range);
      RankRows rows = rank_rows(std::move(loaded.spans), range, join, rank, input.second, loaded.nccl.all_there_ns);
      for (store::StepRecord& record : rows.records) record.rank = ranks_[rank].rank;
      return rows;
    };
    std::vector<store::StepRecord> records;
    const auto add = [&](std::size_t rank, const RankRows& rows) {
      join.add_totals_of_rank(rank, collectives_);
      damaged_spans_ += rows.damaged_spans;
      wait_by_phases_ns_ = add_ns(wait_by_phases_ns_, rows.wait_by_phases_ns);
      wait_by_clocks_ns_ = add_ns(wait_by_clocks_ns_, rows.wait_by_clocks_ns);
      for (const store::StepRecord& record : rows.records) count(rank, record);
      for (const std::uint32_t step : rows.with_cpu_wait) steps_with_cpu_wait_ += step >= first_measured_;
      records.insert(records.end(), rows.records.begin(), rows.records.end());
    };
    pipeline(ranks_.size(), threads_, read_rank, rows_of, add);
    // In the order of the table: rank after rank, each would write all of its pages again.
    std::stable_sort(records.begin(), records.end(), [](const store::StepRecord& a, const store::StepRecord& b) {
      return std::pair(a.step, a.rank) < std::pair(b.step, b.rank);
    });
    for (std::span<const store::StepRecord> rest = records; !rest.empty();) {
      const std::size_t rows = std::min(rest.size(), kRowsAtOnce);
      store_.put_steps(run_.id, rest.first(rows));
      rest = rest.subspan(rows);
    }
  }

  void count(std::size_t rank, const store::StepRecord& record) {
    ++all_steps_;
    if (record.step < first_measured_) return;
    ++measured_steps_;
    if (!record.probes_on) return;
    ++probed_steps_[rank];
    communication_ns_[rank] = add_ns(communication_ns_[rank], record.communication_ns);
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

  /// Whether the run continued another one that had left it no more than a warm-up, or nothing: complete, with nothing measured.
  bool had_few_steps_left() const {
    const int first = first_own_step(run_.environment.facts);
    return first > 0 && (all_steps_ > 0 || first >= run_.run_case.total_steps());
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
    if (measured_steps_ == 0 && !had_few_steps_left()) {
      if (run_.run_case.ends_by_margin())
        return fmt::format("no measured step was recorded (the first {} are warm-up)", run_.run_case.warmup);
      return fmt::format("no measured step was recorded ({} warm-up and {} measured steps were asked for)",
                         run_.run_case.warmup, run_.run_case.steps);
    }
    if (std::string reason = unrecognised_kernels(run_.environment.facts); !reason.empty()) return reason;
    for (std::size_t rank = 0; rank < ranks_.size() && ranks_.size() > 1; ++rank) {
      if (probed_steps_[rank] == 0 || communication_ns_[rank] != 0) continue;
      return fmt::format(
          "rank {} of {} shows no communication in its measured steps: the probes did not see its "
          "collectives, so its time cannot be divided into parts",
          ranks_[rank].rank, ranks_.size());
    }
    return differing_replicas(ranks_);
  }

  void store_verdict() {
    Facts& facts = run_.environment.facts;
    set_count(facts, fact_key<"analysis.incomplete_collectives">, incomplete_collectives_);
    set_count(facts, fact_key<"analysis.damaged_spans">, damaged_spans_);
    set_count(facts, fact_key<"analysis.clock_contradictions">, contradictions_);
    set_count(facts, fact_key<"nccl.peer_wait_by_phases_ns">, static_cast<std::uint64_t>(wait_by_phases_ns_));
    set_count(facts, fact_key<"nccl.peer_wait_by_clocks_ns">, static_cast<std::uint64_t>(wait_by_clocks_ns_));
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
  std::int64_t wait_by_phases_ns_ = 0;  ///< RankRows
  std::int64_t wait_by_clocks_ns_ = 0;
  std::uint64_t contradictions_ = 0;  ///< CausalClocks::contradictions
  NcclJoin nccl_;
  const std::uint32_t first_measured_;  ///< step
  std::size_t threads_;
};

}  // namespace

void finalize_run(store::RunStore& store, const store::RunId& id, std::size_t threads) {
  std::optional<store::RunRecord> run = store.run(id);
  if (!run) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("run {} is not in {}: nothing can be analysed", id, store.file().string()));
  }
  if (is_micro(run->run_case)) return finalize_micro_run(store, *std::move(run));
  Finalizer(store, *std::move(run), threads).finalize();
}

}  // namespace ddbench::analyzer
