#include "gui/timeline/timeline_coverage.h"

#include <algorithm>
#include <bit>

namespace ddbench::gui {
namespace {

/// Lanes of few spans are drawn from their spans unless all of the run is in view, so that thousands of ranks take
/// memory for their spans only.
constexpr std::size_t kBucketsOfFewSpans = 1 << 12;
constexpr std::size_t kMostBuckets = 1 << 19;
constexpr std::size_t kSpansABucket = 8;
constexpr std::size_t kCoarsest = 512;  ///< buckets of the last level: fewer than any drawing has columns

std::size_t buckets_for(std::size_t spans, std::int64_t length_ns) {
  const std::size_t some = std::max<std::size_t>(spans, 1);
  const std::size_t wanted = std::max(std::min(std::bit_ceil(some), kBucketsOfFewSpans),
                                      std::bit_ceil(std::max<std::size_t>(some / kSpansABucket, 1)));
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(length_ns, 1));
  return std::min({wanted, kMostBuckets, std::bit_ceil(most)});
}

}  // namespace

std::size_t Coverage::bytes() const noexcept {
  std::size_t sum = 0;
  for (const std::vector<std::uint8_t>& level : covered) sum += level.capacity();
  return sum;
}

CoverageBuilder::CoverageBuilder(std::int64_t begin_ns, std::int64_t end_ns, std::size_t spans, const KindsSeen& kinds,
                                 int sharers)
    : begin_ns_(begin_ns), buckets_(buckets_for(spans, end_ns - begin_ns)) {
  const auto count = static_cast<std::int64_t>(buckets_);
  coverage_.bucket_ns = std::max<std::int64_t>(1, (end_ns - begin_ns + count - 1) / count);
  full_ns_ = coverage_.bucket_ns * sharers;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (!kinds[kind]) continue;
    place_[kind] = coverage_.kinds.size();
    coverage_.kinds.push_back(static_cast<SpanKind>(kind));
  }
  covered_ns_.assign(buckets_ * coverage_.kinds.size(), 0);
  whole_.assign(covered_ns_.size(), 0);
}

void CoverageBuilder::add(std::int64_t begin_ns, std::int64_t end_ns, SpanKind kind) {
  const std::size_t stride = coverage_.kinds.size();
  const std::size_t place = place_[static_cast<std::size_t>(kind)];
  const std::int64_t bucket_ns = coverage_.bucket_ns;
  const std::int64_t from = begin_ns - begin_ns_;
  const std::int64_t to = std::max(end_ns - begin_ns_, from + 1);  // a span of no length is still seen
  const auto first = static_cast<std::size_t>(from / bucket_ns);
  const auto last = std::min(static_cast<std::size_t>((to - 1) / bucket_ns), buckets_ - 1);
  const auto cover = [&](std::size_t bucket) {
    const std::int64_t start = static_cast<std::int64_t>(bucket) * bucket_ns;
    const std::int64_t covered = std::min(to, start + bucket_ns) - std::max(from, start);
    covered_ns_[bucket * stride + place] += static_cast<std::uint64_t>(covered);
  };
  if (first > last) return;
  cover(first);
  if (first == last) return;
  cover(last);
  // What a span covers whole is noted at its ends: thousands of spans may last as long as the run.
  ++whole_[(first + 1) * stride + place];
  --whole_[last * stride + place];
}

Coverage CoverageBuilder::finish() {
  const std::size_t stride = coverage_.kinds.size();
  std::vector<std::uint8_t> level(covered_ns_.size());
  const auto full = static_cast<std::uint64_t>(full_ns_);
  for (std::size_t i = 0; i < level.size(); ++i) {
    if (i >= stride) whole_[i] += whole_[i - stride];
    const std::uint64_t covered = covered_ns_[i] + static_cast<std::uint64_t>(whole_[i]) * static_cast<std::uint64_t>(coverage_.bucket_ns);
    level[i] = static_cast<std::uint8_t>((std::min(covered, full) * 255 + full - 1) / full);
  }
  coverage_.covered.push_back(std::move(level));
  for (std::size_t count = buckets_; count > kCoarsest && count % 2 == 0; count /= 2) {
    const std::vector<std::uint8_t>& fine = coverage_.covered.back();
    std::vector<std::uint8_t> coarse(count / 2 * stride);
    for (std::size_t bucket = 0; bucket < count / 2; ++bucket) {
      for (std::size_t k = 0; k < stride; ++k) {
        const int sum = fine[2 * bucket * stride + k] + fine[(2 * bucket + 1) * stride + k];
        coarse[bucket * stride + k] =
            static_cast<std::uint8_t>((sum + 1) / 2);  // rounded up, so that nothing vanishes
      }
    }
    coverage_.covered.push_back(std::move(coarse));
  }
  return std::move(coverage_);
}

}  // namespace ddbench::gui
