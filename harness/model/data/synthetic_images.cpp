#include <vector>

#include "harness/model/data/datasets.h"
#include "harness/model/random.h"

namespace ddbench::workload {
namespace {

constexpr std::uint64_t kPatternStream = 0x7061'7474;
constexpr std::uint64_t kNoiseStream = 0x6E6F'6973;
constexpr std::size_t kNoiseWindows = std::size_t{1} << 16;
constexpr std::int64_t kFields = 4;  // a side
constexpr std::int64_t kChannels = 3;

class SyntheticImageSet final : public Dataset {
 public:
  explicit SyntheticImageSet(const SyntheticImages& options) : options_(options) {
    Random pattern(options.seed, kPatternStream);
    patterns_.resize(static_cast<std::size_t>(options.classes * kFields * kFields * kChannels));
    for (float& value : patterns_) value = pattern.normal();
    Random noise(options.seed, kNoiseStream);
    noise_.resize(kNoiseWindows + static_cast<std::size_t>(shape().features));
    for (float& value : noise_) value = noise.normal();
  }

  std::int64_t size() const noexcept override { return options_.size; }
  SampleShape shape() const noexcept override {
    return {.features = options_.side * options_.side * kChannels};
  }
  std::int32_t classes() const noexcept override { return options_.classes; }

  void read(std::int64_t index, const Sample& sample) const override {
    const std::uint64_t key = mix_bits(mix_bits(options_.seed) + static_cast<std::uint64_t>(index));
    const auto label = static_cast<std::int32_t>((key >> 32) % static_cast<std::uint64_t>(options_.classes));
    const float* const pattern = patterns_.data() + label * kFields * kFields * kChannels;
    const float* noise = noise_.data() + key % kNoiseWindows;
    float* pixel = sample.numbers.data();
    for (std::int64_t row = 0; row < options_.side; ++row) {
      const float* const fields = pattern + row * kFields / options_.side * kFields * kChannels;
      for (std::int64_t column = 0; column < options_.side; ++column) {
        const float* const field = fields + column * kFields / options_.side * kChannels;
        for (std::int64_t c = 0; c < kChannels; ++c) *pixel++ = field[c] + *noise++;
      }
    }
    sample.labels[0] = label;
  }

 private:
  const SyntheticImages options_;
  std::vector<float> patterns_;
  std::vector<float> noise_;
};

}  // namespace

std::unique_ptr<Dataset> make_synthetic_images(const SyntheticImages& options) {
  return std::make_unique<SyntheticImageSet>(options);
}

}  // namespace ddbench::workload
