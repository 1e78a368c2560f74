// Simulated runs with a known truth: which rank is slow, why, and since when; and healthy ones, in which no
// rank is accused. tests/bench/diagnose prints the rates over many of them.
#include "analyzer/diagnose/diagnosis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analyzer/diagnose/culprit.h"
#include "analyzer/diagnose/pauses.h"
#include "../../../support/simulated_work.h"

namespace ddbench::analyzer {
namespace {

using test::Injected;
using test::simulate;
using test::SimulatedRun;

Diagnosis diagnosis_of(const SimulatedRun& run, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  const auto found = diagnose(simulate(run, random));
  EXPECT_TRUE(found) << found.reason();
  return found.value_or(Diagnosis{});
}

SimulatedRun run_with(Injected injected, std::size_t victim, double strength = 0.3) {
  SimulatedRun run;
  run.injected = injected;
  run.victim = victim;
  run.strength = strength;
  run.steps = 160;
  return run;
}

TEST(Starvation, OfOneRankInsideOfCollectivesIsContention) {
  for (const bool of_one : {true, false}) {
    std::mt19937_64 random(3);
    WorkTable table = simulate(SimulatedRun{}, random);
    std::exponential_distribution<double> delay(1 / 1e6);
    for (std::size_t i = 0; i < table.work.size(); ++i)
      table.starved_ns.push_back(delay(random) * (of_one && i % table.rank_count() == 2 ? 9 : 1));
    for (double& each : table.step_ns) each += of_one ? 9e6 : 1e6;  // the others wait in the collective
    const auto found = diagnose(table);
    ASSERT_TRUE(found);
    EXPECT_EQ(to_string(found->cause), of_one ? "contention" : "healthy") << verdict_in_words(*found);
    EXPECT_EQ(found->ranks, of_one ? std::vector{2} : std::vector<int>{});
    EXPECT_EQ(found->notes.size(), of_one ? 1U : 0U);
  }
}

struct Expected {
  Injected injected;
  Cause cause;
};

class OfOneRank : public testing::TestWithParam<Expected> {};

TEST_P(OfOneRank, IsNamedWithItsCauseAndOnset) {
  for (const std::size_t onset : {std::size_t{0}, std::size_t{70}}) {
    SimulatedRun run = run_with(GetParam().injected, 2);
    run.onset = onset;
    const Diagnosis found = diagnosis_of(run);
    EXPECT_EQ(to_string(found.cause), to_string(GetParam().cause));
    EXPECT_EQ(found.ranks, std::vector{2});
    EXPECT_EQ(found.nodes, std::vector{1});
    EXPECT_FALSE(found.is_whole_node);
    EXPECT_NEAR(found.first_step, static_cast<double>(onset + 5), 8);
    EXPECT_EQ(found.last_step, 164U);
    EXPECT_EQ(found.from_begin, onset == 0);
    EXPECT_GE(found.explained, 0.8);
    // 30% of the work of a step that has 10% transfer: 2.7 of 12.7 ms.
    EXPECT_NEAR(found.cost_share, 0.21, 0.05);
    ASSERT_EQ(found.evidence.size(), 3U);
    EXPECT_EQ(found.evidence.front().rank, 2);
    EXPECT_FALSE(found.next_checks.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Causes, OfOneRank,
                         testing::Values(Expected{Injected::kSlowCompute, Cause::kSlowCompute},
                                         Expected{Injected::kContention, Cause::kContention},
                                         Expected{Injected::kSlowData, Cause::kDataLoading},
                                         Expected{Injected::kHostGaps, Cause::kHostGaps}));

TEST(Diagnosis, SaysInOneSentenceWhoHowMuchAndSinceWhen) {
  SimulatedRun run = run_with(Injected::kSlowCompute, 1);
  run.onset = 70;
  const std::string verdict = verdict_in_words(diagnosis_of(run));
  EXPECT_TRUE(verdict.starts_with("rank 1 (node 0, host host) computes 3")) << verdict;
  EXPECT_NE(verdict.find("slower since step "), std::string::npos) << verdict;
  EXPECT_NE(verdict.find(" and costs "), std::string::npos) << verdict;
}

TEST(Diagnosis, AWholeNodeIsNamedAsOne) {
  SimulatedRun run = run_with(Injected::kSlowNode, 1);
  const Diagnosis found = diagnosis_of(run);
  EXPECT_EQ(found.cause, Cause::kSlowCompute);
  EXPECT_EQ(found.ranks, (std::vector{2, 3}));
  EXPECT_TRUE(found.is_whole_node);
}

TEST(Diagnosis, AnEpisodeHasABeginAndAnEnd) {
  std::mt19937_64 random(3);
  SimulatedRun run = run_with(Injected::kNothing, 0);
  run.steps = 300;
  WorkTable table = simulate(run, random);
  for (std::size_t step = 100; step < 200; ++step) {
    table.work[step * 4 + 3][OwnPart::kCompute] += 4e6;
    table.step_ns[step] += 4e6;
  }
  const auto found = diagnose(table);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ranks, std::vector{3});
  EXPECT_NEAR(found->first_step, 105.0, 4);
  EXPECT_NEAR(found->last_step, 204.0, 4);
  EXPECT_NE(verdict_in_words(*found).find(" from step 10"), std::string::npos) << verdict_in_words(*found);
}

TEST(Diagnosis, RegularPausesAreDistinguishedFromASlowRank) {
  SimulatedRun run = run_with(Injected::kPauses, 3, 6);
  run.steps = 300;
  const Diagnosis found = diagnosis_of(run);
  EXPECT_EQ(to_string(found.cause), "pauses");
  EXPECT_EQ(found.ranks, std::vector{3});
  EXPECT_NEAR(found.period_steps, 25, 1);
  EXPECT_NEAR(found.pause_ns, 6 * test::kUsualWork_ns, 1e7);
}

TEST(Diagnosis, PausesAtNoRegularTimesHaveNoPeriod) {
  std::mt19937_64 random(3);
  SimulatedRun run = run_with(Injected::kNothing, 0);
  run.steps = 300;
  WorkTable table = simulate(run, random);
  for (const std::size_t step : {3U, 4U, 60U, 67U, 150U, 155U, 199U, 260U}) {
    table.work[step * 4 + 1][OwnPart::kHost] += 1e8;
    table.step_ns[step] += 1e8;
  }
  const auto found = diagnose(table);
  ASSERT_TRUE(found);
  EXPECT_EQ(to_string(found->cause), "pauses");
  EXPECT_EQ(found->ranks, std::vector{1});
  EXPECT_EQ(found->period_steps, 0);
}

TEST(Diagnosis, APauseInAnUnprobedStepCountsByWhatItAdds) {
  std::mt19937_64 random(3);
  SimulatedRun run = run_with(Injected::kNothing, 0);
  run.steps = 300;
  WorkTable table = simulate(run, random);
  const double usual_ns = table.step_ns.front();
  for (const std::size_t step : {3U, 60U, 67U, 150U, 155U}) {
    table.work[step * 4 + 1][OwnPart::kHost] += 7 * usual_ns;
    table.step_ns[step] += 7 * usual_ns;
  }
  const auto pauses_with = [&](double beyond_ns) {
    WorkTable with = table;
    UnprobedStep step;
    step.step = 301;
    step.begin_ns = 301 * usual_ns;
    step.duration_ns = usual_ns + beyond_ns;
    with.unprobed = {step};
    return find_pauses(with);
  };
  ASSERT_TRUE(pauses_with(0));
  EXPECT_EQ(pauses_with(usual_ns)->unprobed, 0U) << "far shorter than the others: chance";
  EXPECT_EQ(pauses_with(6 * usual_ns)->unprobed, 1U);
}

TEST(Diagnosis, WorkThatMovesBetweenRanksAccusesNoRank) {
  for (const int ranks : {1, 2, 4}) {
    SimulatedRun run = run_with(Injected::kMoving, 0, 0.4);
    run.ranks_per_node = ranks;
    const Diagnosis found = diagnosis_of(run);
    EXPECT_EQ(to_string(found.cause), "moving_imbalance") << ranks;
    EXPECT_TRUE(found.ranks.empty());
  }
}

TEST(Diagnosis, MuchNoiseIsJitterWithoutACulprit) {
  SimulatedRun run = run_with(Injected::kNoise, 0);
  run.noise = 0.2;
  const Diagnosis found = diagnosis_of(run);
  EXPECT_EQ(to_string(found.cause), "jitter");
  EXPECT_FALSE(is_accusation(found.cause));
  EXPECT_GT(found.lost_share, 0.10);
}

TEST(Diagnosis, OfAHundredHealthyRunsNobodyIsAccused) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100; ++i) {
    SimulatedRun run;
    run.nodes = 2;
    run.ranks_per_node = 1 + i % 4;
    run.steps = 60;
    run.noise = 0.05;
    run.coefficient = i % 2 == 0 ? 0.0 : 0.8;
    const auto found = diagnose(simulate(run, random));
    ASSERT_TRUE(found);
    EXPECT_FALSE(is_accusation(found->cause)) << i << ": " << verdict_in_words(*found);
  }
}

TEST(Diagnosis, ALittleSlowerIsNoVerdict) {
  const Diagnosis found = diagnosis_of(run_with(Injected::kSlowCompute, 1, 0.06));
  EXPECT_EQ(to_string(found.cause), "healthy");
}

TEST(Diagnosis, SaysWhyThereIsNone) {
  WorkTable table;
  table.ranks = {{0, 0, "a"}};
  EXPECT_NE(diagnose(table).reason().find("single rank"), std::string::npos);
  table.ranks.push_back({1, 0, "a"});
  EXPECT_NE(diagnose(table).reason().find("0 measured steps"), std::string::npos);
}

TEST(Diagnosis, StepsWithoutAnyWorkAreNoFault) {
  std::mt19937_64 random(1);
  WorkTable table = simulate(run_with(Injected::kNothing, 0), random);
  for (OwnWork& work : table.work) work = {};
  const auto found = diagnose(table);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, Cause::kHealthy);
  EXPECT_EQ(found->lost_share, 0);
}

store::StepRecord step_of(int rank, std::uint32_t step) {
  store::StepRecord record;
  record.rank = rank;
  record.step = step;
  record.partition[store::StepPart::kForward] = 600;
  record.partition[store::StepPart::kBackward] = 200;
  record.partition[store::StepPart::kCpuWait] = 50;
  record.partition[store::StepPart::kExposedTransfer] = 100;
  record.partition[store::StepPart::kHost] = 40;
  record.partition[store::StepPart::kCopy] = 10;
  record.duration_ns = record.partition.total_ns();
  record.communication_ns = 150;
  return record;
}

TEST(OwnWork, DelayInsideOfComputeIsNoCompute) {
  const OwnWork work = own_work(step_of(0, 0), 250, 0);  // 50 were booked, 200 lie in compute
  EXPECT_EQ(work[OwnPart::kCompute], 600);
  EXPECT_EQ(work[OwnPart::kCpuWait], 250);
  EXPECT_EQ(work[OwnPart::kHost], 50);
  EXPECT_EQ(work.total(), 900);
}

TEST(OwnWork, CpuWaitOfACollectiveIsNobodysOwnWork) {
  // 60 of 180 ns of the exposed communication were a thread without a core: book_cpu_wait moved a third of 150.
  const OwnWork work = own_work(step_of(0, 0), 0, 50);
  EXPECT_EQ(work[OwnPart::kCpuWait], 0);
  EXPECT_EQ(work[OwnPart::kCompute], 800);
}

TEST(WorkTable, HasTheStepsThatAllRanksRecorded) {
  std::vector<store::RankRecord> ranks(2);
  ranks[1].rank = 1;
  std::vector<store::StepRecord> records;
  for (const std::uint32_t step : {0U, 1U, 2U, 3U}) {
    for (const int rank : {0, 1}) records.push_back(step_of(rank, step));
  }
  records[4].probes_on = false;                 // step 2 of rank 0
  records.erase(records.begin() + 7);           // step 3 of rank 1
  const WorkTable table = work_table(records, ranks, {}, 1);
  EXPECT_EQ(table.steps, std::vector{1U});
  EXPECT_EQ(table.work.size(), 2U);
  EXPECT_EQ(work_table({}, {}, {}, 0).step_count(), 0U);
}

}  // namespace
}  // namespace ddbench::analyzer
