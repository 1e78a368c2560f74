// Gloo between real processes over loopback TCP.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <numeric>
#include <thread>

#include "core/error.h"
#include "forked_ranks.h"
#include "hang_limit.h"
#include "harness/collective/communicator.h"

namespace ddbench::collective {
namespace {

using namespace std::chrono_literals;
using test::RankOutcome;
using test::run_ranks;

constexpr std::size_t kLarge =
    32u << 20;  // 128 MiB: more than sockets hold, a transfer that can be cut in the middle

std::unique_ptr<Communicator> join(int rank, int world, KeyValueStore& store,
                                   std::chrono::milliseconds timeout = test::kHangs) {
  return make_communicator("gloo", {.rank = rank, .world_size = world, .timeout = timeout}, store);
}

Bytes bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

void expect_all(const std::vector<RankOutcome>& outcomes, const std::string& text) {
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank)
    EXPECT_EQ(outcomes[rank].text, text) << "rank " << rank;
}

void expect_contains(const RankOutcome& outcome, const std::string& part) {
  EXPECT_NE(outcome.text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << outcome.text;
}

std::string bits(std::span<const float> data) {
  std::uint64_t hash = 14695981039346656037U;
  for (const float value : data) {
    std::uint32_t word;
    std::memcpy(&word, &value, sizeof(word));
    hash = (hash ^ word) * 1099511628211U;
  }
  return fmt::format("{:016x}", hash);
}

/// The text of the Error that ends `action`. A collective that nothing else ends is ended by its time-out of
/// 60 s, which has another text.
std::string error_that_ends(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.message();
  }
  return "nothing was thrown";
}

class World : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, World, testing::Values(2, 3, 4));

// 0.1 * rank has no short binary form: the order of the additions shows in the bits.
float contribution(int rank, std::size_t i) {
  return 0.1F * static_cast<float>(rank + 1) + static_cast<float>(i % 97);
}

TEST_P(World, AllReduceSumsAndGivesEveryRankTheSameBits) {
  const int world = GetParam();
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{700'001}}) {
    const auto outcomes = run_ranks(world, [&](int rank, KeyValueStore& store) {
      const auto communicator = join(rank, world, store);
      std::vector<float> data(size);
      for (std::size_t i = 0; i < size; ++i) data[i] = contribution(rank, i);
      communicator->all_reduce_sum(data);
      for (std::size_t i = 0; i < size; ++i) {
        double expected = 0;
        for (int other = 0; other < world; ++other) expected += contribution(other, i);
        if (std::abs(data[i] - expected) > 1e-6 * expected)
          return fmt::format("element {} is {}", i, data[i]);
      }
      return bits(data);
    });
    EXPECT_EQ(outcomes[0].text.size(), 16U) << outcomes[0].text;
    expect_all(outcomes, outcomes[0].text);
  }
}

TEST_P(World, CollectivesFollowEachOther) {
  const int world = GetParam();
  const auto outcomes = run_ranks(world, [&](int rank, KeyValueStore& store) -> std::string {
    const auto communicator = join(rank, world, store);
    for (int round = 0; round < 50; ++round) {
      const int root = round % world;
      std::vector<float> data(static_cast<std::size_t>(100 + round), static_cast<float>(rank + round));
      communicator->broadcast(data, root);
      const auto is = [&data](float wanted) {
        return std::all_of(data.begin(), data.end(), [&](float v) { return v == wanted; });
      };
      if (!is(static_cast<float>(root + round))) return fmt::format("broadcast of round {}", round);
      communicator->all_reduce_sum(data);
      if (!is(static_cast<float>(world * (root + round))))
        return fmt::format("all_reduce of round {}", round);
      communicator->barrier();
    }
    return "ok";
  });
  expect_all(outcomes, "ok");
}

TEST_P(World, NobodyLeavesABarrierBeforeAllAreThere) {
  const int world = GetParam();
  const auto outcomes = run_ranks(world, [&](int rank, KeyValueStore& store) -> std::string {
    const auto communicator = join(rank, world, store);
    for (int round = 0; round < 5; ++round) {
      if (rank == round % world) std::this_thread::sleep_for(20ms);
      store.set(fmt::format("there/{}/{}", round, rank), {'1'});
      communicator->barrier();
      for (int other = 0; other < world; ++other) store.get(fmt::format("there/{}/{}", round, other), 1ms);
    }
    return "ok";
  });
  expect_all(outcomes, "ok");
}

TEST(Gloo, SaysWhatCarriesTheBytes) {
  expect_all(run_ranks(2, [](int rank, KeyValueStore& store) { return join(rank, 2, store)->transport(); }),
             "tcp lo 127.0.0.1");
}

TEST(Gloo, CommunicatorsOfOneProcessDoNotDisturbEachOther) {
  const auto outcomes = run_ranks(2, [](int rank, KeyValueStore& store) -> std::string {
    const auto first = make_communicator("gloo", {.rank = rank, .world_size = 2, .id = 1}, store);
    const auto second = make_communicator("gloo", {.rank = 1 - rank, .world_size = 2, .id = 2}, store);
    std::vector<float> data(10, static_cast<float>(rank));
    second->broadcast(data, 1);  // rank 0 of the first
    first->all_reduce_sum(data);
    return fmt::format("{} {}", data[0], second->id());
  });
  expect_all(outcomes, "0 2");
}

TEST(Gloo, AbortEndsACollectiveThatAPeerNeverJoins) {
  const auto outcomes = run_ranks(2, [](int rank, KeyValueStore& store) -> std::string {
    const auto communicator = join(rank, 2, store);
    if (rank == 1) {
      store.get("aborted", test::kHangs);
      return error_that_ends([&] { communicator->barrier(); });
    }
    std::jthread aborter([&] {
      std::this_thread::sleep_for(100ms);
      communicator->abort();
    });
    std::vector<float> data(1000);
    const std::string message = error_that_ends([&] { communicator->all_reduce_sum(data); });
    const std::string later = error_that_ends([&] { communicator->barrier(); });
    store.set("aborted", {'1'});
    return message + "; " + later;
  });
  EXPECT_EQ(outcomes[0].text,
            "all_reduce failed on rank 0 of 2: aborted; barrier failed on rank 0 of 2: aborted");
  expect_contains(outcomes[1], "barrier failed on rank 1 of 2: rank 0 at 127.0.0.1:");
}

TEST(Gloo, AbortEndsATransferWhosePeerStoppedInTheMiddle) {
  const auto outcomes = run_ranks(2, [](int rank, KeyValueStore& store) -> std::string {
    const auto communicator = join(rank, 2, store);
    std::vector<float> data(kLarge);
    if (rank == 1) {
      store.set("pid", bytes(std::to_string(getpid())));
      for (;;) communicator->all_reduce_sum(data);
    }
    const Bytes text = store.get("pid", test::kHangs);
    const pid_t peer = std::stoi(std::string(text.begin(), text.end()));
    std::jthread aborter([&] {
      std::this_thread::sleep_for(10ms);
      kill(peer, SIGSTOP);
      std::this_thread::sleep_for(100ms);
      communicator->abort();
    });
    const std::string message = error_that_ends([&] {
      for (;;) communicator->all_reduce_sum(data);
    });
    kill(peer, SIGKILL);
    return message;
  });
  EXPECT_EQ(outcomes[0].text, "all_reduce failed on rank 0 of 2: aborted");
  EXPECT_EQ(outcomes[1].killed_by_signal, SIGKILL);
}

TEST(Gloo, DeathOfAPeerInTheMiddleOfATransferEndsItOnEveryOtherRank) {
  const auto outcomes = run_ranks(4, [](int rank, KeyValueStore& store) -> std::string {
    const auto communicator = join(rank, 4, store);
    std::jthread killer([&] {
      if (rank != 2) return;
      std::this_thread::sleep_for(30ms);
      kill(getpid(), SIGKILL);
    });
    std::vector<float> data(kLarge / 8);
    const std::string message = error_that_ends([&] {
      for (;;) communicator->all_reduce_sum(data);
    });
    throw Error(ErrorCode::kRunFailed,
                message);  // as a worker would: the communicator is destroyed by an exception
  });
  EXPECT_EQ(outcomes[2].killed_by_signal, SIGKILL);
  for (const int survivor : {0, 1, 3}) {
    expect_contains(outcomes[survivor],
                    fmt::format("Error: all_reduce failed on rank {} of 4: rank ", survivor));
    expect_contains(outcomes[survivor], "closed its connection");
  }
}

TEST(Gloo, ExceptionOfOneRankEndsTheCollectivesOfTheOthers) {
  const auto outcomes = run_ranks(2, [](int rank, KeyValueStore& store) -> std::string {
    const auto communicator = join(rank, 2, store);
    communicator->barrier();  // before it, rank 0 may still be connecting
    if (rank == 1) throw Error(ErrorCode::kRunFailed, "the spool's disk is full");
    return error_that_ends([&] { communicator->barrier(); });
  });
  EXPECT_EQ(outcomes[1].text, "Error: the spool's disk is full");
  expect_contains(outcomes[0], "barrier failed on rank 0 of 2: rank 1 at");
}

TEST(Gloo, PeerThatDoesNotJoinIsATimeout) {
  const auto outcomes = run_ranks(2, [](int rank, KeyValueStore& store) -> std::string {
    const auto communicator = join(rank, 2, store, 3s);
    std::vector<float> data(10);
    if (rank == 1) {
      store.get("over", test::kHangs);
      return "ok";
    }
    const std::string message = error_that_ends([&] { communicator->all_reduce_sum(data); });
    store.set("over", {'1'});
    return message;
  });
  expect_contains(outcomes[0], "all_reduce failed on rank 0 of 2: ");
  expect_contains(outcomes[0], "Timed out waiting 3000ms");
}

TEST(Gloo, RankThatDoesNotComeIsNamedByItsKey) {
  const auto outcomes =
      run_ranks(1, [](int, KeyValueStore& store) { return join(1, 2, store, 200ms)->transport(); });
  expect_contains(outcomes[0], "Error: nobody set gloo/1/rank_0 within 200 ms");
}

TEST(Gloo, AddressOfAnotherMachineIsRefused) {
  const auto outcomes = run_ranks(1, [](int, KeyValueStore& store) {
    return make_communicator("gloo", {.rank = 0, .world_size = 2, .address = "192.0.2.1"}, store)
        ->transport();
  });
  expect_contains(outcomes[0], "Error: gloo cannot use the address 192.0.2.1 of this rank");
}

}  // namespace
}  // namespace ddbench::collective
