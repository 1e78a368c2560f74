#include "harness/training/step/communication_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "core/error.h"
#include "forked_ranks.h"
#include "probes/recorder/spool.h"

namespace ddbench::ddp {
namespace {

/// Records its calls; can be set to fail in one of them, or to block in all-reduces until it is aborted.
class FakeCommunicator final : public collective::Communicator {
 public:
  int rank() const noexcept override { return 0; }
  int world_size() const noexcept override { return 2; }
  std::uint16_t id() const noexcept override { return 3; }
  std::string transport() const override { return "fake"; }
  void all_reduce_sum(collective::Elements data) override {
    calls.push_back(static_cast<int>(data.count));
    if (static_cast<int>(calls.size()) == fail_at)
      throw Error(ErrorCode::kRunFailed, "all_reduce failed: rank 1 left");
    if (!blocking) return;
    entered.set_value();
    aborted.get_future().wait();
    throw Error(ErrorCode::kRunFailed, "aborted");
  }
  void broadcast(collective::Elements, int root) override { calls.push_back(-1 - root); }
  void barrier() override { calls.push_back(0); }
  void reduce_sum(collective::Elements, int) override { ADD_FAILURE(); }
  void reduce_scatter_sum(collective::Elements, collective::Elements) override { ADD_FAILURE(); }
  void all_gather(collective::Elements, collective::Elements) override { ADD_FAILURE(); }
  void all_to_all(collective::Elements, collective::Elements) override { ADD_FAILURE(); }
  void send(collective::Elements, int) override { ADD_FAILURE(); }
  void receive(collective::Elements, int) override { ADD_FAILURE(); }
  void abort() noexcept override {
    ++aborts;
    if (aborts == 1) aborted.set_value();
  }

  std::vector<int> calls;
  int fail_at = 0;
  bool blocking = false;
  int aborts = 0;
  std::promise<void> entered;
  std::promise<void> aborted;
};

class NotingMonitor final : public TrainingMonitor {
 public:
  void on_step(std::uint32_t, double) override {}
  void on_collective_begin(std::string_view function, std::uint64_t sequence) noexcept override {
    events.push_back("begin " + std::string(function) + " " + std::to_string(sequence));
  }
  void on_collective_end(std::uint64_t sequence) noexcept override {
    events.push_back("end " + std::to_string(sequence));
  }
  std::vector<std::string> events;
};

class CommunicationThreadTest : public testing::Test {
 protected:
  test::TemporaryDirectory directory_;
  host::Recorder recorder_{host::RecorderOptions{.spool = directory_.path() / "spool", .run_id = "test"}};
  FakeCommunicator communicator_;
  NotingMonitor monitor_;
  std::vector<float> data_ = std::vector<float>(100);

  std::span<float> first(std::size_t count) { return std::span(data_).first(count); }
  void all_reduce(CommunicationThread& thread, std::size_t count, Place place) {
    thread.submit([this, count, place](RecordedCollectives& collectives) {
      collectives.all_reduce_sum(first(count), place);
    });
  }
};

TEST_F(CommunicationThreadTest, RunsCollectivesInOrderAndRecordsEach) {
  {
    CommunicationThread thread(communicator_, recorder_, monitor_);
    thread.submit([this](RecordedCollectives& collectives) {
      collectives.broadcast(data_, 1);
      collectives.barrier();
    });
    thread.wait();
    for (std::size_t bucket = 0; bucket < 20; ++bucket) {
      all_reduce(thread, bucket + 1, {7, static_cast<std::uint16_t>(bucket)});
    }
    thread.wait();
    thread.wait();  // nothing is under way: returns at once
  }
  recorder_.stop();

  ASSERT_EQ(communicator_.calls.size(), 22U);
  EXPECT_EQ(communicator_.calls[0], -2);
  EXPECT_EQ(communicator_.calls[1], 0);
  for (int bucket = 0; bucket < 20; ++bucket)
    EXPECT_EQ(communicator_.calls[static_cast<std::size_t>(bucket) + 2], bucket + 1);
  EXPECT_EQ(communicator_.aborts, 0);
  ASSERT_EQ(monitor_.events.size(), 44U);
  EXPECT_EQ(monitor_.events[0], "begin broadcast 1");
  EXPECT_EQ(monitor_.events[1], "end 1");
  EXPECT_EQ(monitor_.events[42], "begin all_reduce 22");

  const host::SpoolBatch batch = host::SpoolReader(directory_.path() / "spool").read();
  ASSERT_EQ(batch.spans.size(), 22U);
  for (std::size_t i = 0; i < batch.spans.size(); ++i) {
    const Span& span = batch.spans[i];
    EXPECT_EQ(span.kind, SpanKind::kCommunication);
    EXPECT_EQ(span.lane, Lane::kCommunication);
    EXPECT_EQ(span.correlation, collective_key(3, i + 1));
    EXPECT_GE(span.end_ns, span.begin_ns);
    if (i < 2) {
      EXPECT_EQ(span.step, kNoStep);
      EXPECT_EQ(span.bucket, kNoBucket);
    } else {
      EXPECT_EQ(span.step, 7U);
      EXPECT_EQ(span.bucket, i - 2);
      EXPECT_EQ(span.bytes, (i - 1) * sizeof(float));
      EXPECT_EQ(batch.new_names.at(span.name_id), "all_reduce");
    }
  }
}

TEST_F(CommunicationThreadTest, FailureReachesWaitAndLaterCollectivesAreNotBegun) {
  communicator_.fail_at = 2;
  CommunicationThread thread(communicator_, recorder_, monitor_);
  for (std::uint16_t bucket = 0; bucket < 4; ++bucket) all_reduce(thread, bucket + 1U, {0, bucket});
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      thread.wait();
      FAIL() << "the failure was lost";
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "all_reduce failed: rank 1 left");
    }
    thread.submit([](RecordedCollectives& collectives) { collectives.barrier(); });
  }
  EXPECT_EQ(communicator_.calls, (std::vector<int>{1, 2}));
  EXPECT_EQ(monitor_.events.back(), "begin all_reduce 2") << "a collective that failed has not ended";
}

TEST_F(CommunicationThreadTest, NothingRunsAfterItsEnd) {
  CommunicationThread thread(communicator_, recorder_, monitor_);
  {
    std::vector<float> memory(10);
    const EndOfCommunication end(thread);
    thread.submit([&memory](RecordedCollectives& collectives) { collectives.all_reduce_sum(memory, {}); });
    thread.wait();
  }
  EXPECT_EQ(communicator_.calls, (std::vector<int>{10}));
  EXPECT_EQ(communicator_.aborts, 0) << "everything was done";
}

TEST_F(CommunicationThreadTest, LeavingDuringACollectiveAbortsIt) {
  communicator_.blocking = true;
  {
    CommunicationThread thread(communicator_, recorder_, monitor_);
    all_reduce(thread, 1, {0, 0});
    all_reduce(thread, 2, {0, 1});
    communicator_.entered.get_future().wait();
  }
  EXPECT_EQ(communicator_.aborts, 1);
  EXPECT_EQ(communicator_.calls, (std::vector<int>{1}));
}

}  // namespace
}  // namespace ddbench::ddp
