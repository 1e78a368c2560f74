// DDP between real processes: one engine a rank, Gloo over loopback TCP.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <sstream>
#include <thread>

#include "ddbench/ddp/bucket_plan.h"
#include "ddbench/ddp/train.h"
#include "ddbench/host/spool.h"
#include "ddbench/record/error.h"
#include "forked_ranks.h"

namespace ddbench::ddp {
namespace {

using namespace std::chrono_literals;
using test::RankOutcome;

/// Writes the losses down exactly; calls `at_step` after each step.
class Notes final : public TrainingMonitor {
 public:
  explicit Notes(std::function<void(std::uint32_t)> at_step) : at_step_(std::move(at_step)) {}
  void on_step(std::uint32_t step, double loss) override {
    losses += fmt::format(" {:a}", loss);
    if (at_step_) at_step_(step);
  }
  void on_collective_begin(std::string_view, std::uint64_t sequence) noexcept override { begun = sequence; }
  void on_collective_end(std::uint64_t sequence) noexcept override { ended = sequence; }
  std::string losses;
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;

 private:
  std::function<void(std::uint32_t)> at_step_;
};

RunCase case_of(int world, std::int64_t global_batch) {
  RunCase run_case;
  run_case.workload_options = {{"hidden", "96,64"}};
  run_case.gpus_per_node = world;
  run_case.batch_per_gpu = global_batch / world;
  run_case.steps = 45;
  run_case.first_bucket_bytes = 20'000;
  run_case.bucket_bytes = 100'000;
  return run_case;
}

using StepHook = std::function<void(int rank, std::uint32_t step, collective::Communicator& communicator)>;

/// "<parameter hash> <loss of step 0> <loss of step 1> ..." of each rank; spools are left in `directory`.
std::vector<RankOutcome> train_ranks(const RunCase& run_case, const std::filesystem::path& directory,
                                     const StepHook& hook = {}) {
  const int world = run_case.world_size();
  return test::run_ranks(world, [&](int rank, collective::KeyValueStore& store) {
    const auto communicator =
        collective::make_communicator("gloo", {.rank = rank, .world_size = world}, store);
    host::Recorder recorder(host::RecorderOptions{.spool = directory / fmt::format("{}.spool", rank),
                                                  .ring_capacity = 1 << 12,
                                                  .rank = rank,
                                                  .run_id = "test"});
    Notes notes([&](std::uint32_t step) {
      if (hook) hook(rank, step, *communicator);
    });
    const TrainResult result = train(run_case, *communicator, recorder, notes);
    recorder.stop();
    EXPECT_EQ(notes.begun, notes.ended);
    return result.parameter_hash + notes.losses;
  });
}

struct Curve {
  std::string hash;
  std::vector<double> losses;
};

Curve curve_of(const RankOutcome& outcome) {
  std::istringstream text(outcome.text);
  Curve curve;
  text >> curve.hash;
  for (std::string loss; text >> loss;) curve.losses.push_back(std::strtod(loss.c_str(), nullptr));
  return curve;
}

TEST(WorldSizeInvariance, OneTwoFourAndEightRanksLearnAlike) {
  const test::TemporaryDirectory directory;
  std::vector<double> reference;
  for (const int world : {1, 2, 4, 8}) {
    const auto outcomes = train_ranks(case_of(world, 64), directory.path());
    std::vector<double> mean(50);
    for (const RankOutcome& outcome : outcomes) {
      const Curve curve = curve_of(outcome);
      ASSERT_EQ(curve.losses.size(), 50U) << outcome.text;
      EXPECT_EQ(curve.hash, curve_of(outcomes[0]).hash) << "the ranks' parameters differ";
      for (std::size_t step = 0; step < mean.size(); ++step) mean[step] += curve.losses[step] / world;
    }
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
  static bool probed(std::uint32_t step) { return step < 5 || (step - 5) % 4 != 3; }

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
  const std::map<SpanKind, int> only_the_step{{SpanKind::kStep, 1}};
  for (const host::SpoolBatch& batch : batches_) {
    std::map<std::uint32_t, std::map<SpanKind, int>> counts;
    for (const Span& span : batch.spans) {
      if (span.step != kNoStep) ++counts[span.step][span.kind];
    }
    for (const auto& [step, kinds] : counts) {
      EXPECT_EQ(kinds, probed(step) ? expected : only_the_step) << "step " << step;
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
