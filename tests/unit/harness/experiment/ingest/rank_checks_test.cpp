#include "harness/experiment/ingest/rank_checks.h"

#include <gtest/gtest.h>

#include <string>

#include "core/program/loader_epoch.h"
#include "core/program/rank_gpu.h"

namespace ddbench::experiment {
namespace {

std::vector<analyzer::ProgramRank> ranks_with(const std::vector<std::vector<std::string>>& names) {
  std::vector<analyzer::ProgramRank> ranks(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) ranks[i].names = names[i];
  return ranks;
}

std::string epoch(int number, const char* hash) {
  return loader_epoch_name({number, 100, LoaderEpoch::Order::kDistributed, 64, hash, {hash}, 0, true});
}

TEST(RankChecks, NameTheRanksAndTheRemedy) {
  const std::string gpu = rank_gpu_name({std::string(32, 'a'), "0000:17:00.0"});
  const char* const hash = "0123456789abcdef";
  ProgramRecording recording;
  describe_rank_inputs(ranks_with({{epoch(0, hash), epoch(1, hash), gpu}, {epoch(0, hash), gpu}}), recording);
  EXPECT_EQ(recording.facts["program.data_of_ranks"], "the same on ranks 0-1");
  EXPECT_EQ(recording.facts["program.order_repeats"], "rank 0");
  EXPECT_EQ(recording.facts["program.shared_gpus"], "ranks 0-1 the GPU 0000:17:00.0");
  ASSERT_EQ(recording.notes.size(), 3U);
  EXPECT_TRUE(recording.notes[0].starts_with("ranks 0-1 load the same samples")) << recording.notes[0];
  EXPECT_NE(recording.notes[1].find("set_epoch"), std::string::npos);
  EXPECT_TRUE(recording.notes[2].starts_with("ranks seem to share a GPU")) << recording.notes[2];
  EXPECT_NE(recording.notes[2].find("LOCAL_RANK"), std::string::npos);
}

TEST(RankChecks, AreSilentWhereNothingIsWrongOrKnown) {
  ProgramRecording recording;
  describe_rank_inputs(ranks_with({{"all_reduce"}, {"loader: garbage"}}), recording);
  describe_rank_inputs(ranks_with({{epoch(0, "0123456789abcdef")}}), recording);
  describe_rank_inputs({}, recording);
  EXPECT_TRUE(recording.facts.empty());
  describe_rank_inputs(ranks_with({{epoch(0, "0123456789abcdef")}, {epoch(0, "fedcba9876543210")}}), recording);
  EXPECT_EQ(recording.facts["program.data_of_ranks"], "different");
  EXPECT_TRUE(recording.notes.empty());
}

}  // namespace
}  // namespace ddbench::experiment
