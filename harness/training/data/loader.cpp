#include "harness/training/data/loader.h"

#include <algorithm>
#include <utility>

namespace ddbench::ddp {
namespace {

using device::DataType;

// A batch that is read ahead needs room beside the one that is trained on.
std::int64_t slots_of(const RunCase& run_case) {
  return run_case.data_workers == 0 ? 1 : run_case.prefetch + 1;
}

/// Samples that are trained on at once: of one micro-batch.
std::int64_t batch_of(const RunCase& run_case) {
  return run_case.batch_per_gpu / run_case.accumulate;
}

}  // namespace

Loader::Loader(const workload::Dataset& dataset, DistributedSampler sampler, const RunCase& run_case,
               device::Device& device, workload::Probe& probe, std::int64_t first_batch)
    : dataset_(dataset),
      sampler_(std::move(sampler)),
      batches_per_epoch_(std::max<std::int64_t>(1, dataset.size() / run_case.global_batch()) *
                         run_case.accumulate),
      delay_(run_case.data_delay_ns),
      name_(probe.intern("load_batch")),
      slots_(static_cast<std::size_t>(slots_of(run_case))),
      taken_(first_batch),
      claimed_(first_batch) {
  sampler_.set_epoch(first_batch / batches_per_epoch_);
  const std::int64_t batch = batch_of(run_case);
  const workload::SampleShape shape = dataset.shape();
  for (Slot& slot : slots_) {
    slot.inputs = device.allocate_host(batch * shape.input_bytes(), device::MemoryUse::kBatches);
    slot.labels = device.allocate_host(batch * shape.label_bytes(), device::MemoryUse::kBatches);
    slot.batch = {.inputs = {slot.inputs.data(), batch, shape.features, shape.type},
                  .labels = {slot.labels.data(), batch, shape.labels, DataType::kInt32}};
    slot.indices.resize(static_cast<std::size_t>(batch));
  }
  if (!device.is_host()) on_device_.emplace(device, slots_.front().batch, run_case.data_workers > 0, probe);
  for (int i = 0; i < run_case.data_workers; ++i) threads_.emplace_back([this] { work(); });
}

Loader::~Loader() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  slot_freed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::int64_t Loader::memory_bytes(const RunCase& run_case, const workload::SampleShape& shape) {
  return slots_of(run_case) * batch_of(run_case) * (shape.input_bytes() + shape.label_bytes());
}

std::int64_t Loader::device_bytes(const RunCase& run_case, const workload::SampleShape& shape) {
  if (run_case.on_cpu()) return memory_bytes(run_case, shape);
  const int places = run_case.data_workers > 0 ? 2 : 1;
  return places * batch_of(run_case) * (shape.input_bytes() + shape.label_bytes());
}

const workload::Batch& Loader::next(workload::Probe& probe) {
  const Slot* slot = nullptr;
  {
    const workload::Batch& batch = slots_.front().batch;
    const auto span =
        probe.host_span(SpanKind::kDataWait, name_, batch.inputs.bytes() + batch.labels.bytes());
    slot = &next_slot();
  }
  if (!on_device_) return slot->batch;
  const workload::Batch& batch = on_device_->take(taken_ - 1, slot->batch, probe);
  if (const Slot* const following = read_ahead()) on_device_->send_ahead(taken_, following->batch, probe);
  return batch;
}

/// The batch after the one that was taken last, if a thread has read it already.
const Loader::Slot* Loader::read_ahead() {
  if (threads_.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  const Slot& slot = slot_of(taken_);
  return claimed_ > taken_ && slot.filled ? &slot : nullptr;
}

Loader::Slot& Loader::next_slot() {
  Slot& slot = slot_of(taken_);
  if (threads_.empty()) {
    claim(slot);
    fill(slot);
    ++taken_;
    return slot;
  }
  std::unique_lock lock(mutex_);
  if (taken_ > 0) slot_of(taken_ - 1).filled = false;
  ++taken_;
  slot_freed_.notify_one();
  slot_filled_.wait(lock, [&] { return slot.filled || failure_; });
  if (!slot.filled) std::rethrow_exception(failure_);
  return slot;
}

// Which samples batch number `claimed_` has: the one thing about batches that must happen in their order.
void Loader::claim(Slot& slot) {
  const std::int64_t batch_of_epoch = claimed_ % batches_per_epoch_;
  if (batch_of_epoch == 0 && claimed_ > 0) sampler_.set_epoch(claimed_ / batches_per_epoch_);
  const auto batch = static_cast<std::int64_t>(slot.indices.size());
  for (std::int64_t i = 0; i < batch; ++i) {
    slot.indices[static_cast<std::size_t>(i)] = sampler_.index(batch_of_epoch * batch + i);
  }
  ++claimed_;
}

void Loader::fill(Slot& slot) const {
  if (delay_.count() > 0) std::this_thread::sleep_for(delay_);
  for (std::size_t row = 0; row < slot.indices.size(); ++row) {
    dataset_.read(slot.indices[row], workload::sample_of(slot.batch, row));
  }
}

void Loader::work() {
  const auto slots = static_cast<std::int64_t>(slots_.size());
  std::unique_lock lock(mutex_);
  for (;;) {
    // The batch before taken_ is still in use, and so is its slot.
    slot_freed_.wait(lock, [&] {
      return stopping_ || failure_ || claimed_ < std::max<std::int64_t>(taken_, 1) - 1 + slots;
    });
    if (stopping_ || failure_) return;
    Slot& slot = slot_of(claimed_);
    claim(slot);
    lock.unlock();
    std::exception_ptr failure;
    try {
      fill(slot);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    slot.filled = !failure;
    if (failure && !failure_) failure_ = failure;
    slot_filled_.notify_one();
    if (failure) slot_freed_.notify_all();
  }
}

}  // namespace ddbench::ddp
