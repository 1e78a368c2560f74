#include "harness/launch/transfer/sampled_spool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "analyzer/attribution/partition.h"
#include "analyzer/attribution/summarize_step.h"
#include "ddp_trace.h"
#include "probes/recorder/recorder.h"
#include "temporary_directory.h"

namespace ddbench::launch {
namespace {

/// Everything that a spool has, by the names of its spans.
struct Content {
  std::vector<Span> spans;
  std::vector<std::string> names;
  std::vector<host::Scalar> scalars;
  std::uint64_t dropped = 0;
  bool ended = false;
};

Content read_all(const std::filesystem::path& file) {
  host::SpoolBatch batch = host::SpoolReader(file).read();
  return {std::move(batch.spans), std::move(batch.new_names), std::move(batch.scalars), batch.dropped,
          batch.ended};
}

std::map<std::uint32_t, std::vector<Span>> by_step(const Content& content) {
  std::map<std::uint32_t, std::vector<Span>> steps;
  for (const Span& span : content.spans) steps[span.step].push_back(span);
  return steps;
}

analyzer::PartitionedStep partition(const std::vector<Span>& spans) {
  const auto step =
      std::find_if(spans.begin(), spans.end(), [](const Span& s) { return s.kind == SpanKind::kStep; });
  return analyzer::partition_step(spans, step->begin_ns, step->end_ns, {});
}

bool is_whole(const Content& content, const std::vector<Span>& spans) {
  return std::none_of(spans.begin(), spans.end(), [&](const Span& span) {
    return content.names.at(span.name_id) == analyzer::kReducedName;
  });
}

struct SampledSpoolTest : ::testing::Test {
  SampledSpoolTest() : writer(whole, 3, "run") {
    test::TraceOptions options;
    options.steps = 200;
    trace = test::ddp_trace(options);
    writer.write_names(trace.names);
  }

  /// Writes the trace in pieces, as the rank records it, with the copy following.
  void record(SampledSpool& reduced, bool in_order) {
    std::span<const Span> left = trace.spans;
    while (!left.empty()) {
      const std::size_t count = std::min<std::size_t>(left.size(), 997);
      writer.write_spans(left.first(count));
      left = left.subspan(count);
      reduced.follow(false);
    }
    const std::vector<host::Scalar> losses = {{0, 7, 2.5}};
    writer.write_scalars(losses);
    writer.write_dropped(4);
    if (in_order) writer.write_end();
    reduced.follow(!in_order);
  }

  test::TemporaryDirectory directory;
  std::filesystem::path whole = directory.path() / "rank3.whole";
  std::filesystem::path sent = directory.path() / "rank3.spool";
  host::SpoolWriter writer;
  test::Trace trace;
};

TEST(StepSampler, AreOneInSixteenAndTheSlow) {
  StepSampler sampler(5);
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t step = 0; step < 100; ++step) {
    // Step 3 is slow before it is known what slow is; 70 is no slower than 60.
    const bool slow = step == 3 || step == 60 || step == 70;
    if (sampler.wants(step, slow ? 200 : 100)) wanted.push_back(step);
  }
  EXPECT_EQ(wanted, (std::vector<std::uint32_t>{5, 21, 37, 53, 60, 69, 85}));
}

TEST_F(SampledSpoolTest, KeepsThePartitionOfEveryStepWithFewerSpans) {
  SampledSpool reduced(whole, sent, "run", 3, StepSampler(0));
  record(reduced, true);
  const Content before = read_all(whole);
  const Content after = read_all(sent);
  const auto steps_before = by_step(before);
  const auto steps_after = by_step(after);
  ASSERT_EQ(steps_after.size(), 200U);
  std::size_t whole_steps = 0;
  for (const auto& [step, spans] : steps_before) {
    const auto& sent_spans = steps_after.at(step);
    EXPECT_EQ(partition(sent_spans).partition.ns, partition(spans).partition.ns) << step;
    EXPECT_EQ(partition(sent_spans).overlap_ns, partition(spans).overlap_ns) << step;
    if (!is_whole(after, sent_spans)) continue;
    ++whole_steps;
    EXPECT_EQ(sent_spans.size(), spans.size()) << step;
  }
  EXPECT_GE(whole_steps, 13U);
  EXPECT_LE(whole_steps, 30U);
  EXPECT_LT(after.spans.size(), before.spans.size() * 7 / 10);
}

TEST_F(SampledSpoolTest, KeepsCollectivesScalarsNamesAndCounts) {
  SampledSpool reduced(whole, sent, "run", 3, StepSampler(0));
  record(reduced, true);
  const Content before = read_all(whole);
  const Content after = read_all(sent);
  const auto collectives = [](const Content& content) {
    std::vector<std::tuple<std::int64_t, std::int64_t, std::uint64_t, std::string>> found;
    for (const Span& span : content.spans) {
      if (span.kind != SpanKind::kCommunication) continue;
      found.emplace_back(span.begin_ns, span.end_ns, span.correlation, content.names.at(span.name_id));
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  EXPECT_EQ(collectives(after), collectives(before));
  ASSERT_EQ(after.scalars.size(), 1U);
  EXPECT_EQ(after.names.at(after.scalars[0].name_id), before.names[0]);
  EXPECT_EQ(after.scalars[0].value, 2.5);
  EXPECT_EQ(after.dropped, 4U);
  EXPECT_TRUE(after.ended);
}

TEST_F(SampledSpoolTest, ARankThatEndsWithoutAWordLosesNothing) {
  SampledSpool reduced(whole, sent, "run", 3, StepSampler(0));
  record(reduced, false);
  const Content after = read_all(sent);
  EXPECT_EQ(by_step(after).size(), 200U);
  EXPECT_FALSE(after.ended);
}

TEST_F(SampledSpoolTest, StepsWaitForSpansThatComeLate) {
  SampledSpool reduced(whole, sent, "run", 3, StepSampler(1));
  const auto span = [](SpanKind kind, std::uint32_t step, std::int64_t begin_ms, std::int64_t end_ms) {
    return Span{.begin_ns = begin_ms * 1'000'000, .end_ns = end_ms * 1'000'000, .step = step, .kind = kind};
  };
  const auto write = [&](const Span& each) {
    writer.write_spans(std::span(&each, 1));
    reduced.follow(false);
  };
  write(span(SpanKind::kStep, 0, 0, 100));
  write(span(SpanKind::kStep, 1, 100, 2'000));
  EXPECT_TRUE(read_all(sent).spans.empty());
  write(span(SpanKind::kForward, 0, 10, 20));  // late, and in time
  write(span(SpanKind::kStep, 2, 2'000, 2'101));
  Content now = read_all(sent);
  ASSERT_EQ(now.spans.size(), 2U);
  EXPECT_EQ(now.spans[1].kind, SpanKind::kForward);
  EXPECT_EQ(now.names.at(now.spans[1].name_id), analyzer::kReducedName);
  write(span(SpanKind::kForward, 0, 20, 30));  // too late to be part of anything: as it is
  EXPECT_EQ(read_all(sent).spans.size(), 3U);
  write(Span{.begin_ns = 0, .end_ns = 1, .kind = SpanKind::kCommunication});  // of no step
  EXPECT_EQ(read_all(sent).spans.size(), 4U);
}

}  // namespace
}  // namespace ddbench::launch
