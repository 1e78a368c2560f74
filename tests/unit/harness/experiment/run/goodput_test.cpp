#include "harness/experiment/run/goodput.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/clock.h"
#include "core/facts/facts.h"
#include "harness/experiment/recover/recover_runs.h"
#include "temporary_directory.h"

namespace ddbench::experiment {
namespace {

constexpr std::int64_t kOneSecond_ns = 1'000'000'000;

class Goodput : public testing::Test {
 protected:
  /// A run on one rank whose steps from `first` to `end` took a second each, beginning at `begin_ns` of this machine's clocks.
  store::RunRecord run_of(std::uint32_t first, std::uint32_t end, const store::RunId& continues = {}, std::int64_t ago_s = 1000) {
    const std::int64_t wall_now_ns = wall_ns();
    const std::int64_t steady_now_ns = now_ns();
    store::RunRecord run;
    run.id = store::new_run_id();
    run.run_case.checkpoint_every = 20;
    run.state = store::RunState::kInterrupted;
    store::set_owner_to_this_process(run);
    run.started_wall_ns = wall_now_ns - ago_s * kOneSecond_ns;
    run.finished_wall_ns = run.started_wall_ns + (end - first) * kOneSecond_ns;
    if (!continues.empty()) {
      set_fact(run.environment.facts, fact_key<"resumed.from">, continues);
      set_fact(run.environment.facts, fact_key<"resumed.at_step">, first);
    }
    store_.create_run(run);
    std::vector<store::StepRecord> steps;
    for (std::uint32_t step = first; step < end; ++step) {
      store::StepRecord record;
      record.step = step;
      record.begin_ns = steady_now_ns - (ago_s - (step - first)) * kOneSecond_ns;
      record.duration_ns = kOneSecond_ns;
      steps.push_back(record);
    }
    store_.put_steps(run.id, steps);
    return run;
  }
  double fact_of(const store::RunId& id, FactKey<double> key) { return get_fact(store_.run(id)->environment.facts, key).value_or(-1); }

  test::TemporaryDirectory directory_;
  store::RunStore store_ = store::RunStore::open(directory_ / "results.db", store::OpenMode::kReadWrite);
};

TEST_F(Goodput, StepsThatWereDoneAgainCountOnce) {
  const store::RunId a = run_of(0, 100).id;
  const store::RunId b = run_of(80, 120, a).id;
  store_goodput(store_, b);
  EXPECT_NEAR(fact_of(b, fact_key<"goodput.useful_s">), 120, 1e-3);
  const store::RunId c = run_of(60, 130, b).id;  // b's last checkpoints were damaged
  store_goodput(store_, c);
  EXPECT_NEAR(fact_of(c, fact_key<"goodput.useful_s">), 130, 1e-3);
  EXPECT_NEAR(fact_of(c, fact_key<"goodput.total_s">), 100 + 40 + 70, 1e-3);
}

TEST_F(Goodput, OfAKilledRunEndsWithItsLastStep) {
  store::RunRecord run = run_of(0, 10, {}, 30);
  run.state = store::RunState::kRunning;
  run.finished_wall_ns = 0;
  store_.update_run(run);
  recover_run(store_, run, "its process was killed");
  EXPECT_NEAR(fact_of(run.id, fact_key<"goodput.total_s">), 10, 1) << "it was found 20 s later";
}

}  // namespace
}  // namespace ddbench::experiment
