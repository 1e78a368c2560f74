#include "harness/training/data/device_batches.h"

namespace ddbench::ddp {
namespace {

std::int64_t bytes_of(const workload::Batch& batch) {
  return batch.inputs.bytes() + batch.labels.bytes();
}

}  // namespace

DeviceBatches::Place::Place(device::Device& device, const workload::Batch& like)
    : inputs(device.allocate(like.inputs.bytes(), device::MemoryUse::kBatches)),
      labels(device.allocate(like.labels.bytes(), device::MemoryUse::kBatches)),
      batch(like) {
  batch.inputs.data = inputs.data();
  batch.labels.data = labels.data();
}

DeviceBatches::DeviceBatches(device::Device& device, const workload::Batch& batch, bool sends_ahead,
                             workload::Probe& probe)
    : device_(device),
      upload_name_(probe.intern("upload_batch")),
      take_name_(probe.intern("take_batch")),
      trained_on_(device, batch) {
  if (sends_ahead) ahead_.emplace(device, batch);
}

const workload::Batch& DeviceBatches::take(std::int64_t number, const workload::Batch& host,
                                           workload::Probe& probe) {
  const workload::Batch& batch = trained_on_.batch;
  if (number == number_ahead_) {
    device_.await_uploads();
    const auto span = probe.span(SpanKind::kCopy, take_name_, bytes_of(batch));
    device_.copy(ahead_->batch.inputs, batch.inputs);
    device_.copy(ahead_->batch.labels, batch.labels);
  } else {
    const auto span = probe.span(SpanKind::kCopy, upload_name_, bytes_of(batch));
    device_.upload(host.inputs.data, batch.inputs);
    device_.upload(host.labels.data, batch.labels);
  }
  return batch;
}

void DeviceBatches::send_ahead(std::int64_t number, const workload::Batch& host, workload::Probe& probe) {
  const auto span = probe.upload_ahead_span(upload_name_, bytes_of(host));
  device_.upload_ahead(host.inputs.data, ahead_->batch.inputs);
  device_.upload_ahead(host.labels.data, ahead_->batch.labels);
  number_ahead_ = number;
}

}  // namespace ddbench::ddp
