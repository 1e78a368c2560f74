#include "reducer.h"

namespace ddbench::ddp {

Reducer::Reducer(const std::vector<workload::ParameterSpec>& parameters, const std::vector<Bucket>& plan,
                 collective::Communicator& communicator, device::Device& device, host::Recorder& recorder,
                 TrainingMonitor& monitor, workload::Probe& probe)
    : world_size_(communicator.world_size()),
      device_(device),
      probe_(probe),
      average_name_(probe.intern("average_gradients")),
      bucket_of_(parameters.size()),
      gradients_(parameters.size()),
      communication_(communicator, recorder, monitor) {
  for (const Bucket& bucket : plan) {
    std::int64_t elements = 0;
    for (const std::size_t parameter : bucket) elements += parameters[parameter].elements();
    BucketState state;
    state.memory = device.allocate(elements * size_of(device::DataType::kFloat32));
    state.values = {state.memory.data(), 1, elements};
    state.parameters = static_cast<int>(bucket.size());
    float* next = state.values.floats().data();
    for (const std::size_t parameter : bucket) {
      bucket_of_[parameter] = buckets_.size();
      gradients_[parameter] = {next, parameters[parameter].rows, parameters[parameter].columns};
      next += parameters[parameter].elements();
    }
    buckets_.push_back(std::move(state));
  }
}

void Reducer::broadcast_parameters(std::span<float> values) {
  communication_.broadcast(values, 0);
  communication_.barrier();
  communication_.wait();
}

void Reducer::begin_step() noexcept {
  for (BucketState& bucket : buckets_) bucket.missing = bucket.parameters;
  next_ = 0;
}

void Reducer::on_ready(std::size_t parameter) {
  --buckets_[bucket_of_[parameter]].missing;
  for (; next_ < buckets_.size() && buckets_[next_].missing == 0; ++next_) launch(next_);
}

void Reducer::launch(std::size_t bucket) {
  const device::Tensor& values = buckets_[bucket].values;
  const auto number = static_cast<std::uint16_t>(bucket);
  if (world_size_ > 1) {
    const auto span = probe_.span(SpanKind::kBackward, average_name_, values.bytes(), number);
    device_.scale(values, 1.0F / static_cast<float>(world_size_));
  }
  communication_.all_reduce_sum(values.floats(), probe_.step(), number);
}

}  // namespace ddbench::ddp
