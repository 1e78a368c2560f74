#include "core/program/device_span.h"
#include "reports/formats/perfetto/perfetto.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "analyzer/store/maintenance/maintenance.h"
#include "core/error.h"
#include "core/text/number_ranges.h"
#include "reports/formats/perfetto/lanes.h"
#include "reports/formats/perfetto/slice_queue.h"
#include "sample_store_test.h"

namespace ddbench::reports {
namespace {

using nlohmann::json;

json trace_of(const store::RunStore& store, const store::RunId& id, const TraceSelection& selection = {}) {
  std::string text;
  write_perfetto(store, id, selection, [&](std::string_view piece) { text += piece; });
  return json::parse(text);
}

/// Nanoseconds; the format has microseconds with three decimals.
std::int64_t ns(const json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

/// Every rule that a viewer relies on.
void expect_sound(const json& trace) {
  std::map<std::int64_t, std::vector<std::int64_t>> open_ends;  // by thread
  std::map<std::int64_t, std::int64_t> last_begin;
  std::map<std::int64_t, std::int64_t> process_of_thread;
  std::set<std::int64_t> named_threads;
  for (const json& event : trace.at("traceEvents")) {
    const std::string phase = event.at("ph");
    ASSERT_TRUE(phase == "X" || phase == "M" || phase == "C" || phase == "i") << phase;
    EXPECT_TRUE(event.at("name").is_string());
    EXPECT_TRUE(event.at("pid").is_number_integer());
    EXPECT_GE(event.at("ts").get<double>(), 0);
    const std::int64_t thread = event.at("tid");
    if (phase == "M" && event["name"] == "thread_name") {
      EXPECT_TRUE(named_threads.insert(thread).second);
    }
    if (phase == "C") {
      EXPECT_TRUE(event.at("args").begin()->is_number());
    }
    if (phase != "X") continue;
    EXPECT_TRUE(named_threads.contains(thread));
    EXPECT_EQ(process_of_thread.try_emplace(thread, event["pid"]).first->second, event["pid"])
        << "one thread, two processes";
    const std::int64_t begin = ns(event["ts"]);
    const std::int64_t end = begin + ns(event.at("dur"));
    EXPECT_GE(end, begin);
    EXPECT_TRUE(!last_begin.contains(thread) || last_begin[thread] <= begin) << "times run backwards";
    last_begin[thread] = begin;
    auto& ends = open_ends[thread];
    while (!ends.empty() && ends.back() <= begin) ends.pop_back();
    EXPECT_TRUE(ends.empty() || end <= ends.back()) << "slices overlap without nesting";
    ends.push_back(end);
  }
}

class Perfetto : public test::SampleStore {};

TEST_F(Perfetto, IsStructurallySound) {
  for (const store::RunId& id : ids()) expect_sound(trace_of(store(), id));
}

TEST_F(Perfetto, RanksAreSortedProcessesWithNamedLanes) {
  const json trace = trace_of(store(), ids()[3]);
  std::map<std::int64_t, std::string> processes;
  std::map<std::int64_t, int> order;
  std::set<std::string> lanes;
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["name"] == "process_sort_index") order[event["pid"]] = event["args"]["sort_index"];
    if (event["name"] == "thread_name") lanes.insert(event["args"]["name"].get<std::string>());
  }
  EXPECT_EQ(processes.size(), 4u);
  EXPECT_EQ(processes[3], "rank 2 (node 1, node1)");
  EXPECT_FALSE(processes.contains(0)) << "process 0 is special to viewers";
  for (const auto& [process, position] : order) EXPECT_EQ(position, process - 1);
  EXPECT_EQ(lanes, (std::set<std::string>{"communication", "main", "steps"}));
}

TEST_F(Perfetto, HoldsEverySpanOnTheReferenceClock) {
  const json trace = trace_of(store(), ids()[3]);
  std::map<std::int64_t, std::size_t> slices;
  for (const json& event : trace["traceEvents"]) slices[event["pid"]] += event["ph"] == "X";
  const std::int64_t origin_ns = trace["otherData"]["origin_ns"];
  for (const store::RankRecord& rank : store().ranks(ids()[3])) {
    const std::vector<Span> spans = store().spans(ids()[3], rank.rank);
    EXPECT_EQ(slices[rank.rank + 1], spans.size());
    const Span& wanted = spans[40];
    const auto found =
        std::count_if(trace["traceEvents"].begin(), trace["traceEvents"].end(), [&](const json& event) {
          return event["ph"] == "X" && event["pid"] == rank.rank + 1 &&
                 ns(event["ts"]) == rank.clock.to_reference(wanted.begin_ns) - origin_ns &&
                 ns(event["dur"]) == wanted.duration_ns();
        });
    EXPECT_GE(found, 1);
  }
}

TEST_F(Perfetto, OneFlowJoinsACollectiveFromFirstToLastRank) {
  const json trace = trace_of(store(), ids()[3]);
  struct Flow {
    int begins = 0;
    int ends = 0;
    int steps = 0;
    std::int64_t first = INT64_MAX;
    std::int64_t last = INT64_MIN;
    std::int64_t begin_at = 0;
    std::int64_t end_at = 0;
  };
  std::map<std::string, Flow> flows;
  for (const json& event : trace["traceEvents"]) {
    if (!event.contains("bind_id")) continue;
    Flow& flow = flows[event["bind_id"]];
    const bool in = event.value("flow_in", false);
    const bool out = event.value("flow_out", false);
    const std::int64_t at = ns(event["ts"]);
    flow.first = std::min(flow.first, at);
    flow.last = std::max(flow.last, at);
    if (out && !in) ++flow.begins, flow.begin_at = at;
    if (in && !out) ++flow.ends, flow.end_at = at;
    if (in && out) ++flow.steps;
    EXPECT_EQ(event["args"]["ranks"], 4);
  }
  EXPECT_EQ(flows.size(), 25u * 3);
  for (const auto& [id, flow] : flows) {
    EXPECT_EQ(flow.begins, 1);
    EXPECT_EQ(flow.ends, 1);
    EXPECT_EQ(flow.steps, 2);
    EXPECT_EQ(flow.begin_at, flow.first);
    EXPECT_EQ(flow.end_at, flow.last);
  }
}

TEST_F(Perfetto, HasLossCountersAndAMarkWhereTheRunFailed) {
  const json trace = trace_of(store(), ids()[3]);
  std::size_t counters = 0;
  std::size_t marks = 0;
  for (const json& event : trace["traceEvents"]) {
    counters += event["ph"] == "C" && event["name"] == "loss";
    marks += event["ph"] == "i" && event["name"].get<std::string>().rfind("run failed: rank 3", 0) == 0;
  }
  EXPECT_EQ(counters, 25u * 4);
  EXPECT_EQ(marks, 1u);
  EXPECT_EQ(trace["otherData"]["state"], "failed");
}

std::set<std::int64_t> processes_of(const json& trace) {
  std::set<std::int64_t> processes;
  for (const json& event : trace["traceEvents"]) {
    if (event["pid"] != 0) processes.insert(event["pid"].get<std::int64_t>());  // 0: the run
  }
  return processes;
}

/// By rank, step and begin: a collective's wait.
std::map<std::string, json> waits_of(const json& trace) {
  std::map<std::string, json> waits;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || !event["args"].contains("peer_wait_us")) continue;
    waits[event["pid"].dump() + "/" + event["args"]["collective"].dump()] = event["args"];
  }
  return waits;
}

TEST_F(Perfetto, ChosenRanksKeepTheirWaitsForAllRanks) {
  const json all = trace_of(store(), ids()[3]);
  const json some = trace_of(store(), ids()[3], {.ranks = NumberRanges({{1, 2}}), .steps = {}});
  expect_sound(some);
  EXPECT_EQ(processes_of(some), (std::set<std::int64_t>{2, 3}));
  EXPECT_EQ(some["otherData"]["origin_ns"], all["otherData"]["origin_ns"]) << "traces of several ranks fit together";
  const auto wanted = waits_of(all);
  const auto waits = waits_of(some);
  EXPECT_EQ(waits.size(), wanted.size() / 2);
  for (const auto& [key, arguments] : waits) EXPECT_EQ(arguments, wanted.at(key)) << key;
  std::map<std::string, int> begins, ends;
  for (const json& event : some["traceEvents"]) {
    if (!event.contains("bind_id")) continue;
    begins[event["bind_id"]] += event.value("flow_out", false);
    ends[event["bind_id"]] += event.value("flow_in", false);
  }
  EXPECT_EQ(begins.size(), 25u * 3);
  for (const auto& [id, count] : begins) EXPECT_TRUE(count == 1 && ends[id] == 1) << "a flow leads to a rank that is not shown";
}

TEST_F(Perfetto, OneRankHasWaitsButNoFlows) {
  const json one = trace_of(store(), ids()[3], {.ranks = NumberRanges({{3, 3}}), .steps = {}});
  EXPECT_EQ(processes_of(one), (std::set<std::int64_t>{4}));
  EXPECT_EQ(waits_of(one).size(), 25u * 3);
  for (const json& event : one["traceEvents"]) EXPECT_FALSE(event.contains("bind_id"));
}

TEST_F(Perfetto, ChosenStepsAreWhole) {
  const json trace = trace_of(store(), ids()[3], {.ranks = {}, .steps = NumberRanges({{4, 5}, {20, 20}})});
  expect_sound(trace);
  std::set<int> steps;
  std::size_t slices = 0, losses = 0, wanted = 0;
  for (const json& event : trace["traceEvents"]) {
    losses += event["ph"] == "C";
    if (event["ph"] != "X") continue;
    ++slices;
    steps.insert(event["args"]["step"].get<int>());
  }
  for (const int rank : {0, 1, 2, 3}) {
    for (const Span& span : store().spans(ids()[3], rank)) wanted += span.step == 4 || span.step == 5 || span.step == 20;
  }
  EXPECT_EQ(steps, (std::set<int>{4, 5, 20}));
  EXPECT_EQ(slices, wanted);
  EXPECT_EQ(losses, 3u * 4);
}

TEST_F(Perfetto, HoldsOnlyABoundedPieceOfARank) {
  store::RunRecord run;
  run.id = "20261121T000000-000000aa";
  store().create_run(run);
  store::RankRecord record;
  store().put_ranks(run.id, std::vector{record});
  const std::size_t count = trace::SliceQueue::kMostWaiting + 5000;
  std::vector<Span> spans(count);
  for (std::size_t i = 0; i < count; ++i) {
    spans[i].begin_ns = static_cast<std::int64_t>(i) * 100;
    spans[i].end_ns = spans[i].begin_ns + 50;
    spans[i].kind = SpanKind::kHost;
    spans[i].step = kNoStep;
  }
  store().append_spans(run.id, 0, spans, {});
  std::size_t bytes = 0;
  const TraceCounts counts = write_perfetto(store(), run.id, {}, [&](std::string_view piece) { bytes += piece.size(); });
  EXPECT_EQ(counts.slices, count);
  EXPECT_EQ(counts.most_waiting, trace::SliceQueue::kMostWaiting);
  EXPECT_LT(counts.largest_piece, 70'000u);
  EXPECT_GT(bytes, count * 80);
  EXPECT_EQ(counts.collectives, 0u);
  store::prune_store(store().file(), std::vector{run.id}, store::PruneWhat::kRuns);
}

trace::Slice slice_of(std::int64_t begin_ns, std::int64_t end_ns) {
  Span span;
  span.begin_ns = begin_ns;
  span.end_ns = end_ns;
  span.kind = SpanKind::kHost;
  return {span, begin_ns, end_ns};
}

TEST(PerfettoSlices, ComeInOrderOfBeginTheLongestFirst) {
  std::vector<std::pair<std::int64_t, std::int64_t>> order;
  trace::SliceQueue queue([&](const trace::Slice& slice) { order.emplace_back(slice.begin_ns, slice.end_ns); });
  for (const auto& [begin, end] : {std::pair(5, 6), std::pair(0, 2), std::pair(0, 9), std::pair(3, 4)}) queue.add(slice_of(begin, end));
  EXPECT_TRUE(order.empty());
  queue.flush();
  EXPECT_EQ(order, (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 9}, {0, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(queue.most_waited(), 4u);
}

TEST(PerfettoSlices, OneThatComesTooLateGetsATrackOfItsOwn) {
  trace::Tracks tracks;
  EXPECT_TRUE(tracks.place(slice_of(100, 200)).is_new);
  EXPECT_FALSE(tracks.place(slice_of(120, 150)).is_new);
  const auto late = tracks.place(slice_of(90, 300));
  EXPECT_TRUE(late.is_new);
  EXPECT_EQ(late.track.name(), "main 2");
  EXPECT_FALSE(tracks.place(slice_of(210, 220)).is_new);
  EXPECT_EQ(tracks.place(slice_of(215, 230)).track.name(), "main 2");
}

TEST(PerfettoSlices, EachDeviceAndStreamHasATrackOfItsOwn) {
  trace::Tracks tracks;
  const auto kernel = [](std::uint32_t device, std::int64_t begin_ns, std::int64_t end_ns) {
    trace::Slice slice = slice_of(begin_ns, end_ns);
    slice.span.lane = Lane::kDeviceCompute;
    slice.span.reserved = device_queue(device, 7);
    return slice;
  };
  const int first = tracks.place(kernel(0, 0, 100)).track.number();
  const auto other = tracks.place(kernel(1, 0, 100));
  EXPECT_TRUE(other.is_new);
  EXPECT_EQ(other.track.name(), "device compute GPU 1 stream 7");
  EXPECT_NE(other.track.number(), first);
  EXPECT_FALSE(tracks.place(kernel(0, 150, 160)).is_new);
  EXPECT_FALSE(tracks.place(kernel(1, 120, 130)).is_new) << "one GPU knows nothing of the other";
}

TEST_F(Perfetto, SurvivesAnySpans) {
  std::mt19937_64 random(5);
  store::RunRecord run;
  run.id = "20261121T000000-0000000f";
  store().create_run(run);
  std::vector<Span> spans;
  std::uint64_t damaged = 0;
  for (int i = 0; i < 400; ++i) {
    Span& span = spans.emplace_back();
    span.begin_ns = static_cast<std::int64_t>(random() % 1000);
    span.end_ns = span.begin_ns + static_cast<std::int64_t>(random() % 200) - 10;
    span.lane = static_cast<Lane>(random() % 5);
    span.kind = static_cast<SpanKind>(random() % kSpanKindCount);
    span.name_id = static_cast<std::uint32_t>(random() % 5);
    span.step = random() % 4 ? static_cast<std::uint32_t>(random() % 9) : kNoStep;
    span.correlation = random() % 3 ? 0 : random();
    if (i % 50 == 0) span.begin_ns = -(std::int64_t{1} << 50);  // far, and exact in the test's own arithmetic
    if (i % 60 == 1) span.end_ns = std::int64_t{1} << 50;
    damaged += span.end_ns < span.begin_ns;
  }
  const std::vector<std::string> names = {"a", "", "\"quoted\\\n\x01", "\xff"};
  for (const int rank : {0, 1}) {
    store::RankRecord record;
    record.rank = rank;
    record.host = "<h>\"";
    store().put_ranks(run.id, std::vector{record});
    store().append_spans(run.id, rank, spans, names);
  }
  const json trace = trace_of(store(), run.id);
  expect_sound(trace);
  EXPECT_EQ(trace["otherData"]["damaged_spans"], 2 * damaged);
  store::prune_store(store().file(), std::vector{run.id}, store::PruneWhat::kRuns);
}

TEST_F(Perfetto, StopsWhenTheSinkThrowsAndRefusesAnUnknownRun) {
  EXPECT_THROW(write_perfetto(store(), ids()[0], {},
                              [](std::string_view) { throw Error(ErrorCode::kRunFailed, "disk full"); }),
               Error);
  EXPECT_THROW(write_perfetto(store(), "nosuch", {}, [](std::string_view) {}), Error);
}

}  // namespace
}  // namespace ddbench::reports
