// Correct and wrong results of every collective are distinguished: over Gloo, and over a communicator that
// damages one element.
#include "harness/microbench/collective_call.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "forked_ranks.h"

namespace ddbench::micro {
namespace {

using analyzer::MicroOperation;
using collective::Communicator;
using collective::Elements;

/// Does what the real one does and then changes the last element of each result on one rank.
class Damaging final : public Communicator {
 public:
  Damaging(Communicator& real, int damaged_rank) : real_(real), damaged_rank_(damaged_rank) {}

  int rank() const noexcept override { return real_.rank(); }
  int world_size() const noexcept override { return real_.world_size(); }
  std::uint16_t id() const noexcept override { return real_.id(); }
  std::string transport() const override { return real_.transport(); }
  void all_reduce_sum(Elements data) override {
    real_.all_reduce_sum(data);
    damage(data);
  }
  void broadcast(Elements data, int root) override {
    real_.broadcast(data, root);
    damage(data);
  }
  void reduce_sum(Elements data, int root) override { real_.reduce_sum(data, root); }
  void reduce_scatter_sum(Elements input, Elements output) override {
    real_.reduce_scatter_sum(input, output);
    damage(output);
  }
  void all_gather(Elements input, Elements output) override {
    real_.all_gather(input, output);
    damage(output);
  }
  void all_to_all(Elements input, Elements output) override {
    real_.all_to_all(input, output);
    damage(output);
  }
  void send(Elements data, int peer) override { real_.send(data, peer); }
  void receive(Elements data, int peer) override { real_.receive(data, peer); }
  void barrier() override { real_.barrier(); }
  void abort() noexcept override { real_.abort(); }

 private:
  void damage(const Elements& result) const {
    if (rank() == damaged_rank_) static_cast<float*>(result.data)[result.count - 1] += 1;
  }

  Communicator& real_;
  int damaged_rank_;
};

constexpr std::int64_t kCounts[] = {1, 5, 4099};

/// Wrong elements of each count, with commas between.
std::string wrong_counts(Communicator& communicator, MicroOperation operation, bool in_place) {
  const auto device = device::make_device("cpu");
  const std::int64_t room = kCounts[2] * communicator.world_size();
  const device::Buffer input = device->allocate(room * 4);
  const device::Buffer output = device->allocate(room * 4);
  std::string text;
  for (const std::int64_t count : kCounts) {
    CollectiveCall call({operation, count, in_place}, {input.data(), 1, room}, {output.data(), 1, room},
                        communicator, *device);
    text += fmt::format("{}{}", text.empty() ? "" : ",", call.count_wrong());
    call.fill_with_zeros();
    call.run();
  }
  return text;
}

class Calls : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Worlds, Calls, testing::Values(2, 3, 4));

TEST_P(Calls, AreRightOverGlooAndDamageIsCounted) {
  const int world = GetParam();
  const auto outcomes = test::run_ranks(world, [&](int rank, collective::KeyValueStore& store) {
    const auto real = collective::make_communicator("gloo", {.rank = rank, .world_size = world}, store);
    Damaging damaging(*real, world - 1);
    std::string unexpected;
    for (int i = 0; i <= static_cast<int>(MicroOperation::kAllToAll); ++i) {
      const auto operation = static_cast<MicroOperation>(i);
      for (const bool in_place : {false, true}) {
        if (in_place && operation == MicroOperation::kAllToAll) continue;
        const std::string right = wrong_counts(*real, operation, in_place);
        const std::string damaged = wrong_counts(damaging, operation, in_place);
        if (right != "0,0,0" || damaged != (rank == world - 1 ? "1,1,1" : "0,0,0"))
          unexpected += fmt::format("{} {}: {} / {}; ", to_string(operation), in_place, right, damaged);
      }
    }
    return unexpected;
  });
  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.text, "");
}

}  // namespace
}  // namespace ddbench::micro
