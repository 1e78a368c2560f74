#include "harness/model/dataset.h"

namespace ddbench::workload {

Sample sample_of(const Batch& batch, std::size_t row) {
  const auto features = static_cast<std::size_t>(batch.inputs.columns);
  const auto labels = static_cast<std::size_t>(batch.labels.columns);
  Sample sample{.labels = batch.labels.ints().subspan(row * labels, labels)};
  if (batch.inputs.type == device::DataType::kInt32) {
    sample.tokens = batch.inputs.ints().subspan(row * features, features);
  } else {
    sample.numbers = batch.inputs.floats().subspan(row * features, features);
  }
  return sample;
}

}  // namespace ddbench::workload
