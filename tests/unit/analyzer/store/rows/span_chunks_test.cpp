#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/database.h"
#include "ddp_trace.h"
#include "expect_error.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

class SpanChunks : public testing::Test {
 protected:
  SpanChunks() {
    store_.create_run(test::plain_run("a"));
    store_.create_run(test::plain_run("b"));
  }
  std::int64_t query(const char* sql) const { return Database(file_, Access::kExisting).integer(sql); }

  test::TemporaryDirectory directory_;
  std::filesystem::path file_ = directory_ / "results.db";
  RunStore store_ = RunStore::open(file_, OpenMode::kReadWrite);
  test::Trace trace_ = test::ddp_trace({.steps = 2000});  // 50,000 spans
};

TEST_F(SpanChunks, SpansAndNamesComeBackInOrder) {
  store_.append_spans("a", 3, trace_.spans, trace_.names);
  store_.append_spans("b", 3, std::vector{Span{.begin_ns = 1}}, {});
  EXPECT_TRUE(store_.spans("a", 3) == trace_.spans);
  EXPECT_EQ(store_.span_names("a", 3), trace_.names);
  EXPECT_TRUE(store_.spans("a", 0).empty());
  EXPECT_TRUE(store_.span_names("a", 0).empty());
  EXPECT_EQ(store_.spans("b", 3).size(), 1u);
}

TEST_F(SpanChunks, ManyAppendsAreOneSequenceInFullChunks) {
  const std::size_t pieces[] = {0, 1, 100, 4095, 4096, 5, 20000, 1, 0, 17};
  std::size_t at = 0;
  for (const std::size_t piece : pieces) {
    const std::size_t count = std::min(piece, trace_.spans.size() - at);
    store_.append_spans("a", 0, std::span(trace_.spans).subspan(at, count), trace_.names);
    at += count;
  }
  for (; at < trace_.spans.size(); at += std::min<std::size_t>(250, trace_.spans.size() - at)) {
    const std::size_t count = std::min<std::size_t>(250, trace_.spans.size() - at);
    store_.append_spans("a", 0, std::span(trace_.spans).subspan(at, count), {});
  }
  EXPECT_TRUE(store_.spans("a", 0) == trace_.spans);
  EXPECT_EQ(store_.span_names("a", 0), trace_.names);
  EXPECT_LE(query("SELECT count(*) FROM span_chunk"), 15);
  EXPECT_LE(query("SELECT max(span_count) FROM span_chunk"), 16384);
  EXPECT_EQ(query("SELECT sum(span_count) FROM span_chunk"), static_cast<std::int64_t>(trace_.spans.size()));
}

// A store that somebody else made may hold a sound chunk of any values.
TEST_F(SpanChunks, ImpossibleValuesAreADamagedChunk) {
  for (const auto& [span, why] : std::vector<std::pair<Span, std::string>>{
           {{.kind = static_cast<SpanKind>(255)}, "span 1 cannot be: kind 255 is unknown"},
           {{.lane = static_cast<Lane>(7)}, "span 1 cannot be: lane 7 is unknown"},
           {{.begin_ns = std::numeric_limits<std::int64_t>::min()}, "span 1 cannot be: no clock shows"},
           {{.step = kNoStep - 1}, "span 1 cannot be: step 4294967294 is too large"}}) {
    const int rank = static_cast<int>(query("SELECT count(*) FROM span_chunk"));
    store_.append_spans("a", rank, std::vector{Span{}, span}, std::vector<std::string>{"name"});
    EXPECT_ERROR(ErrorCode::kRunFailed, why, store_.spans("a", rank));
    EXPECT_ERROR(ErrorCode::kRunFailed, why, store_.append_spans("a", rank, std::vector{Span{}}, {}));
  }
  EXPECT_EQ(check_store(file_).problems.size(), 4u);
}

TEST_F(SpanChunks, ColumnsDescribeTheChunk) {
  std::vector<Span> spans = {{.begin_ns = 50, .end_ns = 60, .step = 7},
                             {.begin_ns = 10, .end_ns = 90, .step = kNoStep},
                             {.begin_ns = 20, .end_ns = 30, .step = 5}};
  store_.append_spans("a", 0, spans, {});
  EXPECT_EQ(query("SELECT first_step FROM span_chunk"), 5);
  EXPECT_EQ(query("SELECT last_step FROM span_chunk"), 7);
  EXPECT_EQ(query("SELECT first_ns FROM span_chunk"), 10);
  EXPECT_EQ(query("SELECT last_ns FROM span_chunk"), 90);
  store_.append_spans("a", 1, std::vector{spans[1]}, {});
  EXPECT_EQ(query("SELECT first_step IS NULL AND last_step IS NULL FROM span_chunk WHERE rank = 1"), 1);
}

TEST_F(SpanChunks, StepRangeEqualsAFilterOfAll) {
  trace_.spans[100].step = kNoStep;
  trace_.spans[200].step = 1999;
  store_.append_spans("a", 0, trace_.spans, trace_.names);
  const std::pair<std::uint32_t, std::uint32_t> ranges[] = {
      {0, 0}, {5, 9}, {640, 660}, {1999, 1999}, {0, 1999}, {2000, 3000}, {7, 6}, {0, kNoStep}};
  for (const auto& range : ranges) {
    const std::uint32_t first = range.first, last = range.second;  // clang's lambdas capture no structured binding
    std::vector<Span> expected;
    std::copy_if(
        trace_.spans.begin(), trace_.spans.end(), std::back_inserter(expected),
        [&](const Span& span) { return span.step != kNoStep && span.step >= first && span.step <= last; });
    EXPECT_TRUE(store_.spans("a", 0, first, last) == expected) << first << " to " << last;
  }
}

TEST_F(SpanChunks, StepRangeReadsNoOtherChunk) {
  store_.append_spans("a", 0, trace_.spans, trace_.names);
  Database(file_, Access::kExisting).execute("UPDATE span_chunk SET chunk = x'00' WHERE position > 0");
  EXPECT_EQ(store_.spans("a", 0, 3, 4).size(), 50u);
  EXPECT_ERROR(ErrorCode::kRunFailed, "chunk 1 of the spans of rank 0 of run a", store_.spans("a", 0));
}

TEST_F(SpanChunks, NamesMayGrowButNotChange) {
  using Names = std::vector<std::string>;
  store_.append_spans("a", 0, {}, Names{"x", test::kHostileText});
  store_.append_spans("a", 0, {}, Names{"x"});
  store_.append_spans("a", 0, {}, Names{"x", test::kHostileText, ""});
  EXPECT_EQ(store_.span_names("a", 0), (Names{"x", test::kHostileText, ""}));
  EXPECT_ERROR(ErrorCode::kBadInput, "has stored name 0 as \"x\"",
               store_.append_spans("a", 0, std::vector{Span{}}, Names{"y"}));
  EXPECT_TRUE(store_.spans("a", 0).empty()) << "the failed call is undone as a whole";
}

}  // namespace
}  // namespace ddbench::store
