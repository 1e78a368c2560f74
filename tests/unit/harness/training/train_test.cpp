// Training on one rank, and what every run must refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "core/cpu_wait.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "forked_ranks.h"
#include "harness/training/train.h"
#include "probes/recorder/spool.h"

namespace ddbench::ddp {
namespace {

class Losses final : public TrainingMonitor {
 public:
  void on_step(std::uint32_t step, double loss) override {
    EXPECT_EQ(step, losses.size());
    losses.push_back(loss);
  }
  void on_collective_begin(std::string_view, std::uint64_t) noexcept override {}
  void on_collective_end(std::uint64_t) noexcept override {}
  std::vector<double> losses;
};

class NoStore final : public collective::KeyValueStore {
  void set(const std::string&, const collective::Bytes&) override {}
  collective::Bytes get(const std::string&, std::chrono::milliseconds) override { return {}; }
};

RunCase small_case() {
  RunCase run_case;
  std::get<ReferenceWorkload>(run_case.work).options = {{"hidden", "96,64"}};
  run_case.steps = 60;
  return run_case;
}

class OneRank : public testing::Test {
 protected:
  TrainResult run(const RunCase& run_case) {
    monitor_.losses.clear();
    const auto communicator = collective::make_communicator("gloo", {}, store_);
    host::Recorder recorder(
        host::RecorderOptions{.spool = directory_.path() / std::to_string(runs_++), .run_id = "test"});
    const TrainResult result = train(run_case, *communicator, recorder, monitor_);
    recorder.stop();
    return result;
  }
  host::SpoolBatch spooled() {
    return host::SpoolReader(directory_.path() / std::to_string(runs_ - 1)).read();
  }

  static std::vector<host::Scalar> named(const host::SpoolBatch& batch, std::string_view name) {
    std::vector<host::Scalar> found;
    for (const host::Scalar& scalar : batch.scalars) {
      if (batch.new_names.at(scalar.name_id) == name) found.push_back(scalar);
    }
    return found;
  }

  test::TemporaryDirectory directory_;
  NoStore store_;
  Losses monitor_;
  int runs_ = 0;
};

TEST_F(OneRank, Learns) {
  const TrainResult result = run(small_case());
  const std::vector<double>& losses = monitor_.losses;
  ASSERT_EQ(losses.size(), 65U);
  EXPECT_EQ(result.loss_first, losses.front());
  EXPECT_EQ(result.loss_last, losses.back());
  EXPECT_NEAR(losses.front(), std::log(10), 0.2) << "an untrained classifier of ten classes guesses";
  EXPECT_LT(std::accumulate(losses.end() - 10, losses.end(), 0.0) / 10, 0.6 * losses.front());
}

TEST_F(OneRank, LossesAndTheCpusPeakAreSpooled) {
  run(small_case());
  const host::SpoolBatch batch = spooled();
  EXPECT_TRUE(batch.ended);
  EXPECT_EQ(batch.dropped, 0U);
  const std::vector<host::Scalar> peaks = named(batch, "gemm_peak_tflops");
  ASSERT_EQ(peaks.size(), 1U);
  EXPECT_EQ(peaks.front().step, 0U);
  EXPECT_GT(peaks.front().value, 1e-4) << "0.1 GFLOP/s: no CPU is that slow";
  EXPECT_LT(peaks.front().value, 10) << "10 TFLOP/s of float32: no core is that fast";
  for (const char* conversion : {"gradients.narrow_ns_per_mib", "gradients.widen_ns_per_mib"}) {
    const std::vector<host::Scalar> measured = named(batch, conversion);
    ASSERT_EQ(measured.size(), 1U) << conversion;
    EXPECT_GE(measured.front().value, 0) << conversion;
    EXPECT_LT(measured.front().value, 1e9) << conversion << ": a second a MiB";
  }
  const std::vector<host::Scalar> losses = named(batch, "loss");
  ASSERT_EQ(losses.size(), monitor_.losses.size());
  for (std::size_t step = 0; step < losses.size(); ++step) {
    EXPECT_EQ(losses[step].step, step);
    EXPECT_EQ(losses[step].value, monitor_.losses[step]);
  }
}

TEST_F(OneRank, CpuWaitIsSpooledForStepsWithTheProbesOn) {
  run(small_case());
  const host::SpoolBatch batch = spooled();
  const std::vector<host::Scalar> waits = named(batch, kCpuWaitMain);
  const bool readable = std::none_of(
      batch.new_names.begin(), batch.new_names.end(),
      [](const std::string& name) { return name.starts_with(fact_key<"cpu_wait.unavailable">.name); });
  EXPECT_EQ(!waits.empty(), readable) << "it is measured, or the reason is spooled";
  for (const host::Scalar& wait : waits) EXPECT_GE(wait.value, 0);
}

TEST_F(OneRank, RepeatsBitForBitAndTheSeedMatters) {
  RunCase run_case = small_case();
  run_case.steps = 5;
  const TrainResult first = run(run_case), second = run(run_case);
  EXPECT_EQ(first.parameter_hash, second.parameter_hash);
  EXPECT_EQ(first.loss_last, second.loss_last);
  run_case.seed = 2;
  EXPECT_NE(run(run_case).parameter_hash, first.parameter_hash);
}

TEST_F(OneRank, WeightsInSixteenBitsAreCastOncePerStepHoweverManyMicroBatchesItHas) {
  RunCase run_case = small_case();
  run_case.precision = "bf16";
  run_case.accumulate = 4;
  run_case.steps = 6;
  run_case.warmup = 2;
  try {
    run(run_case);
  } catch (const Error& error) {
    GTEST_SKIP() << error.message();
  }
  const host::SpoolBatch batch = spooled();
  std::map<std::uint32_t, int> casts;
  std::map<std::uint32_t, int> forwards;
  for (const Span& span : batch.spans) {
    casts[span.step] += batch.new_names.at(span.name_id) == "cast_weights";
    forwards[span.step] += span.kind == SpanKind::kForward;
  }
  int probed = 0;
  for (const auto& [step, count] : forwards) {
    if (count == 0) continue;
    ++probed;
    EXPECT_EQ(casts[step], 1) << "step " << step;
  }
  EXPECT_GE(probed, 6);
}

TEST_F(OneRank, EpochsGoOnWhenTheDataAreUsedUp) {
  RunCase run_case = small_case();
  run_case.batch_per_gpu = 30'000;  // two steps an epoch
  std::get<ReferenceWorkload>(run_case.work).options = {{"hidden", ""}};
  run_case.steps = 3;
  run_case.warmup = 0;
  run(run_case);
  EXPECT_EQ(monitor_.losses.size(), 3U);
}

TEST_F(OneRank, DivergenceIsAnErrorThatNamesStepAndRate) {
  RunCase run_case = small_case();
  run_case.lr = 1e30;
  try {
    run(run_case);
    FAIL() << "went on with a loss that is no number";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kRunFailed);
    EXPECT_NE(error.message().find("training diverged. Lower --lr (it is 1e+30)"), std::string::npos)
        << error.message();
  }
}

TEST(CheckSupported, NamesWhatIsNot) {
  check_supported(RunCase{});
  const auto refused = [](const std::function<void(RunCase&)>& change) {
    RunCase run_case;
    change(run_case);
    try {
      check_supported(run_case);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      return error.message();
    }
    return std::string("nothing");
  };
  EXPECT_EQ(refused([](RunCase& c) { c.precision = "fp8"; }),
            "precision \"fp8\" is not supported; supported: fp32, tf32, bf16, fp16");
  EXPECT_EQ(refused([](RunCase& c) { c.strategy = "fsdp"; }),
            "strategy \"fsdp\" is not supported; supported: ddp, zero1, zero2, zero3, horovod, mirrored, ps");
  EXPECT_EQ(refused([](RunCase& c) { c.optimizer = "lion"; }),
            "optimizer \"lion\" is not supported; supported: sgd, adamw, lars, lamb");
  EXPECT_EQ(
      refused([](RunCase& c) { c.work = ReferenceWorkload{"x"}; }),
      "workload \"x\" is not known; workloads: mlp, resnet18, resnet50, gpt2-nano, gpt2-124m, gpt2-355m, "
      "gpt2-774m, gpt2-1558m, bert-base, bert-large");
  EXPECT_NE(refused([](RunCase& c) { std::get<ReferenceWorkload>(c.work).options["hidden"] = "x"; }).find("hidden \"x\""),
            std::string::npos);
}

TEST(Memory, GrowsWithWhatItIsMadeOf) {
  const std::int64_t base = memory_per_rank_bytes({});
  const auto with = [](const std::function<void(RunCase&)>& change) {
    RunCase run_case;
    change(run_case);
    return memory_per_rank_bytes(run_case);
  };
  EXPECT_GT(base, 3 * 2'678'824);
  EXPECT_GT(with([](RunCase& c) { c.gpus_per_node = 16; }), base);
  EXPECT_GE(with([](RunCase& c) { c.batch_per_gpu = 100'064; }) - base, 100'000 * (785 + 2 * 1024) * 4);
  EXPECT_GE(with([](RunCase& c) { std::get<ReferenceWorkload>(c.work).options["hidden"] = "512,512,512"; }) - base, 3 * 512 * 513 * 4);
}

}  // namespace
}  // namespace ddbench::ddp
