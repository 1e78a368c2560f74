// The summary of a collective that is faster than clocks and probes resolve, or faster than memory.
#include "analyzer/collectives/collective_summary.h"

#include <gtest/gtest.h>

#include "core/run_case/program_case.h"

namespace ddbench::analyzer {
namespace {

store::RunRecord run_of_a_program() {
  store::RunRecord run;
  run.run_case.gpus_per_node = 2;
  run.run_case.work = UserProgram{};
  return run;
}

store::CollectiveRecord record_of(std::uint64_t bytes, std::int64_t transfer_ns) {
  store::CollectiveRecord record;
  record.function = "all_reduce";
  record.bytes = bytes;
  record.transfer_ns = record.duration_ns = transfer_ns;
  record.communicator.ranks = 2;
  return record;
}

TEST(CollectiveSummary, StatesWhatIsResolved) {
  store::CollectiveRecord record = record_of(4'000'000, 2'000'000);
  record.peer_wait_ns = 5'000;
  record.transfer_uncertainty_ns = 20'000;
  const CollectiveSummary summary = summarize_collective(record, run_of_a_program());
  EXPECT_EQ(*summary.transfer_ns, 2'000'000);
  EXPECT_EQ(*summary.peer_wait_ns, 5'000);
  EXPECT_DOUBLE_EQ(*summary.algbw_gb_per_s, 2);
  EXPECT_DOUBLE_EQ(*summary.busbw_gb_per_s, 2);
  EXPECT_DOUBLE_EQ(summary.clock_uncertainty_share, 0.01);
}

TEST(CollectiveSummary, HasNoBandwidthBelowTheResolutionOfTheProbes) {
  store::CollectiveRecord record = record_of(4'000'000, 550);
  record.peer_wait_ns = 2;
  const CollectiveSummary summary = summarize_collective(record, run_of_a_program());
  EXPECT_EQ(summary.transfer_ns.reason(), "below clock resolution (< 1.00 µs)");
  EXPECT_EQ(summary.peer_wait_ns.reason(), "below clock resolution (< 1.00 µs)");
  EXPECT_EQ(summary.algbw_gb_per_s.reason(), summary.transfer_ns.reason());
  EXPECT_EQ(summary.busbw_gb_per_s.reason(), summary.transfer_ns.reason());
}

TEST(CollectiveSummary, OfACollectiveTestHasNoArrivals) {
  store::RunRecord run = run_of_a_program();
  for (const Work& work : {Work{Microbenchmark{}}, Work{NcclTests{}}}) {
    run.run_case.work = work;
    const CollectiveSummary summary = summarize_collective(record_of(4'000'000, 2'000'000), run);
    EXPECT_EQ(summary.peer_wait_ns.reason(), "batches of iterations are timed, not arrivals");
    EXPECT_TRUE(summary.busbw_gb_per_s);
  }
}

TEST(CollectiveSummary, HasNoBandwidthBelowTheUncertaintyOfTheClocks) {
  store::CollectiveRecord record = record_of(400, 9'000);
  record.transfer_uncertainty_ns = 12'000;
  const CollectiveSummary summary = summarize_collective(record, run_of_a_program());
  EXPECT_EQ(summary.algbw_gb_per_s.reason(), "below clock resolution (< 21.0 µs)");
}

TEST(CollectiveSummary, ExplainsWhatIsMoreThanMemoryDelivers) {
  const store::CollectiveRecord record = record_of(40'000'000, 5'500);
  store::RunRecord run = run_of_a_program();
  EXPECT_EQ(summarize_collective(record, run).busbw_gb_per_s.reason(),
            "40.0 MB in 5.50 µs is more than memory delivers: the call was enqueued in that time, its transfer was not recorded");
  run.run_case.device = "cuda";
  EXPECT_FALSE(summarize_collective(record, run).algbw_gb_per_s) << "7,273 GB/s";
  EXPECT_TRUE(summarize_collective(record_of(16'000'000, 5'500), run).algbw_gb_per_s) << "2,909 GB/s";
}

TEST(CollectiveSummary, OneRankUsesNoBus) {
  store::CollectiveRecord record = record_of(4'000'000, 5'500);
  record.communicator.ranks = 1;
  EXPECT_EQ(summarize_collective(record, run_of_a_program()).algbw_gb_per_s.reason(), "one rank uses no bus");
}

TEST(CollectiveSummary, TakesTheMeanOfABatchAsItIs) {
  store::RunRecord run = run_of_a_program();
  run.run_case.work = Microbenchmark{};
  EXPECT_DOUBLE_EQ(*summarize_collective(record_of(100, 500), run).algbw_gb_per_s, 0.2);
}

TEST(CollectiveSummary, ADurationMayBeShorterThanTheTransfer) {
  store::CollectiveRecord record = record_of(4'000'000, 2'000'000);
  EXPECT_FALSE(leaves_before_its_end(summarize_collective(record, run_of_a_program())));
  record.duration_ns = 10'000;
  EXPECT_TRUE(leaves_before_its_end(summarize_collective(record, run_of_a_program())));
}

}  // namespace
}  // namespace ddbench::analyzer
