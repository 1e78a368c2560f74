#include "analyzer/import/horovod/horovod.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/attribution/collective_totals.h"
#include "analyzer/import/horovod/steps_of_tensors.h"
#include "core/error.h"
#include "core/name_table.h"
#include "core/span_limits.h"

namespace ddbench::imports {
namespace {

constexpr TraceOrigin kHorovod{"horovod", "Horovod writes the shape of tensors where an operation ends", "", ""};
constexpr std::int64_t kFusedWithin_ns = 1'000'000;

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view text) { return name.starts_with(text); });
}

/// What an activity does, by its name: a collective of NCCL, MPI, Gloo, …, a copy, or neither.
SpanKind kind_of(std::string_view activity) {
  if (starts_with_any(activity, {"NCCL_", "MPI_", "GLOO_", "CCL_", "DDL_", "MLSL_"})) return SpanKind::kCommunication;
  if (starts_with_any(activity, {"MEMCPY_", "COPY_"})) return SpanKind::kCopy;
  return SpanKind::kHost;
}

/// The part of an operation that moves data: from its first collective activity to the end of its last one;
/// without any such activity, the whole operation.
struct Transfer {
  std::string_view function;
  std::size_t first_activity = 0;  ///< its name; tensors that are fused have the same
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t bytes = 0;
  bool is_size_known = true;
};

class TraceMaker {
 public:
  TraceMaker(const HorovodTimeline& timeline, int ranks, RankTrace& trace) : timeline_(timeline), ranks_(ranks), trace_(trace) {}

  void make() {
    any_names_all_ = std::any_of(timeline_.negotiations.begin(), timeline_.negotiations.end(),
                                 [&](const HorovodNegotiation& negotiation) { return names_all(negotiation); });
    for (const HorovodNegotiation& negotiation : timeline_.negotiations) add_negotiation(negotiation);
    for (const Transfer& transfer : fused(transfers())) add_transfer(transfer);
    for (const HorovodActivity& activity : timeline_.activities) {
      const std::string& name = timeline_.activity_names[activity.name];
      if (kind_of(name) == SpanKind::kCopy) add_span(SpanKind::kCopy, Lane::kMain, name, activity.begin_ns, activity.end_ns);
    }
    trace_.reported_collectives = totals_.records([&](std::uint16_t) { return store::CommunicatorRecord{ranks_}; });
    for (store::CollectiveRecord& record : trace_.reported_collectives) {
      const bool is_negotiation = record.function == "negotiate";
      record.peer_wait_resolved = is_negotiation && waits_known_ > 0;
      if (is_negotiation) record.count += waits_not_known_;
    }
    trace_.spans.names = names_.names();
    note_last_ranks();
  }

 private:
  bool names_all(const HorovodNegotiation& negotiation) const { return static_cast<int>(negotiation.ready) == ranks_; }

  Span& add_span(SpanKind kind, Lane lane, std::string_view name, std::int64_t begin_ns, std::int64_t end_ns) {
    Span span;
    span.begin_ns = begin_ns;
    span.end_ns = end_ns;
    span.kind = kind;
    span.lane = lane;
    span.name_id = names_.intern(name);
    trace_.spans.spans.push_back(span);
    return trace_.spans.spans.back();
  }

  void add_negotiation(const HorovodNegotiation& negotiation) {
    const analyzer::CollectiveKind kind{"negotiate"};
    const std::int64_t length_ns = negotiation.end_ns - negotiation.begin_ns;
    add_span(SpanKind::kCommunication, Lane::kCommunication, "negotiate", negotiation.begin_ns, negotiation.end_ns);
    const auto first = timeline_.ready.begin() + static_cast<std::ptrdiff_t>(negotiation.first_ready);
    const auto behind = first + static_cast<std::ptrdiff_t>(negotiation.ready);
    if (!names_all(negotiation) && any_names_all_) {
      ++waits_not_known_;  // nothing that may be mixed with what is measured
      return;
    }
    if (!names_all(negotiation)) {
      totals_.add_collective(kind, length_ns, 0);
      return totals_.add_share_of_rank(kind, length_ns, 0, 0);
    }
    const auto last = std::max_element(first, behind, [](const auto& a, const auto& b) { return a.at_ns < b.at_ns; });
    totals_.add_collective(kind, std::max<std::int64_t>(0, negotiation.end_ns - last->at_ns), 0);
    std::int64_t second_ns = negotiation.begin_ns;
    for (auto rank = first; rank != behind; ++rank) {
      totals_.add_share_of_rank(kind, std::max<std::int64_t>(0, negotiation.end_ns - rank->at_ns), last->at_ns - rank->at_ns, 0);
      if (rank != last) second_ns = std::max(second_ns, rank->at_ns);
    }
    ++waits_known_;
    last_.try_emplace(last->rank).first->second.push_back(last->at_ns - second_ns);
  }

  std::vector<Transfer> transfers() const {
    std::vector<Transfer> all;
    for (const HorovodOperation& operation : timeline_.operations)
      all.push_back({operation.function, timeline_.activity_names.size(), operation.begin_ns, operation.end_ns, operation.bytes,
                     operation.bytes > 0});
    for (const HorovodActivity& activity : timeline_.activities) {
      if (kind_of(timeline_.activity_names[activity.name]) != SpanKind::kCommunication) continue;
      Transfer& transfer = all[activity.operation];
      if (transfer.first_activity == timeline_.activity_names.size()) {
        transfer.first_activity = activity.name;
        transfer.begin_ns = activity.begin_ns;
        transfer.end_ns = activity.end_ns;
      }
      transfer.begin_ns = std::min(transfer.begin_ns, activity.begin_ns);
      transfer.end_ns = std::max(transfer.end_ns, activity.end_ns);
    }
    std::erase_if(all, [](const Transfer& transfer) { return transfer.function.empty(); });
    return all;
  }

  /// Horovod records the begin of an activity tensor by tensor before it starts, and its end tensor by tensor afterwards: it
  /// lasts from the last begin to the first end.
  std::vector<Transfer> fused(std::vector<Transfer> all) const {
    const auto key = [](const Transfer& transfer) { return std::tuple(transfer.function, transfer.first_activity, transfer.begin_ns); };
    std::sort(all.begin(), all.end(), [&](const Transfer& a, const Transfer& b) { return key(a) < key(b); });
    std::vector<Transfer> joined;
    for (const Transfer& transfer : all) {
      const bool has_activity = transfer.first_activity < timeline_.activity_names.size();
      if (!joined.empty() && has_activity && joined.back().function == transfer.function &&
          joined.back().first_activity == transfer.first_activity && transfer.begin_ns < joined.back().end_ns &&
          transfer.begin_ns - joined.back().begin_ns < kFusedWithin_ns) {
        joined.back().begin_ns = transfer.begin_ns;
        joined.back().end_ns = std::max(transfer.begin_ns, std::min(joined.back().end_ns, transfer.end_ns));
        joined.back().is_size_known &= transfer.is_size_known;
        joined.back().bytes += transfer.bytes;
      } else {
        joined.push_back(transfer);
      }
    }
    return joined;
  }

  void add_transfer(const Transfer& transfer) {
    // Horovod records the shape of the result, of which each rank holds a part here.
    std::uint64_t bytes = transfer.is_size_known ? std::min(transfer.bytes, kMostBytes) : 0;
    if (transfer.function == "reduce_scatter" && __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(ranks_), &bytes)) bytes = 0;
    if (bytes > kMostBytes) bytes = 0;
    Span& span = add_span(SpanKind::kCommunication, Lane::kCommunication, transfer.function, transfer.begin_ns, transfer.end_ns);
    span.bytes = bytes;
    const analyzer::CollectiveKind kind{std::string(transfer.function), -1, bytes};
    totals_.add_collective(kind, span.duration_ns(), 0);
    totals_.add_share_of_rank(kind, span.duration_ns(), 0, 0);
  }

  void note_last_ranks() {
    const auto most = std::max_element(last_.begin(), last_.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (most == last_.end()) return;
    std::vector<std::int64_t>& lateness_ns = most->second;
    const auto middle = lateness_ns.begin() + static_cast<std::ptrdiff_t>(lateness_ns.size() / 2);
    std::nth_element(lateness_ns.begin(), middle, lateness_ns.end());
    const std::string others =
        waits_not_known_ == 0 ? "negotiations of tensors that Horovod had in its cache name none"
                              : fmt::format("{} others do not, as of tensors that Horovod had in its cache: they are counted, and in none of the times",
                                            waits_not_known_);
    trace_.notes.push_back(fmt::format(
        "of {} negotiations that name all ranks, rank {} was the last to be ready in {:.0f}%, by a median of {:.3g} ms after the "
        "one before it; {}",
        waits_known_, most->first, 100.0 * static_cast<double>(lateness_ns.size()) / static_cast<double>(waits_known_),
        static_cast<double>(*middle) / 1e6, others));
  }

  const HorovodTimeline& timeline_;
  int ranks_;
  RankTrace& trace_;
  NameTable names_;
  analyzer::CollectiveTotals totals_;
  bool any_names_all_ = false;  ///< a negotiation names all ranks
  std::size_t waits_known_ = 0;
  std::size_t waits_not_known_ = 0;
  std::map<int, std::vector<std::int64_t>> last_;  ///< by rank: how long after the second to last
};

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", file.string(), why), 0, file.string());
}

int ranks_of(const HorovodTimeline& timeline, const std::filesystem::path& file, int stated) {
  if (stated == 0 && timeline.named_ranks == 0)
    refuse(file, "it names no ranks, as where Horovod had all tensors in its cache: state how many there are with --ranks");
  if (stated > 0 && stated < timeline.named_ranks)
    refuse(file, fmt::format("it names rank {}, and --ranks is {}", timeline.named_ranks - 1, stated));
  return stated > 0 ? stated : timeline.named_ranks;
}

}  // namespace

RankTrace horovod_trace(const HorovodTimeline& timeline, const std::filesystem::path& file, const HorovodOptions& options) {
  RankTrace trace;
  trace.file = file;
  trace.hash = timeline.hash;
  trace.compute = ComputeSource::kNone;
  trace.info.rank = 0;
  trace.info.world_size = ranks_of(timeline, file, options.ranks);
  TraceMaker(timeline, *trace.info.world_size, trace).make();
  if (trace.spans.spans.empty()) refuse(file, "it has no negotiation, copy or collective that ended");
  trace.marked_by = mark_steps(timeline, trace.steps);
  trace.notes.emplace_back("the timeline is that of Horovod's rank 0, which negotiates: what the other ranks did meanwhile is not known");
  if (timeline.is_cut_off) trace.notes.emplace_back("the file ends within its events: it was read up to the last whole one");
  if (timeline.not_whole > 0)
    trace.notes.push_back(fmt::format("{} events begin or end outside of what was recorded, and were left out", timeline.not_whole));
  return trace;
}

TraceImport import_horovod(const std::filesystem::path& store_file, const std::filesystem::path& file,
                           const HorovodOptions& options) {
  std::vector<RankTrace> traces;
  traces.push_back(horovod_trace(read_horovod_timeline(file), file, options));
  return import_traces(store_file, std::move(traces), options.trace, kHorovod);
}

}  // namespace ddbench::imports
