#include "harness/launch/steps/last_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "harness/launch/worker/training_state.h"

namespace ddbench::launch {
namespace {

/// Ranks that train in lock step, at most one step apart, and a launcher. Messages take as many turns as chance wants; a
/// rank's own messages keep their order.
class World {
 public:
  World(std::size_t ranks, std::uint64_t seed) : agreement_(ranks), random_(seed) {
    for (std::size_t i = 0; i < ranks; ++i) {
      ranks_.emplace_back();
      ranks_.back().state.on_begin(0);
    }
  }

  void post(const Message& message) {
    for (Rank& rank : ranks_) rank.inbox.push_back({message, delay()});
  }
  void hold(std::int64_t lead_ns) { post(agreement_.ask(lead_ns)); }

  /// One thing happens somewhere.
  void turn() {
    for (std::size_t i = 0; i < ranks_.size(); ++i) deliver(i);
    Rank& rank = ranks_[std::uniform_int_distribution<std::size_t>(0, ranks_.size() - 1)(random_)];
    if (rank.ended_with || rank.done > least_done()) return;
    if (rank.horizon && rank.done >= *rank.horizon && !rank.knows_last) return;  // it would wait
    if (rank.state.end_after(rank.done).is_last) rank.ended_with = rank.done;
    ++rank.done;
  }

  bool all_ended() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.ended_with.has_value(); });
  }
  std::set<std::uint32_t> ends() const {
    std::set<std::uint32_t> ends;
    for (const Rank& rank : ranks_) ends.insert(*rank.ended_with);
    return ends;
  }
  std::uint32_t waits() const {
    std::uint32_t waits = 0;
    for (const Rank& rank : ranks_) waits += rank.state.waits().count;
    return waits;
  }
  const LastStepAgreement& agreement() const { return agreement_; }

 private:
  struct Post {
    Message message;
    int turns = 0;
  };
  struct Rank {
    TrainingState state;
    std::deque<Post> inbox, outbox;
    std::uint32_t done = 0;
    std::optional<std::uint32_t> horizon;
    bool knows_last = false;
    std::optional<std::uint32_t> ended_with;
  };

  int delay() { return std::uniform_int_distribution<int>(0, 60)(random_); }
  std::uint32_t least_done() const {
    std::uint32_t least = ~0U;
    for (const Rank& rank : ranks_) least = std::min(least, rank.done);
    return least;
  }

  void deliver(std::size_t index) {
    Rank& rank = ranks_[index];
    if (!rank.inbox.empty() && rank.inbox.front().turns-- <= 0) {
      const Message message = rank.inbox.front().message;
      rank.inbox.pop_front();
      if (const auto* hold = std::get_if<Hold>(&message)) {
        rank.horizon = rank.state.hold(hold->lead_ns);
        rank.knows_last = false;
        rank.outbox.push_back({Holding{hold->round, *rank.horizon}, delay()});
      } else {
        rank.state.set_last_step(std::get<LastStep>(message).step, false);
        rank.knows_last = true;
      }
    }
    if (rank.outbox.empty() || rank.outbox.front().turns-- > 0) return;
    const auto holding = std::get<Holding>(rank.outbox.front().message);
    rank.outbox.pop_front();
    if (const auto last = agreement_.add(index, holding)) post(LastStep{*last, false});
  }

  LastStepAgreement agreement_;
  std::mt19937_64 random_;
  std::deque<Rank> ranks_;
};

void turns(World& world, int count) {
  for (int i = 0; i < count; ++i) world.turn();
}

void until_all_ended(World& world) {
  for (int i = 0; i < 10'000'000 && !world.all_ended(); ++i) world.turn();
}

TEST(LastStep, AllRanksEndWithItHoweverLateMessagesAre) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    World world(2 + seed % 7, seed);
    turns(world, 200);
    // Steps of this world take no time: the lead is that of thousands of them.
    world.hold(seed % 2 == 0 ? 1'000'000 : 0);
    until_all_ended(world);
    ASSERT_TRUE(world.all_ended()) << seed;
    EXPECT_EQ(world.ends(), std::set{*world.agreement().last_step()}) << seed;
    EXPECT_EQ(world.waits(), 0u) << seed;
  }
}

TEST(LastStep, ALaterRoundVoidsTheEarlierOneWhateverWasSaidOfIt) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    World world(2 + seed % 5, seed);
    turns(world, 100);
    world.hold(10'000);
    turns(world, static_cast<int>(seed));  // now and then its last step was named, or some ranks ended
    world.hold(0);
    until_all_ended(world);
    ASSERT_TRUE(world.all_ended()) << seed;
    EXPECT_EQ(world.ends(), std::set{*world.agreement().last_step()}) << seed;
  }
}

TEST(LastStep, AnswersToEarlierRoundsAndSecondOnesChangeNothing) {
  LastStepAgreement agreement(2);
  EXPECT_EQ(agreement.add(0, {0, 5}), std::nullopt);  // no round is open
  const Hold first = agreement.ask(1000);
  EXPECT_EQ(agreement.add(0, {first.round, 50}), std::nullopt);
  const Hold second = agreement.ask(0);
  EXPECT_NE(first.round, second.round);
  EXPECT_EQ(agreement.add(1, {first.round, 60}), std::nullopt);
  EXPECT_EQ(agreement.add(0, {second.round, 7}), std::nullopt);
  EXPECT_EQ(agreement.add(1, {second.round, 8}), 8u);
  EXPECT_EQ(agreement.add(1, {second.round, 9}), std::nullopt);
  EXPECT_EQ(agreement.last_step(), 8u);
}

}  // namespace
}  // namespace ddbench::launch
