// What a scheduler did to a job decides how its run ended.
#include "harness/launch/supervisor/job_end.h"

#include <gtest/gtest.h>

namespace ddbench::launch {
namespace {

using Cause = JobEnd::Cause;

class JobEnds : public testing::Test {
 protected:
  JobEnds() : ranks_(four_ranks(), {}) {
    for (SupervisedRank& rank : ranks_) rank.record.host = rank.record.node == 0 ? "n1.cluster" : "n2.cluster";
  }
  static RunCase four_ranks() {
    RunCase run_case;
    run_case.nodes = 2;
    run_case.gpus_per_node = 2;
    return run_case;
  }
  LaunchOutcome settled(store::RunState state, const JobEnd& end) {
    LaunchOutcome outcome;
    outcome.state = state;
    outcome.reason = "why";
    settle_job_end(end, ranks_, outcome);
    return outcome;
  }
  SupervisedRanks ranks_;
};

TEST_F(JobEnds, ALostNodeNamesItsRanks) {
  const LaunchOutcome outcome = settled(store::RunState::kPreempted, {Cause::kNodeLost, "", {"n2"}});
  EXPECT_EQ(outcome.state, store::RunState::kFailed);
  EXPECT_EQ(outcome.reason, "the scheduler lost node n2 with " + ranks_[2].name() + ", " + ranks_[3].name() + ": why");
}

TEST_F(JobEnds, RanksThatWereLostStandForANodeWithAnotherName) {
  ranks_[1].record.outcome = "lost: its connection has ended";
  EXPECT_EQ(settled(store::RunState::kFailed, {Cause::kNodeLost, "", {"x7"}}).reason,
            "the scheduler lost node x7 with " + ranks_[1].name() + ": why");
}

TEST_F(JobEnds, OnlyAJobThatEndedByASignalWasCancelled) {
  EXPECT_EQ(settled(store::RunState::kPreempted, {Cause::kCancelled, "7", {}}).state, store::RunState::kInterrupted);
  EXPECT_EQ(settled(store::RunState::kFailed, {Cause::kCancelled, "7", {}}).state, store::RunState::kFailed);
  ranks_[0].record.outcome = "failed was lost: its connection has ended";
  EXPECT_EQ(settled(store::RunState::kFailed, {Cause::kCancelled, "7", {}}).state, store::RunState::kInterrupted);
}

TEST_F(JobEnds, ACancelledStepIsThatOnlyWhereRanksWereLost) {
  EXPECT_EQ(settled(store::RunState::kFailed, {Cause::kStepCancelled, "7", {}}).reason, "why") << "a rank's own failure";
  ranks_[0].record.outcome = "lost: its connection has ended";
  EXPECT_EQ(settled(store::RunState::kPreempted, {Cause::kStepCancelled, "7", {}}).state, store::RunState::kPreempted) << "a mere signal";
  const LaunchOutcome outcome = settled(store::RunState::kFailed, {Cause::kStepCancelled, "7", {}});
  EXPECT_EQ(outcome.state, store::RunState::kInterrupted);
  EXPECT_EQ(outcome.reason, "the step of its ranks in job 7 was cancelled (scancel): why");
}

TEST_F(JobEnds, ARunThatIsDoneStaysSo) {
  for (const Cause cause : {Cause::kNotKnown, Cause::kCancelled, Cause::kStepCancelled, Cause::kPreempted, Cause::kTimeLimit, Cause::kNodeLost}) {
    EXPECT_EQ(settled(store::RunState::kDone, {cause, "7", {"n2"}}).reason, "why");
    EXPECT_EQ(settled(store::RunState::kInterrupted, {cause, "7", {"n2"}}).reason, "why");
  }
  EXPECT_EQ(settled(store::RunState::kFailed, {Cause::kTimeLimit, "7", {}}).state, store::RunState::kPreempted);
}

}  // namespace
}  // namespace ddbench::launch
