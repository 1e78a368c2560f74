// Compares every rank's result of each Gloo collective with the definition.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <thread>

#include "core/error.h"
#include "forked_ranks.h"
#include "harness/collective/communicator.h"
#include "hang_limit.h"
#include "sixteen_bits.h"

namespace ddbench::collective {
namespace {

using test::Numbers;

// In elements of a chunk: nothing, fewer than ranks, odd, more than one segment of any ring.
constexpr std::int64_t kSizes[] = {0, 1, 3, 17, 4099, 290'003};

struct Case {
  int world;
  ElementType type;
};

const char* name_of(ElementType type) {
  return type == ElementType::kFloat32 ? "float32" : type == ElementType::kFloat16 ? "float16" : "bfloat16";
}

class Collectives : public testing::TestWithParam<Case> {
 protected:
  /// Runs `body` for all sizes on all ranks; it returns what is wrong.
  using Body = std::function<std::string(Communicator&, ElementType, std::int64_t size)>;
  static void on_all_ranks(const Body& body) {
    const int world = GetParam().world;
    const ElementType type = GetParam().type;
    const auto outcomes = test::run_ranks(world, [&](int rank, KeyValueStore& store) -> std::string {
      const auto communicator = make_communicator("gloo", {.rank = rank, .world_size = world}, store);
      for (const std::int64_t size : kSizes) {
        const std::string wrong = body(*communicator, type, size);
        if (!wrong.empty()) return fmt::format("{} elements: {}", size, wrong);
      }
      return "ok";
    });
    for (const auto& outcome : outcomes) EXPECT_EQ(outcome.text, "ok");
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, Collectives,
                         testing::Values(Case{1, ElementType::kFloat32}, Case{2, ElementType::kFloat32},
                                         Case{2, ElementType::kBfloat16}, Case{3, ElementType::kFloat16},
                                         Case{4, ElementType::kFloat32}),
                         [](const auto& tested) {
                           return fmt::format("{}_{}", tested.param.world, name_of(tested.param.type));
                         });

/// Small whole numbers: their sums over four ranks are exact in all three formats.
double mark(int rank, std::int64_t i) {
  return static_cast<double>(rank + 1) + static_cast<double>(i % 13);
}

double sum_of_marks(int world, std::int64_t i) {
  double sum = 0;
  for (int rank = 0; rank < world; ++rank) sum += mark(rank, i);
  return sum;
}

Numbers marked(ElementType type, std::int64_t count, int rank) {
  Numbers numbers(type, count);
  for (std::int64_t i = 0; i < count; ++i) numbers.set(i, mark(rank, i));
  return numbers;
}

std::string first_wrong(const Numbers& numbers, std::int64_t begin, std::int64_t count,
                        const std::function<double(std::int64_t)>& wanted) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (numbers.at(begin + i) != wanted(i))
      return fmt::format("element {} is {}, not {}", begin + i, numbers.at(begin + i), wanted(i));
  }
  return {};
}

TEST_P(Collectives, AllReduceSums) {
  on_all_ranks([](Communicator& ranks, ElementType type, std::int64_t size) {
    Numbers data = marked(type, size, ranks.rank());
    ranks.all_reduce_sum(data.elements());
    return first_wrong(data, 0, size, [&](auto i) { return sum_of_marks(ranks.world_size(), i); });
  });
}

TEST_P(Collectives, ReduceSumsOnEachRoot) {
  on_all_ranks([](Communicator& ranks, ElementType type, std::int64_t size) {
    for (int root = 0; root < ranks.world_size(); ++root) {
      Numbers data = marked(type, size, ranks.rank());
      ranks.reduce_sum(data.elements(), root);
      if (ranks.rank() != root) continue;
      auto wrong = first_wrong(data, 0, size, [&](auto i) { return sum_of_marks(ranks.world_size(), i); });
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  });
}

TEST_P(Collectives, BroadcastCopiesEachRoot) {
  on_all_ranks([](Communicator& ranks, ElementType type, std::int64_t size) {
    for (int root = 0; root < ranks.world_size(); ++root) {
      Numbers data = marked(type, size, ranks.rank());
      ranks.broadcast(data.elements(), root);
      auto wrong = first_wrong(data, 0, size, [&](auto i) { return mark(root, i); });
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  });
}

TEST_P(Collectives, ReduceScatterLeavesEachRankItsChunk) {
  on_all_ranks([](Communicator& ranks, ElementType type, std::int64_t size) {
    const int world = ranks.world_size();
    const std::int64_t own = ranks.rank() * size;
    const auto wanted = [&](auto i) { return sum_of_marks(world, own + i); };
    Numbers input = marked(type, size * world, ranks.rank());
    Numbers output(type, size);
    ranks.reduce_scatter_sum(input.elements(), output.elements());
    auto wrong = first_wrong(output, 0, size, wanted);
    if (!wrong.empty()) return wrong;
    Numbers data = marked(type, size * world, ranks.rank());
    ranks.reduce_scatter_sum(data.elements(), data.elements().part(own, size));
    wrong = first_wrong(data, own, size, wanted);
    return wrong.empty() ? wrong : "in place: " + wrong;
  });
}

TEST_P(Collectives, AllGatherPutsInputsInTheOrderOfRanks) {
  on_all_ranks([](Communicator& ranks, ElementType type, std::int64_t size) {
    const int world = ranks.world_size();
    Numbers input = marked(type, size, ranks.rank());
    Numbers output(type, size * world);
    Numbers data(type, size * world);
    for (std::int64_t i = 0; i < size; ++i) data.set(ranks.rank() * size + i, mark(ranks.rank(), i));
    ranks.all_gather(input.elements(), output.elements());
    ranks.all_gather(data.elements().part(ranks.rank() * size, size), data.elements());
    for (int rank = 0; rank < world; ++rank) {
      const auto wanted = [&](auto i) { return mark(rank, i); };
      auto wrong = first_wrong(output, rank * size, size, wanted);
      if (!wrong.empty()) return wrong;
      wrong = first_wrong(data, rank * size, size, wanted);
      if (!wrong.empty()) return "in place: " + wrong;
    }
    return first_wrong(input, 0, size, [&](auto i) { return mark(ranks.rank(), i); });
  });
}

TEST_P(Collectives, AllToAllTransposesChunks) {
  on_all_ranks([](Communicator& ranks, ElementType type, std::int64_t size) {
    const int world = ranks.world_size();
    Numbers input = marked(type, size * world, ranks.rank());
    Numbers output(type, size * world);
    ranks.all_to_all(input.elements(), output.elements());
    for (int from = 0; from < world; ++from) {
      auto wrong =
          first_wrong(output, from * size, size, [&](auto i) { return mark(from, ranks.rank() * size + i); });
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  });
}

TEST_P(Collectives, SendsAndReceivesKeepTheirOrder) {
  on_all_ranks([](Communicator& ranks, ElementType type, std::int64_t size) -> std::string {
    // Round the ring twice; even ranks send first.
    const int world = ranks.world_size();
    if (world == 1) return {};  // no receiver: tests/unit/harness/collective/communicator_test.cpp
    const int next = (ranks.rank() + 1) % world;
    const int previous = (ranks.rank() + world - 1) % world;
    for (int round = 0; round < 2; ++round) {
      Numbers sent = marked(type, size, ranks.rank() + round);
      Numbers received(type, size);
      if (ranks.rank() % 2 == 0) ranks.send(sent.elements(), next);
      ranks.receive(received.elements(), previous);
      if (ranks.rank() % 2 == 1) ranks.send(sent.elements(), next);
      auto wrong = first_wrong(received, 0, size, [&](auto i) { return mark(previous + round, i); });
      if (!wrong.empty()) return wrong;
    }
    return {};
  });
}

// Sums that round at every hop: what a rank holds may be a little off, but must not differ between ranks.
TEST_P(Collectives, EveryRankHoldsTheSameBits) {
  const auto [world, type] = GetParam();
  const auto outcomes = test::run_ranks(world, [&, w = world, t = type](int rank, KeyValueStore& store) {
    const auto communicator = make_communicator("gloo", {.rank = rank, .world_size = w}, store);
    Numbers data(t, 5003);
    for (std::int64_t i = 0; i < 5003; ++i) data.set(i, 0.1 * (rank + 1) + static_cast<double>(i % 97));
    communicator->all_reduce_sum(data.elements());
    for (std::int64_t i = 0; i < 5003; ++i) {
      const double wanted = 0.1 * w * (w + 1) / 2 + w * static_cast<double>(i % 97);
      if (std::abs(data.at(i) - wanted) > 0.02 * wanted)
        return fmt::format("element {} is {}", i, data.at(i));
    }
    return std::string(data.bytes().begin(), data.bytes().end());
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome.text.size(), static_cast<std::size_t>(5003 * size_of(type)));
    EXPECT_TRUE(outcome.text == outcomes[0].text);
  }
}

std::optional<ErrorCode> error_code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

TEST(GlooCollectives, BuffersThatDoNotFitAreRefusedAndHarmNothing) {
  const auto outcomes = test::run_ranks(2, [](int rank, KeyValueStore& store) -> std::string {
    const auto ranks = make_communicator("gloo", {.rank = rank, .world_size = 2}, store);
    Numbers six(ElementType::kFloat32, 6);
    Numbers four(ElementType::kFloat32, 4);
    Numbers halves(ElementType::kFloat16, 3);
    Numbers three(ElementType::kFloat32, 3);
    const std::function<void()> misfits[] = {
        [&] { ranks->reduce_scatter_sum(six.elements(), four.elements()); },
        [&] { ranks->reduce_scatter_sum(six.elements(), halves.elements()); },
        [&] { ranks->all_gather(four.elements(), six.elements()); },
        [&] { ranks->all_gather(halves.elements(), six.elements()); },
        [&] { ranks->all_to_all(six.elements(), four.elements()); },
        [&] { ranks->all_to_all(three.elements(), halves.elements()); },
        [&] { ranks->all_to_all(three.elements(), three.elements()); },
        [&] { ranks->reduce_sum(six.elements(), 2); },
        [&] { ranks->broadcast(six.elements(), -1); },
        [&] { ranks->send(six.elements(), 2); },
        [&] { ranks->send(six.elements(), rank); },
        [&] { ranks->receive(six.elements(), rank); },
    };
    int i = 0;
    for (const auto& misfit : misfits) {
      if (error_code_of(misfit) != ErrorCode::kBadInput) return fmt::format("misfit {} was taken", i);
      ++i;
    }
    six.set(0, rank + 1);
    ranks->all_reduce_sum(six.elements());
    return fmt::format("{}", six.at(0));
  });
  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.text, "3");
}

TEST(GlooCollectives, AbortEndsEachOfThem) {
  using Action = std::function<void(Communicator&, Elements, Elements)>;
  const Action actions[] = {
      [](Communicator& ranks, Elements data, Elements) { ranks.reduce_sum(data, 0); },
      [](Communicator& ranks, Elements data, Elements) {
        ranks.reduce_scatter_sum(data, data.part(0, data.count / 2));
      },
      [](Communicator& ranks, Elements data, Elements) {
        ranks.all_gather(data.part(0, data.count / 2), data);
      },
      [](Communicator& ranks, Elements data, Elements other) { ranks.all_to_all(data, other); },
      [](Communicator& ranks, Elements data, Elements) { ranks.receive(data, 1); },
      [](Communicator& ranks, Elements data, Elements) { ranks.broadcast(data, 1); },
  };
  for (const Action& action : actions) {
    const auto outcomes = test::run_ranks(2, [&](int rank, KeyValueStore& store) -> std::string {
      const auto ranks = make_communicator("gloo", {.rank = rank, .world_size = 2}, store);
      if (rank == 1) {  // is there, but never joins
        store.get("over", test::kHangs);
        ranks->abort();
        return "aborted";
      }
      std::jthread aborter([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        ranks->abort();
      });
      Numbers data(ElementType::kFloat32, 1 << 20);
      Numbers other(ElementType::kFloat32, 1 << 20);
      std::string message = "nothing was thrown";
      try {
        action(*ranks, data.elements(), other.elements());
      } catch (const Error& error) {
        message = error.message();
      }
      store.set("over", {'1'});
      return message;
    });
    EXPECT_NE(outcomes[0].text.find("failed on rank 0 of 2: aborted"), std::string::npos) << outcomes[0].text;
  }
}

}  // namespace
}  // namespace ddbench::collective
