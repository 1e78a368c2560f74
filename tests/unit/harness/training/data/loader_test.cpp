// Batches read ahead by threads, and sent ahead to a GPU, are those that the rank's own thread would read.
#include "harness/training/data/loader.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>

#include "core/error.h"
#include "device_under_test.h"
#include "forked_ranks.h"

namespace ddbench::ddp {
namespace {

// Sample i is (i, i / 2) with label i. One of them can be broken.
class Numbered final : public workload::Dataset {
 public:
  explicit Numbered(std::int64_t size, std::int64_t broken = -1) : size_(size), broken_(broken) {}
  std::int64_t size() const noexcept override { return size_; }
  workload::SampleShape shape() const noexcept override { return {.features = 2}; }
  std::int32_t classes() const noexcept override { return 10; }
  void read(std::int64_t index, const workload::Sample& sample) const override {
    if (index == broken_) throw Error(ErrorCode::kBadInput, "sample 7 is broken");
    reads_.fetch_add(1);
    sample.numbers[0] = static_cast<float>(index);
    sample.numbers[1] = static_cast<float>(index) / 2;
    sample.labels[0] = static_cast<std::int32_t>(index);
  }
  int reads() const { return reads_.load(); }

 private:
  const std::int64_t size_;
  const std::int64_t broken_;
  mutable std::atomic<int> reads_{0};
};

class LoaderOfOneRank : public testing::Test {
 protected:
  static RunCase run_case(int workers, int prefetch) {
    RunCase made;
    made.batch_per_gpu = 4;
    made.data_workers = workers;
    made.prefetch = prefetch;
    return made;
  }
  std::vector<std::int32_t> labels(const workload::Dataset& dataset, const RunCase& run_case, int steps) {
    Loader loader(dataset, DistributedSampler(dataset.size(), 1, 0, 1), run_case, *device_, probe_);
    std::vector<std::int32_t> seen;
    for (int step = 0; step < steps; ++step) {
      const workload::Batch& batch = loader.next(probe_);
      std::array<std::int32_t, 4> of_batch{};
      std::array<float, 8> inputs{};
      device_->download(batch.labels, of_batch.data());
      device_->download(batch.inputs, inputs.data());
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(inputs[2 * i], static_cast<float>(of_batch[i]));
        EXPECT_EQ(inputs[2 * i + 1], static_cast<float>(of_batch[i]) / 2);
      }
      seen.insert(seen.end(), of_batch.begin(), of_batch.end());
    }
    return seen;
  }

  test::TemporaryDirectory directory_;
  host::Recorder recorder_{host::RecorderOptions{.spool = directory_.path() / "spool", .run_id = "test"}};
  workload::Probe probe_{recorder_};
  std::unique_ptr<device::Device> device_ = test::bare_device_under_test();
};

TEST_F(LoaderOfOneRank, ThreadsKeepTheOrderOverEpochs) {
  const Numbered dataset(23);  // epochs of 5 steps
  const std::vector<std::int32_t> alone = labels(dataset, run_case(0, 1), 40);
  for (const int workers : {1, 2, 5}) {
    for (const int prefetch : {1, 2, 7}) {
      EXPECT_EQ(labels(dataset, run_case(workers, prefetch), 40), alone)
          << workers << " workers, " << prefetch << " ahead";
    }
  }
}

TEST_F(LoaderOfOneRank, ThreadsReadNoFurtherThanPrefetch) {
  const Numbered dataset(1000);
  labels(dataset, run_case(3, 2), 10);
  EXPECT_GE(dataset.reads(), 10 * 4);
  // Beyond the batches that were taken: two ahead.
  EXPECT_LE(dataset.reads(), 40 + 2 * 4);
}

TEST_F(LoaderOfOneRank, ABrokenSampleEndsTheRunAndNotTheProcess) {
  const Numbered dataset(23, 7);
  for (const int workers : {0, 1, 3}) {
    EXPECT_THROW(labels(dataset, run_case(workers, 2), 6), Error) << workers << " workers";
  }
}

TEST_F(LoaderOfOneRank, TheDelayIsPartOfEachBatch) {
  const Numbered dataset(100);
  RunCase delayed = run_case(0, 1);
  delayed.data_delay_ns = 2'000'000;
  const auto begin = std::chrono::steady_clock::now();
  labels(dataset, delayed, 10);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(20));
}

}  // namespace
}  // namespace ddbench::ddp
