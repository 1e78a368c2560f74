#include "harness/experiment/recover/take_over.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/facts/facts.h"
#include "expect_error.h"
#include "harness/experiment/ingest/life_signs.h"
#include "temporary_directory.h"

namespace ddbench::experiment {
namespace {

using namespace std::chrono_literals;

class TakeOverTest : public testing::Test {
 protected:
  /// Running, of another machine, with its last sign that long ago.
  store::RunRecord run_elsewhere(std::int64_t age_ns) {
    store::RunRecord run;
    run.id = store::new_run_id();
    store::set_owner_to_this_process(run);
    run.owner_host += "-other";
    run.started_wall_ns = wall_ns();
    set_fact(run.environment.facts, fact_key<"owner.heartbeat_wall_ns">, wall_ns() - age_ns);
    store_.create_run(run);
    return run;
  }
  void take(const store::RunRecord& run, TakeOver how = {}) {
    how.watch = 20ms;
    take_over(store_, run.id, how);
  }
  /// The owner elsewhere writes its sign, by its own clock.
  static void give_sign(store::RunStore& store, const store::RunRecord& run, std::int64_t sign_ns) {
    store::RunRecord now = *store.run(run.id);
    set_fact(now.environment.facts, fact_key<"owner.heartbeat_wall_ns">, sign_ns);
    store.update_run(now);
  }

  test::TemporaryDirectory directory_;
  store::RunStore store_ = store::RunStore::open(directory_ / "results.db", store::OpenMode::kReadWrite);
};

constexpr std::int64_t kOld_ns = 2 * store::kStaleAfter_ns;

TEST_F(TakeOverTest, ARunWithoutASignIsTakenOverAfterAWatch) {
  const store::RunRecord run = run_elsewhere(kOld_ns);
  int reported = 0;
  take(run, {.announce = [&](const std::string& text) {
         ++reported;
         EXPECT_NE(text.find("waiting up to 1 s for another sign"), std::string::npos) << text;
       }});
  EXPECT_EQ(reported, 1);
  const store::RunRecord taken = *store_.run(run.id);
  EXPECT_EQ(taken.state, store::RunState::kInterrupted);
  EXPECT_NE(taken.reason.find(run.owner_host), std::string::npos) << "the reason names who ran it: " << taken.reason;
  EXPECT_TRUE(store::is_of_this_host(taken)) << "a former owner that lives finds another in its place";
}

TEST_F(TakeOverTest, AnOwnerWhoseClockIsSlowIsSeenByItsSigns) {
  const store::RunRecord run = run_elsewhere(kOld_ns);
  std::jthread owner([&](const std::stop_token& stop) {
    auto store = store::RunStore::open(directory_ / "results.db", store::OpenMode::kReadWrite);
    for (std::int64_t sign = 1; !stop.stop_requested(); ++sign) {
      give_sign(store, run, wall_ns() - kOld_ns + sign);
      std::this_thread::sleep_for(1ms);
    }
  });
  // Until the owner has given its first one.
  while (is_unchanged(*store_.run(run.id), run)) std::this_thread::sleep_for(1ms);
  const TakeOver patient{.watch = 10min, .look_every = 5ms};
  EXPECT_ERROR(ErrorCode::kBadInput, "still running", take_over(store_, run.id, patient));
  EXPECT_TRUE(gone_runs(store_, std::vector<store::RunRecord>{run}, 1ms).empty()) << "its sign is not what it was";
  EXPECT_EQ(store_.run(run.id)->state, store::RunState::kRunning);
}

TEST_F(TakeOverTest, ARunThatAnotherProcessTookIsNotUnchanged) {
  const store::RunRecord run = run_elsewhere(kOld_ns);
  store::RunRecord other = run;
  other.owner_start_ticks += 1;
  EXPECT_TRUE(is_unchanged(run, run));
  EXPECT_FALSE(is_unchanged(other, run)) << "its pid was used again";
}

TEST_F(TakeOverTest, AProcessOfThisMachineThatLivesIsNotWaitedFor) {
  store::RunRecord run = run_elsewhere(kOld_ns);
  store::set_owner_to_this_process(run);
  store_.update_run(run);
  EXPECT_ERROR(ErrorCode::kBadInput, "End it first; --force takes it over at once", take(run, {.waits = true}));
  EXPECT_TRUE(gone_runs(store_, std::vector<store::RunRecord>{run}, 0ms).empty());
  take(run, {.forced = true});
  EXPECT_EQ(store_.run(run.id)->state, store::RunState::kInterrupted);
}

TEST_F(TakeOverTest, ARunOfADdbenchThatGaveNoSignsIsTakenByForce) {
  store::RunRecord run = run_elsewhere(0);
  run.environment.facts.erase("owner.heartbeat_wall_ns");
  store_.update_run(run);
  EXPECT_ERROR(ErrorCode::kBadInput, "last sign of life not known). End it first; --force takes it over at once", take(run, {.waits = true}));
  take(run, {.forced = true});
  EXPECT_NE(store_.run(run.id)->reason.find("taken over by --force"), std::string::npos);
}

TEST_F(TakeOverTest, ASignThatIsYoungIsRefusedWithoutAWait) {
  const store::RunRecord run = run_elsewhere(0);
  EXPECT_ERROR(ErrorCode::kBadInput, "After 900 s without one it may be taken over; --force", take(run));
}

TEST_F(TakeOverTest, ALivingDdbenchGivesSignsUntilItsRunIsClosed) {
  store::RunRecord run = run_elsewhere(kOld_ns);
  store::set_owner_to_this_process(run);
  store_.update_run(run);
  const LifeSigns life(store_.file(), run.id, 1ms);
  while (is_unchanged(*store_.run(run.id), run)) std::this_thread::sleep_for(1ms);
  store::RunRecord seen = *store_.run(run.id);
  while (is_unchanged(*store_.run(run.id), seen)) std::this_thread::sleep_for(1ms);
  run.state = store::RunState::kDone;
  store_.update_run(run);
  EXPECT_FALSE(has_fact(store_.run(run.id)->environment.facts, fact_key<"owner.heartbeat_wall_ns">));
}

}  // namespace
}  // namespace ddbench::experiment
