#include <algorithm>
#include <bit>

#include "harness/model/data/datasets.h"
#include "harness/model/random.h"

namespace ddbench::workload {
namespace {

constexpr std::uint64_t kChainStream = 0x6368'6169;
constexpr std::int64_t kSize = 60'000;
constexpr std::int32_t kMostTokens = 1024;

class SyntheticTokens final : public Dataset {
 public:
  SyntheticTokens(const TokenOptions& options, std::uint64_t seed)
      : options_(options), tokens_(std::min(options.vocabulary, kMostTokens)), seed_(seed) {}

  std::int64_t size() const noexcept override { return kSize; }
  SampleShape shape() const noexcept override {
    return {device::DataType::kInt32, options_.sequence, options_.sequence};
  }
  std::int32_t classes() const noexcept override { return options_.vocabulary; }

  void read(std::int64_t index, const Sample& sample) const override {
    Random random(mix_bits(seed_) + static_cast<std::uint64_t>(index), kChainStream);
    auto token = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(tokens_)));
    for (std::size_t i = 0; i < sample.tokens.size(); ++i) {
      sample.tokens[i] = token;
      token = after(token, random.bits());
      sample.labels[i] = token;
    }
  }

 private:
  std::int32_t after(std::int32_t token, std::uint64_t coins) const {
    const int heads = std::min(std::countr_one(coins), 3);  // 0, 1, 2, 3 with 1/2, 1/4, 1/8, 1/8
    const std::uint64_t edge =
        mix_bits(seed_) + static_cast<std::uint64_t>(token) * 4 + static_cast<std::uint64_t>(heads);
    return static_cast<std::int32_t>(mix_bits(edge) % static_cast<std::uint64_t>(tokens_));
  }

  const TokenOptions options_;
  const std::int32_t tokens_;
  const std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Dataset> make_synthetic_tokens(const TokenOptions& options, std::uint64_t seed) {
  return std::make_unique<SyntheticTokens>(options, seed);
}

}  // namespace ddbench::workload
