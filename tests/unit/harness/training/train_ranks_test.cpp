// DDP between real processes: one engine a rank, Gloo over loopback TCP.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <thread>

#include "core/error.h"
#include "harness/training/optimizer/bucket_plan.h"
#include "harness/training/step/step_clock.h"
#include "harness/training/train.h"
#include "probes/recorder/spool.h"
#include "trained_ranks.h"

namespace ddbench::ddp {
namespace {

using test::RankOutcome;

TEST(WorldSizeInvariance, OneTwoFourAndEightRanksLearnAlike) {
  const test::TemporaryDirectory directory;
  std::vector<double> reference;
  for (const int world : {1, 2, 4, 8}) {
    const std::vector<double> mean = mean_curve(train_ranks(case_of(world, 64), directory.path())).losses;
    ASSERT_EQ(mean.size(), 50U);
    if (world == 1) reference = mean;
    for (std::size_t step = 0; step < mean.size(); ++step) {
      ASSERT_NEAR(mean[step], reference[step], 1e-4 * reference[step]) << world << " ranks, step " << step;
    }
  }
  EXPECT_LT(reference.back(), 0.8 * reference.front())
      << "nothing was learnt: the agreement would mean nothing";
}

class Recorded : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = std::make_unique<test::TemporaryDirectory>();
    for (const RankOutcome& outcome : train_ranks(run_case_, directory_->path()))
      ASSERT_FALSE(outcome.failed) << outcome.text;
    for (int rank = 0; rank < run_case_.world_size(); ++rank) {
      batches_.push_back(host::SpoolReader(directory_->path() / fmt::format("{}.spool", rank)).read());
    }
  }
  static void TearDownTestSuite() {
    directory_.reset();
    batches_.clear();
  }
  static bool probed(std::uint32_t step) { return is_probed(step, 5); }

  static std::vector<Span> steps_of(const host::SpoolBatch& batch) {
    std::vector<Span> steps;
    for (const Span& span : batch.spans) {
      if (span.kind == SpanKind::kStep) steps.push_back(span);
    }
    return steps;
  }

  static inline const RunCase run_case_ = case_of(2, 32);
  static inline std::unique_ptr<test::TemporaryDirectory> directory_;
  static inline std::vector<host::SpoolBatch> batches_;
};

TEST_F(Recorded, StepsAreContiguousAndMarkTheirWindows) {
  for (const host::SpoolBatch& batch : batches_) {
    EXPECT_TRUE(batch.ended);
    EXPECT_EQ(batch.dropped, 0U);
    const std::vector<Span> steps = steps_of(batch);
    ASSERT_EQ(steps.size(), 50U);
    for (std::uint32_t step = 0; step < steps.size(); ++step) {
      EXPECT_EQ(steps[step].step, step);
      EXPECT_EQ(steps[step].bucket, probed(step) ? kNoBucket : 0);
      if (step == 0) continue;
      EXPECT_EQ(steps[step].begin_ns, steps[step - 1].end_ns);
    }
  }
}

TEST_F(Recorded, SpansLieInTheirStepsAndProbeOffWindowsHaveNone) {
  for (const host::SpoolBatch& batch : batches_) {
    const std::vector<Span> steps = steps_of(batch);
    for (const Span& span : batch.spans) {
      if (span.step == kNoStep || span.kind == SpanKind::kStep) continue;
      ASSERT_LT(span.step, steps.size());
      EXPECT_TRUE(probed(span.step)) << to_string(span.kind);
      EXPECT_GE(span.begin_ns, steps[span.step].begin_ns) << to_string(span.kind);
      EXPECT_LE(span.end_ns, steps[span.step].end_ns) << to_string(span.kind);
    }
  }
}

TEST_F(Recorded, EveryProbedStepHasEveryOperator) {
  // hidden "96,64": three layers; two ReLUs; no gradient of the data; two buckets.
  const std::map<SpanKind, int> expected{{SpanKind::kForward, 4},   {SpanKind::kBackward, 3 + 2 + 2 + 2},
                                         {SpanKind::kOptimizer, 6}, {SpanKind::kDataWait, 1},
                                         {SpanKind::kHost, 2},      {SpanKind::kCommunication, 2},
                                         {SpanKind::kStep, 1}};
  // One step in four has the norms of six gradients, before and after they are averaged.
  std::map<SpanKind, int> with_norms = expected;
  with_norms[SpanKind::kCompute] = 12;
  const std::map<SpanKind, int> only_the_step{{SpanKind::kStep, 1}};
  for (const host::SpoolBatch& batch : batches_) {
    std::map<std::uint32_t, std::map<SpanKind, int>> counts;
    for (const Span& span : batch.spans) {
      if (span.step != kNoStep) ++counts[span.step][span.kind];
    }
    for (const auto& [step, kinds] : counts) {
      EXPECT_EQ(kinds, !probed(step)   ? only_the_step
                       : is_in_pair(step, 5) ? with_norms
                                       : expected)
          << "step " << step;
    }
  }
}

TEST_F(Recorded, WaitingForTheBucketsIsNoHostTime) {
  for (const host::SpoolBatch& batch : batches_) {
    std::map<std::uint32_t, std::vector<Span>> host;
    for (const Span& span : batch.spans) {
      if (span.kind == SpanKind::kHost) host[span.step].push_back(span);
    }
    const std::vector<Span> steps = steps_of(batch);
    for (const auto& [step, spans] : host) {
      ASSERT_EQ(spans.size(), 2U);
      EXPECT_EQ(spans[0].begin_ns, steps[step].begin_ns);
      EXPECT_LT(spans[0].end_ns, spans[1].begin_ns);
      EXPECT_EQ(spans[1].end_ns, steps[step].end_ns);
    }
  }
}

TEST_F(Recorded, CollectivesHaveTheSameKeysBucketsAndBytesOnAllRanks) {
  using Collective = std::tuple<std::uint64_t, std::string, std::uint32_t, std::uint16_t, std::uint64_t>;
  std::vector<std::vector<Collective>> of_ranks;
  for (const host::SpoolBatch& batch : batches_) {
    std::vector<Collective>& collectives = of_ranks.emplace_back();
    for (const Span& span : batch.spans) {
      if (span.kind != SpanKind::kCommunication) continue;
      EXPECT_EQ(span.lane, Lane::kCommunication);
      collectives.emplace_back(span.correlation, batch.new_names.at(span.name_id), span.step, span.bucket,
                               span.bytes);
    }
  }
  EXPECT_EQ(of_ranks[0], of_ranks[1]);

  // Reversed registration: 10 + 640 | 64 + 6144 | 96 + 75264 numbers.
  const std::vector<std::uint64_t> bucket_bytes{4 * (10 + 640 + 64 + 6144), 4 * (96 + 75264)};
  ASSERT_GE(of_ranks[0].size(), 2U);
  EXPECT_EQ(std::get<1>(of_ranks[0][0]), "broadcast");
  EXPECT_EQ(std::get<0>(of_ranks[0][0]), collective_key(1, 1));
  EXPECT_EQ(std::get<1>(of_ranks[0][1]), "barrier");
  std::uint64_t sequence = 3;
  std::size_t next = 2;
  for (std::uint32_t step = 0; step < 50; ++step) {
    for (std::uint16_t bucket = 0; bucket < bucket_bytes.size(); ++bucket, ++sequence) {
      if (!probed(step)) continue;
      ASSERT_LT(next, of_ranks[0].size());
      EXPECT_EQ(of_ranks[0][next++],
                Collective(collective_key(1, sequence), "all_reduce", step, bucket, bucket_bytes[bucket]));
    }
  }
  EXPECT_EQ(next, of_ranks[0].size());
}

TEST(Failures, KilledRankEndsTheOthersWithAnErrorThatNamesIt) {
  const test::TemporaryDirectory directory;
  const auto outcomes =
      train_ranks(case_of(4, 64), directory.path(), [](int rank, std::uint32_t step, auto&) {
        if (rank == 2 && step == 20) kill(getpid(), SIGKILL);
      });
  EXPECT_EQ(outcomes[2].killed_by_signal, SIGKILL);
  for (const int survivor : {0, 1, 3}) {
    EXPECT_TRUE(outcomes[survivor].failed);
    EXPECT_NE(outcomes[survivor].text.find("all_reduce failed on rank"), std::string::npos)
        << outcomes[survivor].text;
  }
  const host::SpoolBatch before = host::SpoolReader(directory.path() / "0.spool").read();
  EXPECT_GE(before.scalars.size(), 20U) << "the steps before the failure are readable";
}

TEST(Failures, AbortFromAnotherThreadEndsTrainingOnEveryRank) {
  const test::TemporaryDirectory directory;
  const auto outcomes = train_ranks(case_of(2, 32), directory.path(),
                                    [](int rank, std::uint32_t step, collective::Communicator& communicator) {
                                      if (rank == 0 && step == 10)
                                        std::jthread([&] { communicator.abort(); });
                                    });
  EXPECT_NE(outcomes[0].text.find("aborted"), std::string::npos) << outcomes[0].text;
  EXPECT_TRUE(outcomes[1].failed) << outcomes[1].text;
}

TEST(Failures, ExceptionInTheLoopEndsTheOtherRanks) {
  const test::TemporaryDirectory directory;
  const auto outcomes =
      train_ranks(case_of(2, 32), directory.path(), [](int rank, std::uint32_t step, auto&) {
        if (rank == 1 && step == 10) throw Error(ErrorCode::kRunFailed, "stop requested");
      });
  EXPECT_EQ(outcomes[1].text, "Error: stop requested");
  EXPECT_NE(outcomes[0].text.find("rank 1"), std::string::npos) << outcomes[0].text;
}

}  // namespace
}  // namespace ddbench::ddp
