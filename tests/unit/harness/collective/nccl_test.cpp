// NCCL between processes that share the GPUs there are; all of them may share one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "forked_ranks.h"
#include "harness/collective/communicator.h"
#include "harness/device/device.h"
#include "harness/device/graph.h"

namespace ddbench::collective {
namespace {

constexpr int kRanks = 2;
constexpr std::int64_t kChunk = 1000;

std::string find_gpu(int /*rank*/, KeyValueStore& /*store*/) {
  device::check_device("cuda");
  return "";
}

/// Asked in a process of its own: CUDA is of no use to ranks that are forked from a process which has used
/// it.
const bool has_gpu = [] {
  const std::string why_not = test::run_ranks(1, find_gpu)[0].text;
  if (why_not.empty()) return true;
  fmt::print("skipped: no GPU ({})\n", why_not);
  std::fflush(stdout);
  std::_Exit(77);
}();

void expect_nothing_wrong(const std::vector<test::RankOutcome>& outcomes) {
  for (const test::RankOutcome& outcome : outcomes) {
    EXPECT_EQ(outcome.text, "");
    EXPECT_EQ(outcome.killed_by_signal, 0);
  }
}

float number(int rank, std::int64_t index) {
  return static_cast<float>(index % 251 + rank);
}

/// A rank's vector on the GPU, or in the host's memory.
class Vector {
 public:
  Vector(device::Device& device, bool on_gpu, std::int64_t count, int rank)
      : device_(device), values_(static_cast<std::size_t>(count)) {
    for (std::int64_t i = 0; i < count; ++i) values_[static_cast<std::size_t>(i)] = number(rank, i);
    if (!on_gpu) return;
    memory_ = device.allocate(count * 4);
    device.upload(values_.data(), {memory_.data(), 1, count});
    device.synchronize();
  }
  Elements elements() {
    void* const data = memory_.data() != nullptr ? memory_.data() : values_.data();
    return {data, static_cast<std::int64_t>(values_.size()), ElementType::kFloat32};
  }
  const std::vector<float>& read() {
    if (memory_.data() != nullptr) {
      device_.download({memory_.data(), 1, static_cast<std::int64_t>(values_.size())}, values_.data());
    }
    return values_;
  }

 private:
  device::Device& device_;
  std::vector<float> values_;
  device::Buffer memory_;
};

std::string wrong_in(bool on_gpu, int rank, device::Device& device, Communicator& ranks) {
  const auto vector = [&](std::int64_t count) { return Vector(device, on_gpu, count, rank); };
  std::string wrong;
  const auto expect = [&](const char* what, Vector& result, auto expected) {
    std::int64_t index = 0;
    for (const float value : result.read()) {
      if (value != expected(index++)) {
        wrong += fmt::format("{} at {}: {}; ", what, index - 1, value);
        return;
      }
    }
  };
  const auto sum = [](std::int64_t i) { return number(0, i) + number(1, i); };
  Vector reduced = vector(kChunk);
  ranks.all_reduce_sum(reduced.elements());
  expect("all_reduce", reduced, sum);
  Vector sent = vector(kChunk);
  ranks.broadcast(sent.elements(), 1);
  expect("broadcast", sent, [](std::int64_t i) { return number(1, i); });
  Vector all = vector(kRanks * kChunk), part = vector(kChunk);
  ranks.reduce_scatter_sum(all.elements(), part.elements());
  expect("reduce_scatter", part, [&](std::int64_t i) { return sum(rank * kChunk + i); });
  Vector one = vector(kChunk), gathered = vector(kRanks * kChunk);
  ranks.all_gather(one.elements(), gathered.elements());
  expect("all_gather", gathered,
         [](std::int64_t i) { return number(static_cast<int>(i / kChunk), i % kChunk); });
  Vector from = vector(kRanks * kChunk), to = vector(kRanks * kChunk);
  ranks.all_to_all(from.elements(), to.elements());
  expect("all_to_all", to,
         [&](std::int64_t i) { return number(static_cast<int>(i / kChunk), rank * kChunk + i % kChunk); });
  Vector ping = vector(kChunk);
  rank == 0 ? ranks.send(ping.elements(), 1) : ranks.receive(ping.elements(), 0);
  expect("receive", ping, [](std::int64_t i) { return number(0, i); });
  ranks.barrier();
  return wrong;
}

TEST(Nccl, CollectivesAreRightInBothMemories) {
  const auto outcomes = test::run_ranks(kRanks, [](int rank, KeyValueStore& store) {
    const auto ranks = make_communicator("nccl", {.rank = rank, .world_size = kRanks}, store);
    const auto device = device::make_device("cuda", {.rank = rank});
    return wrong_in(true, rank, *device, *ranks) + wrong_in(false, rank, *device, *ranks) +
           (ranks->transport().rfind("unknown", 0) == 0 ? ranks->transport() : "");
  });
  expect_nothing_wrong(outcomes);
}

/// The host does not wait for the numbers, which a long queue halves last.
std::string wrong_after_an_event(int rank, device::Device& device, Communicator& ranks) {
  Vector vector(device, true, kChunk, rank);
  const device::Tensor numbers{vector.elements().data, 1, kChunk};
  for (int i = 0; i < 200; ++i) device.scale(numbers, 1.0F);
  device.scale(numbers, 0.5F);
  const std::uint64_t mark = device.mark();
  if (device.event_of(mark) == nullptr) return "no event";
  ranks.queued()->start_after(device.event_of(mark));
  ranks.all_reduce_sum(vector.elements());
  std::string wrong;
  std::int64_t index = 0;
  for (const float value : vector.read()) {
    const float expected = (number(0, index) + number(1, index)) / 2;
    if (value != expected && wrong.empty()) wrong = fmt::format("{}: {}", index, value);
    ++index;
  }
  return wrong;
}

TEST(Nccl, ACollectiveCanBeginWhereAQueueHasItsData) {
  const auto outcomes = test::run_ranks(kRanks, [](int rank, KeyValueStore& store) {
    const auto ranks = make_communicator("nccl", {.rank = rank, .world_size = kRanks}, store);
    const auto device = device::make_device("cuda", {.rank = rank});
    return wrong_after_an_event(rank, *device, *ranks);
  });
  expect_nothing_wrong(outcomes);
}

/// Half of each rank's numbers, summed over ranks beside the queue.
struct HalvesInAGraph {
  HalvesInAGraph(int rank, device::Device& device, Communicator& ranks) : vector(device, true, kChunk, rank) {
    device::GraphCapture& capture = *device.graph_capture();
    capture.begin();
    device.stamp();
    device.scale({vector.elements().data, 1, kChunk}, 0.5F);
    capture.aside([&](void* stream) {
      capture.stamp_aside();
      ranks.queued()->queue_all_reduce_sum(vector.elements(), stream);
      capture.stamp_aside();
    });
    graph = capture.end();
  }
  void run(Communicator& ranks) {
    graph->launch();
    ranks.queued()->wait_until([this] { return graph->is_done(); });
  }
  Vector vector;
  std::unique_ptr<device::Graph> graph;
};

std::string wrong_in_a_graph(int rank, device::Device& device, Communicator& ranks) {
  HalvesInAGraph halves(rank, device, ranks);
  std::string wrong;
  for (int run = 0; run < 3; ++run) {
    halves.run(ranks);
    std::int64_t index = 0;
    for (const float value : halves.vector.read()) {
      const float expected = (number(0, index) + number(1, index)) / 2;
      if (value != expected) wrong += fmt::format("run {}, {}: {}; ", run, index, value);
      ++index;
    }
  }
  std::vector<std::int64_t> times;
  const std::int64_t now = now_ns();
  device.read_stamps(times);
  halves.graph->read_stamps(times);
  const bool in_order = times.size() == 3 && times[0] <= times[1] && times[1] < times[2];
  if (!in_order || times[2] > now_ns() || times[0] < now - 60'000'000'000) wrong += "the stamps' times";
  return wrong;
}

TEST(Nccl, AGraphRunsItsCollectivesAgainAndReportsTheirTimes) {
  const auto outcomes = test::run_ranks(kRanks, [](int rank, KeyValueStore& store) {
    const auto ranks = make_communicator("nccl", {.rank = rank, .world_size = kRanks}, store);
    const auto device = device::make_device("cuda", {.rank = rank});
    return wrong_in_a_graph(rank, *device, *ranks);
  });
  expect_nothing_wrong(outcomes);
}

TEST(Nccl, AbortEndsAGraphThatWaitsForAPeer) {
  const auto outcomes = test::run_ranks(kRanks, [](int rank, KeyValueStore& store) -> std::string {
    const auto ranks = make_communicator("nccl", {.rank = rank, .world_size = kRanks}, store);
    const auto device = device::make_device("cuda", {.rank = rank});
    HalvesInAGraph halves(rank, *device, *ranks);
    ranks->queued()->on_give_up([&] { halves.graph->release(); });
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(rank == 0 ? 500 : 2000));
      ranks->abort();
    });
    std::string message = "nothing was thrown";
    try {
      if (rank == 0) halves.run(*ranks);
    } catch (const Error& error) {
      message = error.message();
    }
    stopper.join();
    halves.graph->release();
    ranks->queued()->on_give_up({});  // which outlives the graph
    return message;
  });
  for (const test::RankOutcome& outcome : outcomes) EXPECT_EQ(outcome.killed_by_signal, 0);
  EXPECT_NE(outcomes[0].text.find("all_reduce failed on rank 0: aborted"), std::string::npos)
      << outcomes[0].text;
}

template <typename Call>
std::string unless_it_throws(const Call& call, const char* otherwise) {
  try {
    call();
  } catch (const Error&) {
    return "";
  }
  return otherwise;
}

std::string wrong_after_a_failed_capture(device::Device& device) {
  Vector vector(device, true, kChunk, 0);
  device::GraphCapture& capture = *device.graph_capture();
  capture.begin();
  device.scale({vector.elements().data, 1, kChunk}, 3);
  std::string wrong = unless_it_throws([&] { vector.read(); }, "a graph waited for itself; ");
  wrong += unless_it_throws([&] { capture.end(); }, "the capture did not fail; ");
  capture.cancel();
  if (vector.read()[7] != number(0, 7)) wrong += "what was captured was run; ";
  device.scale({vector.elements().data, 1, kChunk}, 3);
  if (vector.read()[7] != 3 * number(0, 7)) wrong += "the device does not work afterwards";
  return wrong;
}

TEST(Nccl, ACaptureThatFailsLeavesTheDeviceAsItWas) {
  const auto outcomes = test::run_ranks(
      1, [](int, KeyValueStore&) { return wrong_after_a_failed_capture(*device::make_device("cuda")); });
  expect_nothing_wrong(outcomes);
}

TEST(Nccl, AbortEndsACollectiveThatWaitsForAPeer) {
  const auto outcomes = test::run_ranks(kRanks, [](int rank, KeyValueStore& store) -> std::string {
    const auto ranks = make_communicator("nccl", {.rank = rank, .world_size = kRanks}, store);
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::seconds(2));
      ranks->abort();
      return "left";
    }
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      ranks->abort();
    });
    std::vector<float> values(16);
    std::string message = "nothing was thrown";
    try {
      ranks->all_reduce_sum(std::span<float>(values));
    } catch (const Error& error) {
      message = error.message();
    }
    stopper.join();
    return message;
  });
  EXPECT_NE(outcomes[0].text.find("all_reduce failed on rank 0"), std::string::npos) << outcomes[0].text;
}

}  // namespace
}  // namespace ddbench::collective
