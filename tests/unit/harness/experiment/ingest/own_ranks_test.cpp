#include "harness/experiment/ingest/own_ranks.h"

#include <gtest/gtest.h>

#include "core/run_case/program_case.h"
#include "core/world_place.h"
#include "harness/experiment/ingest/program_spools.h"

namespace ddbench::experiment {
namespace {

RunCase program(int nodes = 1, int gpus = 1) {
  RunCase run_case;
  set_program(run_case, {"torchrun", "train.py"});
  run_case.nodes = nodes;
  run_case.gpus_per_node = gpus;
  return run_case;
}

/// A process of rank 0 as ddbench knows it, that made a collective as `rank` of `ranks`.
ProcessRecording process(int rank, int ranks) {
  ProcessRecording recording;
  recording.rank = 0;
  recording.spans.names = {"all_reduce", world_place_name({0, 2}), world_place_name({rank, ranks})};
  Span span;
  span.kind = SpanKind::kCommunication;
  recording.spans.spans.push_back(span);
  return recording;
}

TEST(OwnRanks, AreThoseOfTheLargestWorldThatProcessesReport) {
  std::vector<ProcessRecording> processes = {process(2, 4), process(0, 4), ProcessRecording{}, process(3, 4), process(1, 4)};
  const OwnRanks own = find_own_ranks(program(), processes);
  EXPECT_EQ(own.per_node, 4);
  EXPECT_EQ(own.invalid, "");
  EXPECT_EQ(processes[0].rank, 2);
  EXPECT_EQ(processes[2].rank, -1) << "it made no collective";
  EXPECT_EQ(processes[4].rank, 1);
}

TEST(OwnRanks, NodesShareThem) {
  std::vector<ProcessRecording> processes = {process(0, 4), process(1, 4), process(2, 4), process(3, 4)};
  EXPECT_EQ(find_own_ranks(program(2), processes).per_node, 2);
}

TEST(OwnRanks, AreNoneWhereDdbenchStartedThem) {
  std::vector<ProcessRecording> processes = {process(0, 2), process(1, 2)};
  processes[1].rank = 1;
  const OwnRanks own = find_own_ranks(program(1, 2), processes);
  EXPECT_EQ(own.per_node, 0);
  EXPECT_EQ(own.invalid, "");
  EXPECT_EQ(processes[1].rank, 1);
  RunCase per_node = program();
  std::get<UserProgram>(per_node.work).start = ProgramStart::kPerNode;
  EXPECT_EQ(find_own_ranks(per_node, processes).per_node, 0);
  processes.clear();
  EXPECT_EQ(find_own_ranks(program(), processes).invalid, "");
}

TEST(OwnRanks, MakeARunInvalidWhereNotAllWereSeen) {
  const auto why = [](RunCase run_case, std::vector<ProcessRecording> processes) {
    const OwnRanks own = find_own_ranks(run_case, processes);
    EXPECT_EQ(own.per_node, 0);
    EXPECT_NE(own.invalid.find("--per-node"), std::string::npos) << own.invalid;
    return own.invalid;
  };
  EXPECT_NE(why(program(), {process(0, 4), process(2, 4)}).find("2 were recorded"), std::string::npos);
  EXPECT_NE(why(program(), {process(0, 2), process(1, 2), process(1, 2)}), "") << "two of one rank";
  EXPECT_NE(why(program(1, 2), {process(0, 4), process(1, 4), process(2, 4), process(3, 4)}).find("--gpus 4"),
            std::string::npos)
      << "two ranks started four";
  EXPECT_NE(why(program(1, 2), {process(0, 2), process(1, 2)}), "") << "both belong to the first of two ranks";
}

TEST(OwnRanks, BecomeRanksOfTheRun) {
  RunCase run_case = program(2);
  std::vector<store::RankRecord> ranks(2);
  ranks[1].rank = ranks[1].node = 1;
  ranks[1].host = "b";
  take_own_ranks(2, run_case, ranks);
  EXPECT_TRUE(is_program_per_node(run_case));
  EXPECT_EQ(run_case.world_size(), 4);
  ASSERT_EQ(ranks.size(), 4u);
  EXPECT_EQ(ranks[3].rank, 3);
  EXPECT_EQ(ranks[3].local_rank, 1);
  EXPECT_EQ(ranks[3].host, "b");
}

}  // namespace
}  // namespace ddbench::experiment
