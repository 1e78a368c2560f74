// Checkpoints: training continued from one equals training that never stopped; damaged and foreign ones are
// reported.
#include "harness/training/checkpoint/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "core/error.h"
#include "harness/training/step/step_clock.h"
#include "probes/recorder/recorder.h"
#include "probes/recorder/spool.h"
#include "trained_ranks.h"

namespace ddbench::ddp {
namespace {

namespace fs = std::filesystem;

RunCase checkpointed(int world) {
  RunCase run_case = case_of(world, 24);
  std::get<ReferenceWorkload>(run_case.work).options = {{"hidden", "24"}};
  run_case.warmup = 2;
  run_case.steps = 18;
  run_case.checkpoint_every = 5;
  return run_case;
}

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
void write_file(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.message();
  }
  return "nothing was thrown";
}

struct Interrupted {
  std::string strategy;
  std::string optimizer;
  double lr;
  int accumulate;
  std::map<std::string, std::string> options = {};
};

class Resumed : public testing::TestWithParam<Interrupted> {};

TEST_P(Resumed, GoesOnBitForBit) {
  RunCase run_case = checkpointed(2);
  run_case.strategy = GetParam().strategy;
  run_case.strategy_options = GetParam().options;
  run_case.optimizer = GetParam().optimizer;
  run_case.lr = GetParam().lr;
  run_case.accumulate = GetParam().accumulate;
  run_case.lr_warmup = 12;
  run_case.target_loss = 0.001;  // never reached; its window goes on too
  const test::TemporaryDirectory spools, checkpoints;
  const auto whole = train_ranks(run_case, spools.path(), {}, {checkpoints.path(), {}});
  ASSERT_EQ(curve_of(whole[0]).losses.size(), 20U) << whole[0].text;
  EXPECT_EQ(names_in(checkpoints.path()), (std::vector<std::string>{"step-00000015", "step-00000020"}));

  const fs::path older = checkpoints.path() / "step-00000015";
  fs::remove_all(checkpoints.path() / "step-00000020");
  const Checkpoint found = find_checkpoint(checkpoints.path(), run_case);
  EXPECT_EQ(found.folder, older);
  EXPECT_EQ(found.steps_done, 15U);
  const auto resumed = train_ranks(run_case, spools.path(), {}, {checkpoints.path(), older});
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const Curve all = curve_of(whole[rank]), rest = curve_of(resumed[rank]);
    EXPECT_EQ(rest.hash, all.hash) << resumed[rank].text;
    EXPECT_EQ(rest.losses, std::vector<double>(all.losses.begin() + 15, all.losses.end()));
  }
  EXPECT_EQ(names_in(checkpoints.path()), (std::vector<std::string>{"step-00000015", "step-00000020"}));
}

INSTANTIATE_TEST_SUITE_P(All, Resumed,
                         testing::Values(Interrupted{"ddp", "sgd", 0.1, 1},
                                         Interrupted{"zero2", "adamw", 0.01, 3},
                                         Interrupted{"zero1", "adamw", 0.01, 1, {{"offload", "optimizer"}}},
                                         Interrupted{"zero3", "adamw", 0.01, 2},
                                         Interrupted{"ps", "lamb", 0.01, 1}),
                         [](const auto& instance) { return instance.param.strategy; });

TEST(Resumed, FromWhateverAKillLeftBehind) {
  const RunCase run_case = checkpointed(2);
  const test::TemporaryDirectory spools, undisturbed, killed;
  const auto whole = train_ranks(run_case, spools.path(), {}, {undisturbed.path(), {}});
  train_ranks(run_case, spools.path(),
              [](int rank, std::uint32_t step, auto&) {
                if (rank == 1 && step == 12) kill(getpid(), SIGKILL);
              },
              {killed.path(), {}});
  fs::create_directory(killed.path() / ".step-00000015.partial");
  write_file(killed.path() / ".step-00000015.partial/state-0.safetensors", "half of it");
  const Checkpoint found = find_checkpoint(killed.path(), run_case);
  EXPECT_EQ(found.steps_done, 10U);
  const auto resumed = train_ranks(run_case, spools.path(), {}, {killed.path(), found.folder});
  EXPECT_EQ(curve_of(resumed[1]).hash, curve_of(whole[1]).hash) << resumed[1].text;
  EXPECT_EQ(names_in(killed.path()), names_in(undisturbed.path())) << "what was begun before was in the way";
}

/// Of the steps in a spool those that have nothing but their own span.
std::vector<std::uint32_t> probe_off_steps(const fs::path& spool) {
  std::vector<std::uint32_t> steps;
  for (const Span& span : host::SpoolReader(spool).read().spans) {
    if (span.kind == SpanKind::kStep && span.bucket == 0) steps.push_back(span.step);
  }
  return steps;
}

TEST(Resumed, ItsFirstStepsAreAWarmUpAgain) {
  RunCase run_case = checkpointed(2);
  run_case.warmup = 4;
  run_case.steps = 16;
  const test::TemporaryDirectory spools, resumed_spools, checkpoints;
  train_ranks(run_case, spools.path(), {}, {checkpoints.path(), {}});
  const Checkpoint found = find_checkpoint(checkpoints.path(), run_case);
  ASSERT_EQ(found.steps_done, 20U);
  fs::remove_all(found.folder);
  const fs::path at_15 = find_checkpoint(checkpoints.path(), run_case).folder;
  EXPECT_EQ(steps_done_at(at_15), 15U);
  run_case.steps = 22;  // and so six more than the checkpoint's run
  train_ranks(run_case, resumed_spools.path(), {}, {checkpoints.path(), at_15});
  const auto expected = [&](std::uint32_t first_step, std::uint32_t first_measured, std::uint32_t end) {
    std::vector<std::uint32_t> off;
    for (std::uint32_t step = first_step; step < end; ++step) {
      if (!is_probed(step, first_measured)) off.push_back(step);
    }
    return off;
  };
  EXPECT_EQ(probe_off_steps(spools.path() / "0.spool"), expected(0, 4, 20));
  const std::vector<std::uint32_t> off = probe_off_steps(resumed_spools.path() / "0.spool");
  EXPECT_EQ(off, expected(15, 19, 26));
  ASSERT_FALSE(off.empty());
  EXPECT_GE(off.front(), 21U) << "the warm-up and the first two measured steps have their spans";
}

TEST(Resumed, WithAllStepsDoneHasNoLossAndNoCostOfProbes) {
  const RunCase run_case = checkpointed(1);
  const test::TemporaryDirectory spools, resumed_spools, checkpoints;
  const auto whole = train_ranks(run_case, spools.path(), {}, {checkpoints.path(), {}});
  const auto none = train_ranks(run_case, resumed_spools.path(), {}, {checkpoints.path(), checkpoints.path() / "step-00000020"});
  EXPECT_EQ(curve_of(none[0]).hash, curve_of(whole[0]).hash) << none[0].text;
  EXPECT_TRUE(curve_of(none[0]).losses.empty());
  const host::SpoolBatch batch = host::SpoolReader(resumed_spools.path() / "0.spool").read();
  for (const host::Scalar& scalar : batch.scalars) EXPECT_FALSE(batch.new_names.at(scalar.name_id).starts_with("probe_cost."));
}

TEST(Resumed, EndsByItsTargetInTheStepInWhichItWouldHave) {
  RunCase run_case = checkpointed(1);
  run_case.batch_per_gpu = 1024;  // two steps fill the window of losses
  run_case.warmup = 0;
  run_case.steps = 60;
  run_case.lr = 0.1;
  run_case.checkpoint_every = 1;
  run_case.target_loss = 1.5;
  const test::TemporaryDirectory spools, checkpoints;
  const auto whole = train_ranks(run_case, spools.path(), {}, {checkpoints.path(), {}});
  const Curve all = curve_of(whole[0]);
  ASSERT_LT(all.losses.size(), 60U) << whole[0].text;
  ASSERT_GT(all.losses.size(), 3U);
  const Checkpoint newest = find_checkpoint(checkpoints.path(), run_case);
  EXPECT_EQ(newest.steps_done, all.losses.size() - 1) << "none of the step that reached it";
  run_case.warmup = 2;  // of which the resumed run has one step
  run_case.steps = 58;
  const auto resumed = train_ranks(run_case, spools.path(), {}, {checkpoints.path(), newest.folder});
  EXPECT_EQ(curve_of(resumed[0]).losses, (std::vector<double>{all.losses.back()})) << resumed[0].text;
  EXPECT_EQ(curve_of(resumed[0]).hash, all.hash);
}

/// Collects what a checkpoint reports while it is written and read.
class WorkNotes final : public TrainingMonitor {
 public:
  void on_step(std::uint32_t, double) override {}
  void on_collective_begin(std::string_view, std::uint64_t) noexcept override {}
  void on_collective_end(std::uint64_t) noexcept override {}
  void on_long_work(LongWork work) noexcept override { ++pieces[static_cast<std::size_t>(work)]; }
  std::array<int, kLongWorks> pieces{};
};

TEST(LongWork, IsReportedTensorByTensor) {
  RunCase run_case = checkpointed(1);
  run_case.batch_per_gpu = 24;
  const test::TemporaryDirectory spools, checkpoints;
  const auto work_of = [&](const fs::path& resume_from) {
    const auto outcome = test::run_ranks(1, [&](int, collective::KeyValueStore& store) {
      const auto communicator = collective::make_communicator("gloo", {.rank = 0, .world_size = 1}, store);
      host::Recorder recorder(
          host::RecorderOptions{.spool = spools.path() / "0.spool", .ring_capacity = 1 << 12, .rank = 0, .run_id = "test"});
      WorkNotes notes;
      train(run_case, *communicator, recorder, notes, {checkpoints.path(), resume_from});
      recorder.stop();
      return fmt::format("{}", fmt::join(notes.pieces, " "));
    });
    EXPECT_FALSE(outcome[0].failed) << outcome[0].text;
    std::array<int, kLongWorks> pieces{};
    std::istringstream text(outcome[0].text);
    for (int& count : pieces) text >> count;
    return pieces;
  };
  constexpr int kTensors = 4;  // and as many of the optimizer
  const auto fresh = work_of({});
  EXPECT_GE(fresh[static_cast<std::size_t>(LongWork::kDrawParameters)], kTensors);
  EXPECT_EQ(fresh[static_cast<std::size_t>(LongWork::kReadCheckpoint)], 0);
  EXPECT_GE(fresh[static_cast<std::size_t>(LongWork::kWriteCheckpoint)], 4 * 2 * kTensors) << "four checkpoints";
  EXPECT_GE(fresh[static_cast<std::size_t>(LongWork::kHashParameters)], kTensors);
  EXPECT_GT(fresh[static_cast<std::size_t>(LongWork::kNone)], 0) << "it ends";
  const auto resumed = work_of(checkpoints.path() / "step-00000015");
  EXPECT_EQ(resumed[static_cast<std::size_t>(LongWork::kDrawParameters)], 0) << "they come from the checkpoint";
  EXPECT_GE(resumed[static_cast<std::size_t>(LongWork::kReadCheckpoint)], 2 * kTensors);
}

class Checkpoints : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = std::make_unique<test::TemporaryDirectory>();
    RunCase run_case = checkpointed(1);
    run_case.accumulate = 1;
    const test::TemporaryDirectory spools;
    for (const auto& outcome : train_ranks(run_case, spools.path(), {}, {directory_->path(), {}}))
      ASSERT_FALSE(outcome.failed) << outcome.text;
    batch_ = host::SpoolReader(spools.path() / "0.spool").read();
  }
  static void TearDownTestSuite() { directory_.reset(); }

  static fs::path newest() { return directory_->path() / "step-00000020"; }
  static inline std::unique_ptr<test::TemporaryDirectory> directory_;
  static inline host::SpoolBatch batch_;
};

TEST_F(Checkpoints, AreSafetensors) {
  const std::string bytes = read_file(newest() / "parameters.safetensors");
  std::uint64_t length = 0;
  ASSERT_GT(bytes.size(), 8U);
  std::memcpy(&length, bytes.data(), 8);
  const auto header = nlohmann::json::parse(bytes.substr(8, length));
  EXPECT_EQ((8 + length) % 8, 0U) << "the data are aligned";
  EXPECT_EQ(header.at("__metadata__").at("steps_done"), "20");
  const auto& weight = header.at("layer0.weight");
  EXPECT_EQ(weight.at("dtype"), "F32");
  EXPECT_EQ(weight.at("shape"), (std::vector<int>{24, 784}));
  EXPECT_EQ(header.at("layer0.bias").at("shape"), std::vector<int>{24});
  const std::size_t begin = weight.at("data_offsets")[0], end = weight.at("data_offsets")[1];
  EXPECT_EQ(end - begin, 24U * 784U * 4U);
  EXPECT_EQ(bytes.size(), 8 + length + 4 * (24 * 784 + 24 + 10 * 24 + 10));
  const std::string state = read_file(newest() / "state-0.safetensors");
  EXPECT_NE(state.find("layer1.weight/velocity"), std::string::npos);
}

TEST_F(Checkpoints, CostIsASpanOfItsStep) {
  std::vector<std::uint32_t> steps, timed;
  for (const Span& span : batch_.spans) {
    if (batch_.new_names.at(span.name_id) != "checkpoint") continue;
    EXPECT_EQ(span.kind, SpanKind::kCopy);
    EXPECT_EQ(span.bytes, 2U * 4U * (24 * 784 + 24 + 10 * 24 + 10));
    steps.push_back(span.step);
  }
  for (const host::Scalar& scalar : batch_.scalars) {
    if (batch_.new_names.at(scalar.name_id) != "checkpoint_seconds") continue;
    EXPECT_GT(scalar.value, 0);
    timed.push_back(scalar.step);
  }
  EXPECT_EQ(timed, (std::vector<std::uint32_t>{4, 9, 14, 19}));
  std::erase_if(timed, [](std::uint32_t step) { return !is_probed(step, checkpointed(1).first_measured_step(0)); });
  EXPECT_EQ(steps, timed) << "none in a probe-off window";
}

TEST_F(Checkpoints, DamageAnywhereIsFoundAndTheOneBeforeIsTaken) {
  std::mt19937 random(3);
  for (const char* name : {"parameters.safetensors", "state-0.safetensors"}) {
    const std::string good = read_file(newest() / name);
    for (int trial = 0; trial < 60; ++trial) {
      std::string bad = good;
      // Half of the trials hit the header.
      const std::size_t at = random() % (trial % 2 == 0 ? std::size_t{900} : bad.size());
      if (trial % 3 == 0) {
        bad.resize(at);
      } else {
        bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
      }
      if (bad == good) continue;
      write_file(newest() / name, bad);
      try {
        const Checkpoint found = find_checkpoint(directory_->path(), checkpointed(1));
        EXPECT_EQ(found.steps_done, 15U) << name << ", byte " << at;
        ASSERT_EQ(found.damaged.size(), 1U);
        EXPECT_NE(found.damaged[0].find("step-00000020"), std::string::npos) << found.damaged[0];
      } catch (const Error& error) {  // in the case's text: another run's
        EXPECT_EQ(error.code(), ErrorCode::kBadInput) << name << ", byte " << at;
        EXPECT_NE(error.message().find("step-00000020"), std::string::npos) << error.message();
      }
    }
    write_file(newest() / name, good);
  }
  EXPECT_EQ(find_checkpoint(directory_->path(), checkpointed(1)).steps_done, 20U);
}

TEST_F(Checkpoints, OfAnotherCaseIsRefusedWithWhatDiffers) {
  RunCase other = checkpointed(1);
  other.lr = 0.25;
  std::get<ReferenceWorkload>(other.work).options = {{"hidden", "32"}};
  const std::string message = message_of([&] { find_checkpoint(directory_->path(), other); });
  EXPECT_NE(message.find("is of another run"), std::string::npos) << message;
  EXPECT_NE(message.find("lr is 0.05 there and 0.25 here"), std::string::npos) << message;
  EXPECT_NE(message.find(R"(workload_options.hidden is "24" there and "32" here)"), std::string::npos)
      << message;
}

TEST_F(Checkpoints, ANameThatReportsOtherStepsIsNoGood) {
  const test::TemporaryDirectory copy;
  fs::copy(newest(), copy.path() / "step-00000017", fs::copy_options::recursive);
  const std::string message = message_of([&] { find_checkpoint(copy.path(), checkpointed(1)); });
  EXPECT_NE(message.find("is of step-00000020"), std::string::npos) << message;
}

TEST_F(Checkpoints, NoneIsSaidSo) {
  const test::TemporaryDirectory empty;
  for (const fs::path& directory : {empty.path(), empty.path() / "missing"}) {
    const std::string message = message_of([&] { find_checkpoint(directory, checkpointed(1)); });
    EXPECT_NE(message.find("there is no checkpoint to continue from in " + directory.string()),
              std::string::npos)
        << message;
  }
}

TEST(CheckpointFiles, AreDistinguishedFromThoseOfOthersByTheirNames) {
  for (const char* ours : {"step-00000010/", "step-00000010/parameters.safetensors",
                           "step-00000010/state-0.safetensors", "step-123456789/state-12.safetensors",
                           ".step-00000010.partial/", ".step-00000010.partial/state-1.safetensors"})
    EXPECT_TRUE(is_checkpoint_file(ours)) << ours;
  for (const char* foreign :
       {"", "/", "notes.txt", "step-00000010", "step-1/", "step-0000001x/", "step-00000010/notes.txt",
        "step-00000010/state-.safetensors", "step-00000010/state-0.safetensors/",
        "step-00000010/deep/parameters.safetensors", "step-00000010.partial/", ".step-00000010/",
        "steps/parameters.safetensors", "parameters.safetensors"})
    EXPECT_FALSE(is_checkpoint_file(foreign)) << foreign;
}

TEST(CheckpointFiles, TheFolderNamesTheStepsDone) {
  EXPECT_EQ(steps_done_at("/runs/a/step-00000660"), 660U);
  EXPECT_EQ(steps_done_at("step-123456789"), 123'456'789U);
  for (const char* other : {"", "/", "/runs/a", ".step-00000660.partial", "step-", "step-99999999999999999999"})
    EXPECT_EQ(steps_done_at(other), 0U) << other;
}

TEST(PartialCheckpoints, AreRemovedAndNothingElse) {
  const test::TemporaryDirectory directory;
  fs::create_directories(directory.path() / ".step-00000010.partial");
  write_file(directory.path() / ".step-00000010.partial/state-0.safetensors", "half");
  fs::create_directories(directory.path() / "step-00000005");
  write_file(directory.path() / ".notes", "mine");
  remove_partial_checkpoints(directory.path());
  remove_partial_checkpoints(directory.path() / "missing");
  EXPECT_EQ(names_in(directory.path()), (std::vector<std::string>{".notes", "step-00000005"}));
}

}  // namespace
}  // namespace ddbench::ddp
