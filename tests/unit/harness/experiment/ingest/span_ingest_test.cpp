#include "harness/experiment/ingest/span_ingest.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "probes/recorder/recorder.h"
#include "probes/recorder/spool_writer.h"

namespace ddbench::experiment {
namespace {

class SpanIngestTest : public testing::Test {
 protected:
  SpanIngestTest() {
    std::filesystem::create_directories(folder_);
    store::RunRecord run;
    run.id = run_id_;
    run.run_case.gpus_per_node = 2;
    store_.create_run(run);
  }
  ~SpanIngestTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("span_ingest_test." + std::to_string(::getpid()));
  store::RunId run_id_ = store::new_run_id();
  store::RunStore store_ = store::RunStore::open(folder_ / "results.db", store::OpenMode::kReadWrite);
};

Span span_at(std::int64_t begin_ns, std::uint32_t name_id) {
  Span span;
  span.begin_ns = begin_ns;
  span.end_ns = begin_ns + 10;
  span.name_id = name_id;
  span.step = 0;
  return span;
}

TEST_F(SpanIngestTest, MovesEachSpanAndValueOnceWithItsName) {
  host::RecorderOptions options;
  options.spool = spool_file(folder_, 1);
  options.rank = 1;
  options.run_id = run_id_;
  host::Recorder recorder(options);
  auto& track = recorder.track(Lane::kMain);
  SpanIngest ingest(store_, run_id_, folder_, 2);

  const std::uint32_t first = recorder.intern("first");
  track.record(span_at(100, first));
  recorder.record_scalar("loss", 0, 2.5);
  ingest.poll();  // in the middle of the run: takes what is there, or nothing
  const std::uint32_t second = recorder.intern("second");
  track.record(span_at(200, second));
  recorder.stop();
  ingest.drain();
  EXPECT_FALSE(ingest.poll());

  const std::vector<Span> spans = store_.spans(run_id_, 1);
  ASSERT_EQ(spans.size(), 2u);
  const std::vector<std::string> names = store_.span_names(run_id_, 1);
  EXPECT_EQ(names.at(spans[0].name_id), "first");
  EXPECT_EQ(names.at(spans[1].name_id), "second");
  EXPECT_EQ(spans[1].begin_ns, 200);
  EXPECT_EQ(store_.step_values(run_id_, 1, "loss"),
            (std::vector<std::pair<std::uint32_t, double>>{{0, 2.5}}));
  EXPECT_TRUE(store_.spans(run_id_, 0).empty());
  EXPECT_EQ(ingest.stored_spans(), 2u);
}

TEST_F(SpanIngestTest, ARankThatRecordsFasterThanItIsReadDoesNotHoldBackTheOthers) {
  constexpr std::size_t kMany = 200'000;  // of rank 0, as if it had recorded them since the last time
  for (const int rank : {0, 1}) {
    host::SpoolWriter writer(spool_file(folder_, rank), rank, run_id_);
    writer.write_names(std::vector<std::string>{"operator"});
    const std::vector<Span> spans(1000, span_at(100, 0));
    for (std::size_t written = 0; written < (rank == 0 ? kMany : 1000); written += spans.size()) writer.write_spans(spans);
    writer.write_end();
    writer.close();
  }
  SpanIngest ingest(store_, run_id_, folder_, 2);
  EXPECT_TRUE(ingest.poll());
  EXPECT_LT(store_.spans(run_id_, 0).size(), kMany / 2);
  EXPECT_EQ(store_.spans(run_id_, 1).size(), 1000u);
  ingest.drain();
  EXPECT_EQ(store_.spans(run_id_, 0).size(), kMany);
}

}  // namespace
}  // namespace ddbench::experiment
