#include "analyzer/import/training_log/training_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expect_error.h"

namespace ddbench::imports {
namespace {

TrainingLogOptions on_gpus(int gpus) {
  TrainingLogOptions options;
  options.gpus = gpus;
  options.warmup = 0;
  return options;
}

std::vector<double> step_times_ms(const ImportedRun& run) {
  std::vector<double> times;
  for (const store::StepRecord& step : run.steps) times.push_back(static_cast<double>(step.duration_ns) / 1e6);
  return times;
}

std::string notes_of(const ImportedRun& run) {
  std::string notes;
  for (const auto& [key, text] : run.run.environment.facts) {
    if (key.starts_with("note.")) notes += text + "\n";
  }
  return notes;
}

std::string megatron_line(int step, double ms, int batch) {
  return fmt::format(" [2025-04-13 23:41:12] iteration {:8}/    1000 | elapsed time per iteration (ms): {:.1f} | global batch size: {:5} |\n", step, ms,
                     batch);
}

TEST(TrainingLog, RowsOfAGrowingBatchAreLeftOut) {
  const std::string text = megatron_line(10, 1000, 16) + megatron_line(20, 1500, 24) + megatron_line(30, 2000, 32) + megatron_line(40, 2100, 32);
  const ImportedRun run = read_training_log(text, "m.log", LogFormat::kMegatron, on_gpus(8));
  EXPECT_EQ(step_times_ms(run), (std::vector<double>{2000, 2100}));
  EXPECT_EQ(run.run.run_case.batch_per_gpu, 4);
  EXPECT_TRUE(test::contains(notes_of(run), "2 rows with another global batch than the last (32) were left out"));
}

TEST(TrainingLog, SizesThatCannotBeAreRefused) {
  const std::string parallel = "tensor-model-parallel size: 4294967296, pipeline-model-parallel size: 4294967296\n";  // 2^64 is 0
  EXPECT_ERROR(ErrorCode::kBadInput, "tensor_parallel is 4294967296",
               read_training_log(parallel + megatron_line(1, 10, 8), "m.log", LogFormat::kMegatron, on_gpus(8)));
  std::string years;
  for (int step = 1; step <= 300; ++step) years += megatron_line(step, 1e9, 8);
  EXPECT_ERROR(ErrorCode::kBadInput, "line 289: the steps up to 289 take 9.1",
               read_training_log(years, "m.log", LogFormat::kMegatron, on_gpus(8)));
}

TEST(TrainingLog, DeepSpeedSaysItsGpusAndBatchBehindDots) {
  const std::string stamp = "[2023-11-07 01:55:00,000] [INFO] [config.py:975:print]   ";
  std::string text = stamp + "train_batch_size ............. 64\n" + stamp + "train_micro_batch_size_per_gpu  8\n" + stamp +
                     "world_size ................... 8\n";
  for (int step = 1; step <= 3; ++step)
    text += fmt::format("[2023-11-07 01:55:0{},000] [INFO] [timer.py:260:stop] epoch=0/micro_step={}/global_step={}, RunningAvgSamplesPerSec=25.0, "
                        "CurrSamplesPerSec=25.7\n", 2 * step, step, step);
  const ImportedRun run = read_training_log(text, "d.log", LogFormat::kDeepSpeed, on_gpus(0));
  EXPECT_EQ(run.run.run_case.world_size(), 8);
  EXPECT_EQ(run.run.run_case.batch_per_gpu, 8);
  EXPECT_EQ(step_times_ms(run), (std::vector<double>{2000, 2000}));
}

TEST(TrainingLog, ComposersRatesAreMeansOfAWindow) {
  const ImportedRun run = read_training_log("[batch=1/9]:\n\t Train throughput/batches_per_sec: 0.5\n", "c.log", LogFormat::kComposer, on_gpus(1));
  EXPECT_EQ(step_times_ms(run), (std::vector<double>{2000}));
  EXPECT_TRUE(test::contains(notes_of(run), "a mean over the last batches"));
}

std::string mllog(const std::string& key, const std::string& value, const std::string& metadata = "", std::int64_t time_ms = 0) {
  return fmt::format(":::MLLOG {{\"namespace\": \"\", \"time_ms\": {}, \"event_type\": \"POINT_IN_TIME\", \"key\": \"{}\", \"value\": {}, \"metadata\": "
                     "{{\"lineno\": 1{}{}}}}}\n", time_ms, key, value, metadata.empty() ? "" : ", ", metadata);
}

std::string throughput_line(double rate, std::int64_t step, std::int64_t time_ms) {
  return mllog("tracked_stats", fmt::format("{{\"throughput\": {}}}", rate), fmt::format("\"step\": {}", step), time_ms);
}

ImportedRun read_mllog(const std::string& text, int gpus) {
  return read_training_log(text, "m.log", LogFormat::kMlperf, on_gpus(gpus));
}

// NVIDIA's GPT-3 of MLPerf 3.1 on 10,752 GPUs: 5,154,997 tokens a second, 2688 sequences of 2048 tokens a step.
TEST(MlperfLog, AThroughputOfTokensIsRecognisedByStampsAndSteps) {
  const std::string batch = mllog("global_batch_size", "2688");
  const std::string lines = throughput_line(5154997.27, 605552640, 1'696'565'100'000) + throughput_line(5154997.27, 1211105280, 1'696'565'217'469);
  TrainingLogOptions options = on_gpus(10752);
  options.tensor_parallel = 4;
  options.pipeline_parallel = 8;
  const ImportedRun run =
      read_training_log(batch + mllog("max_sequence_length", "2048") + lines, "m.log", LogFormat::kMlperf, options);
  ASSERT_EQ(run.steps.size(), 2u);
  EXPECT_NEAR(step_times_ms(run)[0], 1067.9, 0.1);
  EXPECT_TRUE(test::contains(notes_of(run), "of tokens, 2048 to a sample"));
  EXPECT_TRUE(test::contains(notes_of(run), "the mean of 110 steps"));
  EXPECT_EQ(run.run.environment.facts.at("import.mean_of_steps"), "110");
  for (const std::string& unsettled : {batch + lines, batch + throughput_line(5154997.27, 1211105280, 1'696'565'217'469)}) {
    EXPECT_ERROR(ErrorCode::kBadInput, "m.log line 2: nothing in the log settles whether its throughput is of samples or of tokens",
                 read_training_log(unsettled, "m.log", LogFormat::kMlperf, options));
  }
}

TEST(MlperfLog, StepsThatCountTokensAreStepsOfABatch) {
  std::string text = mllog("global_batch_size", "2688") + mllog("max_sequence_length", "2048");
  for (int step = 1; step <= 3; ++step)
    text += mllog("tracked_stats", fmt::format("{{\"train_step_timing\": {}}}", 0.93 + 0.001 * step), fmt::format("\"step\": {}", 5505024 * step));
  text += throughput_line(5152984.38, 5505024 * 3, 1'696'566'271'481);  // of the whole epoch, with its evaluations
  const ImportedRun run = read_mllog(text, 2688);
  EXPECT_EQ(step_times_ms(run), (std::vector<double>{931, 932, 933}));
  EXPECT_FALSE(test::contains(notes_of(run), "the mean of"));
  EXPECT_FALSE(run.run.environment.facts.contains("import.mean_of_steps"));
}

TEST(MlperfLog, AThroughputOfSamplesIsRecognisedByWhatTheLogCounts) {
  // Llama 2 (LoRA): `step` is samples, as others call them samples_count. 384 samples take 1.95 s, an evaluation 1.2 s.
  const std::string lora = mllog("global_batch_size", "128") + mllog("block_start", "null", "\"samples_count\": 8448") +
                           throughput_line(196.6, 8832, 1'714'905'638'376) + throughput_line(196.3, 9216, 1'714'905'641'625);
  EXPECT_NEAR(step_times_ms(read_mllog(lora, 128))[1], 128 / 196.3 * 1e3, 1e-3);
  // ResNet: `step` is epochs.
  const std::string resnet = mllog("global_batch_size", "8192") + mllog("train_samples", "1281167") +
                             throughput_line(6852591.9, 69, 1'714'251'226'346) + throughput_line(6859589.9, 70, 1'714'251'226'533);
  EXPECT_NEAR(step_times_ms(read_mllog(resnet, 8))[1], 8192 / 6859589.9 * 1e3, 1e-5);
  // Stable Diffusion: `step_num` is steps. 100 of 1024 samples.
  std::string diffusion = mllog("global_batch_size", "1024");
  for (int i = 1; i <= 2; ++i)
    diffusion += mllog("tracked_stats", "{\"throughput\": 2048.0}", fmt::format("\"step_num\": {}", 100 * i), 50'000 * i);
  const ImportedRun run = read_mllog(diffusion, 8);
  EXPECT_EQ(step_times_ms(run), (std::vector<double>{500, 500}));
  EXPECT_TRUE(test::contains(notes_of(run), "the mean of 100 steps"));
  // A name that says what it is of needs no more.
  const std::string images = mllog("global_batch_size", "64") + mllog("tracked_stats", "{\"imgs_sec\": 128.0}", "\"samples_count\": 640");
  EXPECT_EQ(step_times_ms(read_mllog(images, 8)), (std::vector<double>{500}));
}

}  // namespace
}  // namespace ddbench::imports
