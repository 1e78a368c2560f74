#include "reports/formats/perfetto/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/program/device_span.h"
#include "core/error.h"
#include "core/run_case/step_facts.h"
#include "reports/formats/perfetto/collective_meetings.h"
#include "reports/formats/perfetto/lanes.h"
#include "reports/formats/perfetto/slice_queue.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using trace::Meeting;
using trace::Slice;
using trace::Track;

constexpr std::size_t kPiece = 1 << 16;
constexpr int kThreadsOfAProcess = 10'000;

/// Microseconds with three decimals, as the format requires; exact.
std::string microseconds(std::int64_t time_ns) {
  return fmt::format("{}.{:03}", time_ns / 1000, time_ns % 1000);
}

class TraceWriter {
 public:
  TraceWriter(const store::RunStore& store, store::RunRecord run, const TraceSelection& selection, const Sink& sink)
      : store_(store), run_(std::move(run)), selection_(selection), sink_(sink), ranks_(store.ranks(run_.id)) {}

  TraceCounts write() {
    for (const store::RankRecord& rank : ranks_) {
      visit_spans(rank.rank, [&](std::span<const Span> spans) {
        meetings_.add(rank.rank, is_shown(rank.rank), spans, rank.clock);
      });
    }
    counts_.collectives = meetings_.size();
    write_head();
    for (const store::RankRecord& rank : ranks_) {
      if (is_shown(rank.rank)) write_rank(rank);
    }
    write_losses();
    write_end_of_run();
    text_ += "\n]}\n";
    write_out();
    return counts_;
  }

 private:
  bool is_shown(int rank) const { return !selection_.ranks || selection_.ranks->contains(rank); }
  bool is_shown_step(std::uint32_t step) const { return !selection_.steps || selection_.steps->contains(step); }

  /// Of the chosen steps.
  void visit_spans(int rank, const std::function<void(std::span<const Span>)>& visit) const {
    if (!selection_.steps) return store_.visit_spans(run_.id, rank, visit);
    for (const NumberRange& steps : selection_.steps->ranges())
      store_.visit_spans(run_.id, rank, static_cast<std::uint32_t>(steps.first), static_cast<std::uint32_t>(steps.last), visit);
  }

  void write_out() {
    counts_.largest_piece = std::max(counts_.largest_piece, text_.size());
    sink_(text_);
    text_.clear();
  }

  template <typename... Arguments>
  void event(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += first_ ? "\n{" : ",\n{";
    first_ = false;
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '}';
    if (text_.size() >= kPiece) write_out();
  }

  // Process 0 is special to trace viewers.
  static int process_of(int rank) { return rank + 1; }

  void write_head() {
    std::int64_t uncertainty_ns = 0;
    for (const store::RankRecord& rank : ranks_)
      uncertainty_ns = std::max(uncertainty_ns, rank.clock.uncertainty_ns());
    text_ = fmt::format(
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"program\":\"ddbench\",\"run\":{},\"name\":{},"
        "\"state\":\"{}\",\"valid\":{},"
        "\"provenance\":{},\"clock_uncertainty_ns\":{},\"origin_ns\":{},\"damaged_spans\":{}}},"
        "\"traceEvents\":[",
        json_string(run_.id), json_string(run_.run_case.name), store::to_string(run_.state), run_.valid,
        json_string(provenance_in_words(run_.provenance)), uncertainty_ns, meetings_.origin_ns(),
        meetings_.damaged());
  }

  void write_rank(const store::RankRecord& rank) {
    const int process = process_of(rank.rank);
    const std::string host = rank.host.empty() ? std::string() : ", " + rank.host;
    event(R"("ph":"M","name":"process_name","pid":{},"tid":0,"ts":0,"args":{{"name":{}}})", process,
          json_string(fmt::format("rank {} (node {}{})", rank.rank, rank.node, host)));
    event(R"("ph":"M","name":"process_sort_index","pid":{},"tid":0,"ts":0,"args":{{"sort_index":{}}})",
          process, rank.rank);
    const std::vector<std::string> names = store_.span_names(run_.id, rank.rank);
    trace::Tracks tracks;
    trace::SliceQueue queue([&](const Slice& slice) {
      const auto [track, is_new] = tracks.place(slice);
      if (is_new) write_track(process, track);
      write_slice(rank.rank, track, slice, names);
    });
    visit_spans(rank.rank, [&](std::span<const Span> spans) {
      for (const Span& span : spans) {
        if (!trace::can_be_shown(span)) continue;
        const std::int64_t begin_ns = rank.clock.to_reference(span.begin_ns);
        queue.add({span, begin_ns, std::max(begin_ns, rank.clock.to_reference(span.end_ns))});
      }
    });
    queue.flush();
    counts_.most_waiting = std::max(counts_.most_waiting, queue.most_waited());
  }

  // Perfetto identifies threads by their number only, not by process and number.
  static std::int64_t thread_of(int process, const Track& track) {
    return std::int64_t{process} * kThreadsOfAProcess + track.number();
  }

  void write_track(int process, const Track& track) {
    const std::int64_t thread = thread_of(process, track);
    event(R"("ph":"M","name":"thread_name","pid":{},"tid":{},"ts":0,"args":{{"name":{}}})", process, thread,
          json_string(track.name()));
    event(R"("ph":"M","name":"thread_sort_index","pid":{},"tid":{},"ts":0,"args":{{"sort_index":{}}})",
          process, thread, track.number());
  }

  void write_slice(int rank, const Track& track, const Slice& slice, const std::vector<std::string>& names) {
    const Span& span = slice.span;
    const int process = process_of(rank);
    const bool named = span.name_id < names.size() && !names[span.name_id].empty();
    const std::string name = span.kind == SpanKind::kStep ? step_name(span)
                             : named                      ? names[span.name_id]
                                                          : std::string(to_string(span.kind));
    event(R"("ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{}{},"args":{{{}}})",
          json_string(name), to_string(span.kind), process, thread_of(process, track),
          microseconds(slice.begin_ns - meetings_.origin_ns()), microseconds(slice.end_ns - slice.begin_ns),
          flow_of(rank, slice), arguments_of(slice));
    ++counts_.slices;
  }

  std::string step_name(const Span& span) const {
    if (span.step == kNoStep) return "step";
    const bool warmup = span.step < first_measured_step(run_.run_case, run_.environment.facts);
    return fmt::format("{}step {}", warmup ? "warm-up " : "", span.step);
  }

  /// From the first shown rank that arrived over the others to the last one.
  std::string flow_of(int rank, const Slice& slice) const {
    const Meeting* meeting = meetings_.find(slice.span);
    if (meeting == nullptr || meeting->shown < 2) return {};
    const bool out = rank != meeting->last_shown.rank;
    const bool in = rank != meeting->first_shown.rank;
    return fmt::format(R"(,"bind_id":"{:#x}"{}{})", meeting->number, in ? R"(,"flow_in":true)" : "",
                       out ? R"(,"flow_out":true)" : "");
  }

  std::string arguments_of(const Slice& slice) const {
    const Span& span = slice.span;
    std::string text;
    const auto add = [&](std::string_view key, const auto& value) {
      text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", key, value);
    };
    if (span.step != kNoStep) add("step", span.step);
    if (span.kind == SpanKind::kStep) add("probes", span.bucket == kNoBucket ? "\"on\"" : "\"off\"");
    if (span.bytes > 0) add("bytes", span.bytes);
    if (span.bucket != kNoBucket && span.kind != SpanKind::kStep && !is_device_wait(span)) add("bucket", span.bucket);
    if (const Meeting* meeting = meetings_.find(span)) {
      add("collective",
          fmt::format("\"{}:{}\"", span.correlation >> 48, span.correlation & 0xFFFF'FFFF'FFFFULL));
      add("ranks", meeting->ranks);
      add("last_to_arrive", fmt::format("\"rank {}\"", meeting->last.rank));
      add("peer_wait_us", microseconds(std::clamp<std::int64_t>(meeting->last.at_ns - slice.begin_ns, 0,
                                                                slice.end_ns - slice.begin_ns)));
    }
    return text;
  }

  void write_losses() {
    std::map<int, const store::RankRecord*> ranks;
    for (const store::RankRecord& rank : ranks_) {
      if (is_shown(rank.rank)) ranks.emplace(rank.rank, &rank);
    }
    store_.visit_steps(run_.id, [&](const store::StepRecord& step) {
      const auto rank = ranks.find(step.rank);
      if (!std::isfinite(step.loss) || rank == ranks.end() || !is_shown_step(step.step)) return;
      const std::int64_t at_ns =
          rank->second->clock.to_reference(step.begin_ns + step.duration_ns) - meetings_.origin_ns();
      event(R"("ph":"C","name":"loss","pid":{},"tid":0,"ts":{},"args":{{"loss":{:.9g}}})",
            process_of(step.rank), microseconds(std::max<std::int64_t>(at_ns, 0)), step.loss);
    });
  }

  /// A mark at the end of a run that did not complete.
  void write_end_of_run() {
    if (run_.state == store::RunState::kDone && run_.valid) return;
    const std::string why = run_.valid ? run_.reason : "invalid: " + run_.invalid_reason;
    event(R"("ph":"i","s":"g","name":{},"pid":0,"tid":0,"ts":{})",
          json_string(fmt::format("run {}: {}", store::to_string(run_.state), why)),
          microseconds(meetings_.end_ns() - meetings_.origin_ns()));
  }

  const store::RunStore& store_;
  store::RunRecord run_;
  const TraceSelection& selection_;
  const Sink& sink_;
  std::vector<store::RankRecord> ranks_;
  trace::CollectiveMeetings meetings_;
  TraceCounts counts_;
  std::string text_;
  bool first_ = true;
};

}  // namespace

TraceCounts write_perfetto(const store::RunStore& store, const store::RunId& id, const TraceSelection& selection, const Sink& sink) {
  std::optional<store::RunRecord> run = store.run(id);
  if (!run) throw Error(ErrorCode::kBadInput, fmt::format("run {} is not in {}", id, store.file().string()));
  return TraceWriter(store, *std::move(run), selection, sink).write();
}

}  // namespace ddbench::reports
