#include "reports/formats/perfetto/perfetto.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "analyzer/store/maintenance/maintenance.h"
#include "core/error.h"
#include "sample_store_test.h"

namespace ddbench::reports {
namespace {

using nlohmann::json;

json trace_of(const store::RunStore& store, const store::RunId& id) {
  std::string text;
  write_perfetto(store, id, [&](std::string_view piece) { text += piece; });
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
  EXPECT_THROW(write_perfetto(store(), ids()[0],
                              [](std::string_view) { throw Error(ErrorCode::kRunFailed, "disk full"); }),
               Error);
  EXPECT_THROW(write_perfetto(store(), "nosuch", [](std::string_view) {}), Error);
}

}  // namespace
}  // namespace ddbench::reports
