#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/run_case/run_case.h"
#include "harness/device/device.h"
#include "harness/model/dataset.h"
#include "harness/model/model.h"
#include "harness/training/data/device_batches.h"
#include "harness/training/data/sampler.h"

namespace ddbench::ddp {

/// This rank's batches, one after another, as a DataLoader(sampler, drop_last=True, num_workers=data_workers)
/// gives them: read in the calling thread when they are asked for, or by `data_workers` threads that are up
/// to `prefetch` batches ahead. Their order is the sampler's either way. A step has `accumulate` batches,
/// which together are the batch per GPU. An epoch has data set / global batch steps, and at least one, for every world size. (A
/// DataLoader counts its rank's share, which the sampler rounds up: where fewer samples than ranks are missing to one more global
/// batch, it takes that, filled up with samples from the start of the permutation.)
/// Reading a batch takes `data_delay_ns` longer than it does by itself (a fault that is injected to be
/// found). `first_batch`: the batches that were taken before, where a run goes on.
///
/// Where the device's memory is not the host's, a batch is copied there when it is taken, or while the one
/// before it is trained on if a thread had read it by then.
///
/// The threads inherit the affinity of the constructing thread, as a DataLoader's workers do. The methods
/// belong to one thread.
class Loader {
 public:
  Loader(const workload::Dataset& dataset, DistributedSampler sampler, const RunCase& run_case,
         device::Device& device, workload::Probe& probe, std::int64_t first_batch = 0);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The next batch, in the device's memory; valid until the next call, before which all that uses it must be
  /// done. What the caller waits for it is recorded as data wait. Throws what reading the data set threw.
  const workload::Batch& next(workload::Probe& probe);

  /// Bytes of the batches that a loader of this case keeps, of such samples.
  static std::int64_t memory_bytes(const RunCase& run_case, const workload::SampleShape& shape);
  /// Of the device's memory: on the host all of it, on others the batch that is trained on, and one that is sent ahead.
  static std::int64_t device_bytes(const RunCase& run_case, const workload::SampleShape& shape);

 private:
  struct Slot {
    device::Buffer inputs;
    device::Buffer labels;
    workload::Batch batch;  // host memory
    std::vector<std::int64_t> indices;
    bool filled = false;
  };

  Slot& slot_of(std::int64_t number) { return slots_[static_cast<std::size_t>(number) % slots_.size()]; }
  void claim(Slot& slot);
  void fill(Slot& slot) const;
  Slot& next_slot();
  const Slot* read_ahead();
  void work();

  const workload::Dataset& dataset_;
  DistributedSampler sampler_;
  const std::int64_t batches_per_epoch_;
  const std::chrono::nanoseconds delay_;
  const std::uint32_t name_;
  std::optional<DeviceBatches> on_device_;  // where the device's memory is not the host's
  std::vector<Slot> slots_;                 // batch n is in slot n modulo their number
  std::int64_t taken_ = 0;                  // batches that next() gave out

  std::mutex mutex_;
  std::condition_variable slot_filled_;
  std::condition_variable slot_freed_;
  std::int64_t claimed_ = 0;  // batches that are read or being read
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ddbench::ddp
