#include "trained_ranks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "counting_communicator.h"
#include "probes/recorder/recorder.h"

namespace ddbench::ddp {

using test::RankOutcome;

void Notes::on_step(std::uint32_t step, double loss) {
  losses += fmt::format(" {:a}", loss);
  if (at_step_) at_step_(step);
}

RunCase case_of(int world, std::int64_t global_batch) {
  RunCase run_case;
  std::get<ReferenceWorkload>(run_case.work).options = {{"hidden", "96,64"}};
  run_case.gpus_per_node = world;
  run_case.batch_per_gpu = global_batch / world;
  run_case.steps = 45;
  run_case.first_bucket_bytes = 20'000;
  run_case.bucket_bytes = 100'000;
  return run_case;
}

std::vector<RankOutcome> train_ranks(const RunCase& run_case, const std::filesystem::path& directory,
                                     const StepHook& hook, const CheckpointPlan& checkpoints) {
  const int world = run_case.world_size();
  return test::run_ranks(world, [&](int rank, collective::KeyValueStore& store) {
    const auto communicator =
        collective::make_communicator("gloo", {.rank = rank, .world_size = world}, store);
    test::CountingCommunicator counting(*communicator);
    host::Recorder recorder(host::RecorderOptions{.spool = directory / fmt::format("{}.spool", rank),
                                                  .ring_capacity = 1 << 12,
                                                  .rank = rank,
                                                  .run_id = "test"});
    Notes notes([&](std::uint32_t step) {
      if (hook) hook(rank, step, *communicator);
    });
    const TrainResult result = train(run_case, counting, recorder, notes, checkpoints);
    recorder.stop();
    EXPECT_EQ(notes.begun, notes.ended);
    return fmt::format("{} {} {}{}", result.parameter_hash, counting.sent_bytes, counting.exchanges,
                       notes.losses);
  });
}

Curve curve_of(const RankOutcome& outcome) {
  std::istringstream text(outcome.text);
  Curve curve;
  text >> curve.hash >> curve.sent_bytes >> curve.exchanges;
  for (std::string loss; text >> loss;) curve.losses.push_back(std::strtod(loss.c_str(), nullptr));
  return curve;
}

Curve mean_curve(const std::vector<RankOutcome>& outcomes) {
  Curve mean;
  for (const RankOutcome& outcome : outcomes) {
    EXPECT_FALSE(outcome.failed) << outcome.text;
    EXPECT_EQ(outcome.killed_by_signal, 0);
    const Curve curve = curve_of(outcome);
    if (mean.losses.empty()) mean = {curve.hash, 0, 0, std::vector<double>(curve.losses.size())};
    EXPECT_EQ(curve.hash, mean.hash) << "the ranks' parameters differ";
    EXPECT_EQ(curve.losses.size(), mean.losses.size()) << outcome.text;
    const auto ranks = static_cast<double>(outcomes.size());
    mean.sent_bytes += curve.sent_bytes / ranks;
    mean.exchanges = std::max(mean.exchanges, curve.exchanges);
    for (std::size_t i = 0; i < std::min(mean.losses.size(), curve.losses.size()); ++i)
      mean.losses[i] += curve.losses[i] / ranks;
  }
  return mean;
}

}  // namespace ddbench::ddp
