#include "model_under_test.h"

#include "harness/model/architectures/registry.h"

namespace ddbench::workload {

ModelUnderTest::ModelUnderTest(const std::string& name, const WorkloadOptions& options, std::int64_t batch,
                               device::DataType precision)
    : workload_(make_workload(name, options)) {
  for (const ParameterSpec& spec : workload_->parameters()) {
    parameters_.push_back({spec, tensor(spec.rows, spec.columns), tensor(spec.rows, spec.columns)});
    velocities_.push_back(tensor(spec.rows, spec.columns));
  }
  initialize(*device_, parameters_, 3);
  model_ = workload_->make_model(*device_, parameters_, batch, probe_, precision);
  const auto dataset = workload_->make_dataset("synthetic", 1);
  const SampleShape shape = dataset->shape();
  batch_ = {tensor(batch, shape.features, shape.type), tensor(batch, shape.labels, device::DataType::kInt32)};
  for (std::int64_t i = 0; i < batch; ++i) dataset->read(i, sample_of(batch_, static_cast<std::size_t>(i)));
}

void ModelUnderTest::step(float lr) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    device_->sgd(parameters_[i].value, parameters_[i].gradient, velocities_[i], {.lr = lr, .momentum = 0.9F});
  }
}

device::Tensor ModelUnderTest::tensor(std::int64_t rows, std::int64_t columns, device::DataType type) {
  memory_.push_back(device_->allocate(rows * columns * size_of(type)));
  return {memory_.back().data(), rows, columns, type};
}

}  // namespace ddbench::workload
