#include <algorithm>
#include <utility>

#include "harness/model/data/datasets.h"
#include "harness/model/random.h"

namespace ddbench::workload {
namespace {

constexpr std::uint64_t kMaskStream = 0x6D61'736B;

class Masked final : public Dataset {
 public:
  Masked(std::unique_ptr<Dataset> tokens, std::int32_t mask, std::uint64_t seed)
      : tokens_(std::move(tokens)), mask_(mask), seed_(seed) {}

  std::int64_t size() const noexcept override { return tokens_->size(); }
  SampleShape shape() const noexcept override { return tokens_->shape(); }
  std::int32_t classes() const noexcept override { return tokens_->classes(); }

  void read(std::int64_t index, const Sample& sample) const override {
    tokens_->read(index, sample);
    std::fill(sample.labels.begin(), sample.labels.end(), device::kIgnoredLabel);
    Random random(mix_bits(seed_) + static_cast<std::uint64_t>(index), kMaskStream);
    const std::size_t places = sample.tokens.size();
    std::size_t wanted = std::max<std::size_t>(1, (places * 15 + 50) / 100);
    // Each place is chosen with the chance that leaves exactly `wanted` (Knuth's selection sampling).
    for (std::size_t place = 0; place < places && wanted > 0; ++place) {
      if (random.below(places - place) >= wanted) continue;
      --wanted;
      sample.labels[place] = sample.tokens[place];
      const std::uint64_t chance = random.below(10);
      if (chance < 8) sample.tokens[place] = mask_;
      if (chance == 8)
        sample.tokens[place] = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes())));
    }
  }

 private:
  const std::unique_ptr<Dataset> tokens_;
  const std::int32_t mask_;
  const std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Dataset> make_masked(std::unique_ptr<Dataset> tokens, std::int32_t mask, std::uint64_t seed) {
  return std::make_unique<Masked>(std::move(tokens), mask, seed);
}

}  // namespace ddbench::workload
