#include "analyzer/import/nccl_inspector/nccl_inspector.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "expect_error.h"
#include "temporary_directory.h"

namespace ddbench::imports {
namespace {

struct InspectorLine {
  const char* function = "AllReduce";
  int rank = 0;
  int sequence = 0;
  double time_us = 0;
  std::uint64_t bytes = 4096;
  const char* timing = "kernel_gpu";

  std::string text() const {
    const std::string_view name = function;
    const std::string kind = name == "Send" || name == "Recv" ? "p2p" : "coll";
    return fmt::format(R"({{"header": {{"id": "0x1", "rank": {0}, "n_ranks": 4, "nnodes": 1}}, "{1}_perf": {{"{1}": "{2}", "{1}_sn": {3}, )"
                       R"("{1}_msg_size_bytes": {4}, "{1}_exec_time_us": {5}, "{1}_timing_source": "{6}", "coll_algo": "RING", "coll_proto": "LL"}}}})", rank, kind, function, sequence, bytes, time_us,
                       timing) + "\n";
  }
};

ImportedRun read_inspector(const std::vector<InspectorLine>& lines) {
  const test::TemporaryDirectory folder;
  std::ofstream file(folder / "n.log");
  for (const InspectorLine& line : lines) file << line.text();
  file.close();
  return read_nccl_inspector({folder / "n.log"}, "").run;
}

std::string inspector_notes(const ImportedRun& run) {
  std::string notes;
  for (const auto& [key, text] : run.run.environment.facts) {
    if (key.starts_with("note.")) notes += text + "\n";
  }
  return notes;
}

TEST(NcclInspector, CountsBytesAsNcclTestsDo) {
  for (const auto& [function, bytes] : {std::pair("AllReduce", 4096u), std::pair("AllGather", 16384u), std::pair("ReduceScatter", 16384u),
                                        std::pair("AlltoAll", 16384u), std::pair("Broadcast", 4096u), std::pair("Send", 4096u)})
    EXPECT_EQ(read_inspector({{.function = function, .time_us = 10}}).collectives.at(0).bytes, bytes) << function;
  EXPECT_ERROR(ErrorCode::kBadInput, "n.log line 1: coll_msg_size_bytes is 1152921504606846976, which 4 ranks cannot have each",
               read_inspector({{.function = "AllGather", .time_us = 10, .bytes = std::uint64_t{1} << 60}}));
}

TEST(NcclInspector, CollectivesOfAllRanksHaveAWaitForPeers) {
  std::vector<InspectorLine> lines;
  for (int rank = 0; rank < 4; ++rank) lines.push_back({.rank = rank, .sequence = 3, .time_us = rank == 3 ? 10.0 : 50.0});
  const store::CollectiveRecord reduce = read_inspector(lines).collectives.at(0);
  EXPECT_EQ(reduce.count, 1u);
  EXPECT_EQ(reduce.transfer_ns, 10'000);
  EXPECT_EQ(reduce.peer_wait_ns, 40'000);
  EXPECT_TRUE(reduce.peer_wait_resolved);
}

TEST(NcclInspector, LinesOfEveryClockHaveTheirAlgorithm) {
  for (const char* const timing : {"kernel_gpu", "kernel_cpu"})
    EXPECT_EQ(read_inspector({{.time_us = 10, .timing = timing}}).collectives.at(0).nccl_algorithm, "RING LL") << timing;
}

TEST(NcclInspector, ASendOfEachRankIsACallByItself) {
  std::vector<InspectorLine> lines;
  for (int rank = 0; rank < 4; ++rank) lines.push_back({.function = "Send", .rank = rank, .sequence = 7, .time_us = rank == 3 ? 10.0 : 50.0});
  const ImportedRun run = read_inspector(lines);
  const store::CollectiveRecord& send = run.collectives.at(0);
  EXPECT_EQ(send.count, 4u);
  EXPECT_EQ(send.transfer_ns, 50'000);
  EXPECT_EQ(send.duration_ns, 50'000);
  EXPECT_EQ(send.peer_wait_ns, 0);
  EXPECT_FALSE(send.peer_wait_resolved);
  EXPECT_TRUE(test::contains(inspector_notes(run), "contains the wait for its peer"));
}

TEST(NcclInspector, TimesThatAreNotTheGpusAreReported) {
  const std::vector<InspectorLine> lines = {{.sequence = 1, .time_us = 10}, {.sequence = 2, .time_us = 10, .timing = "collective_cpu"},
                                            {.sequence = 3, .time_us = 10, .timing = "kernel_cpu"}};
  EXPECT_TRUE(test::contains(inspector_notes(read_inspector(lines)),
                             "1 of 3 lines are timed by collective_cpu, 1 of 3 lines are timed by kernel_cpu and not by the GPU (kernel_gpu)"));
  EXPECT_FALSE(test::contains(inspector_notes(read_inspector({lines[0]})), "timed by"));
}

}  // namespace
}  // namespace ddbench::imports
