#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace ddbench::workload {

/// Samples with labels, by index; the same on every rank of a run. Several threads may read at once.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const noexcept = 0;
  virtual std::int64_t features() const noexcept = 0;  ///< numbers a sample
  virtual std::int32_t classes() const noexcept = 0;   ///< labels are in [0, classes)
  /// Writes sample `index`, 0 <= index < size(), to `sample` (features() long) and returns its label.
  virtual std::int32_t read(std::int64_t index, std::span<float> sample) const = 0;
};

struct SyntheticOptions {
  std::int64_t size = 60'000;
  std::int64_t features = 784;
  std::int32_t classes = 10;
  std::uint64_t seed = 1;
};

/// A data set that can be learnt and takes no room: each class has a random prototype, a sample is its
/// class's prototype plus standard normal noise, made when it is read. The noise of a sample is a window of
/// one table of 2^16 numbers, which keeps reading near the speed of a copy.
std::unique_ptr<Dataset> make_synthetic(const SyntheticOptions& options);

/// The training part of a data set in the IDX format (MNIST, Fashion-MNIST, KMNIST, ...) from `directory` or
/// its folder "raw": train-images-idx3-ubyte and train-labels-idx1-ubyte (also train-images.idx3-ubyte and
/// train-images.idx, and likewise for labels). Pixels are scaled to [-1, 1]; the images stay in the page
/// cache, which the ranks of a machine share. Throws Error{kBadInput} that names the file and the offset of
/// what is wrong: magic number, sizes, a label of 10 or more, bytes missing or left over; and says so when
/// only compressed files are there.
std::unique_ptr<Dataset> make_idx(const std::filesystem::path& directory);

}  // namespace ddbench::workload
