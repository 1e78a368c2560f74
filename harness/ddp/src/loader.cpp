#include "loader.h"

#include <algorithm>
#include <utility>

namespace ddbench::ddp {

using device::DataType;

Loader::Loader(const workload::Dataset& dataset, DistributedSampler sampler, std::int64_t batch,
               std::int64_t global_batch, device::Device& device, workload::Probe& probe)
    : dataset_(dataset),
      sampler_(std::move(sampler)),
      steps_per_epoch_(std::max<std::int64_t>(1, dataset.size() / global_batch)),
      name_(probe.intern("load_batch")),
      inputs_(device.allocate(batch * dataset.features() * size_of(DataType::kFloat32))),
      labels_(device.allocate(batch * size_of(DataType::kInt32))),
      batch_{.inputs = {inputs_.data(), batch, dataset.features()},
             .labels = {labels_.data(), batch, 1, DataType::kInt32}} {}

const workload::Batch& Loader::next(workload::Probe& probe) {
  const auto span = probe.span(SpanKind::kDataWait, name_, batch_.inputs.bytes() + batch_.labels.bytes());
  const std::int64_t step_of_epoch = steps_ % steps_per_epoch_;
  if (step_of_epoch == 0 && steps_ > 0) sampler_.set_epoch(steps_ / steps_per_epoch_);
  ++steps_;

  const std::int64_t batch = batch_.inputs.rows;
  const auto features = static_cast<std::size_t>(batch_.inputs.columns);
  const std::span<float> inputs = batch_.inputs.floats();
  const std::span<std::int32_t> labels = batch_.labels.ints();
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t index = sampler_.index(step_of_epoch * batch + i);
    const auto row = static_cast<std::size_t>(i);
    labels[row] = dataset_.read(index, inputs.subspan(row * features, features));
  }
  return batch_;
}

}  // namespace ddbench::ddp
