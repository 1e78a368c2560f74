#include <vector>

#include "harness/model/data/datasets.h"
#include "harness/model/random.h"

namespace ddbench::workload {
namespace {

constexpr std::uint64_t kPrototypeStream = 0x7072'6F74;
constexpr std::uint64_t kNoiseStream = 0x6E6F'6973;
constexpr std::size_t kNoiseWindows = std::size_t{1} << 16;
// Prototypes lie sqrt(2 * features) * 0.125 = 5 standard deviations of the noise apart: most of it can be
// learnt in some dozens of steps, and not in one.
constexpr float kPrototypeDeviation = 0.125F;

class Synthetic final : public Dataset {
 public:
  explicit Synthetic(const SyntheticOptions& options) : options_(options) {
    Random prototype(options.seed, kPrototypeStream);
    prototypes_.resize(static_cast<std::size_t>(options.classes * options.features));
    for (float& value : prototypes_) value = kPrototypeDeviation * prototype.normal();
    Random noise(options.seed, kNoiseStream);
    noise_.resize(kNoiseWindows + static_cast<std::size_t>(options.features));
    for (float& value : noise_) value = noise.normal();
  }

  std::int64_t size() const noexcept override { return options_.size; }
  SampleShape shape() const noexcept override { return {.features = options_.features}; }
  std::int32_t classes() const noexcept override { return options_.classes; }

  void read(std::int64_t index, const Sample& sample) const override {
    const std::uint64_t key = mix_bits(mix_bits(options_.seed) + static_cast<std::uint64_t>(index));
    const auto label = static_cast<std::int32_t>((key >> 32) % static_cast<std::uint64_t>(options_.classes));
    const float* const prototype = prototypes_.data() + label * options_.features;
    const float* const noise = noise_.data() + key % kNoiseWindows;
    for (std::size_t i = 0; i < sample.numbers.size(); ++i) sample.numbers[i] = prototype[i] + noise[i];
    sample.labels[0] = label;
  }

 private:
  const SyntheticOptions options_;
  std::vector<float> prototypes_;
  std::vector<float> noise_;
};

}  // namespace

std::unique_ptr<Dataset> make_synthetic(const SyntheticOptions& options) {
  return std::make_unique<Synthetic>(options);
}

}  // namespace ddbench::workload
