#pragma once

#include <cstdint>
#include <span>

#include "harness/device/device.h"
#include "harness/model/model.h"

namespace ddbench::workload {

/// What a sample consists of.
struct SampleShape {
  device::DataType type = device::DataType::kFloat32;  ///< of its numbers, or kInt32: tokens
  std::int64_t features = 0;                           ///< numbers or tokens
  std::int64_t labels = 1;

  std::int64_t input_bytes() const noexcept { return features * size_of(type); }
  std::int64_t label_bytes() const noexcept { return labels * size_of(device::DataType::kInt32); }
  friend bool operator==(const SampleShape&, const SampleShape&) = default;
};

/// Where a sample is written: to `numbers` or to `tokens`, according to its shape; the other one is empty.
struct Sample {
  std::span<float> numbers{};
  std::span<std::int32_t> tokens{};
  std::span<std::int32_t> labels;
};

/// Samples with labels, by index; the same on every rank of a run. Threads may read at the same time.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const noexcept = 0;
  virtual SampleShape shape() const noexcept = 0;
  /// Labels, and tokens, are in [0, classes), or a label is device::kIgnoredLabel.
  virtual std::int32_t classes() const noexcept = 0;
  /// Writes sample `index`, 0 <= index < size(). Throws Error{kBadInput} that names the file and the offset
  /// of what is wrong in it.
  virtual void read(std::int64_t index, const Sample& sample) const = 0;
};

/// Row `row` of a batch's memory, as a place for a sample.
Sample sample_of(const Batch& batch, std::size_t row);

}  // namespace ddbench::workload
