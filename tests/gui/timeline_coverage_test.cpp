// The share of each bucket that spans cover, against one that visits every bucket of every span.

#include "gui/timeline/timeline_coverage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace ddbench::gui {
namespace {

struct Stretch {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  SpanKind kind;
};

/// Of the finest level: 255 for a bucket that is covered whole, rounded up.
std::vector<std::uint8_t> counted(const std::vector<Stretch>& stretches, std::int64_t begin_ns, const Coverage& coverage, int sharers) {
  std::vector<std::uint8_t> result;
  const std::size_t buckets = coverage.covered[0].size() / coverage.kinds.size();
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    const std::int64_t from = begin_ns + static_cast<std::int64_t>(bucket) * coverage.bucket_ns;
    for (const SpanKind kind : coverage.kinds) {
      std::int64_t sum = 0;
      for (const Stretch& one : stretches) {
        const std::int64_t end_ns = std::max(one.end_ns, one.begin_ns + 1);
        if (one.kind == kind) sum += std::max<std::int64_t>(0, std::min(end_ns, from + coverage.bucket_ns) - std::max(one.begin_ns, from));
      }
      const std::int64_t full = coverage.bucket_ns * sharers;
      result.push_back(static_cast<std::uint8_t>((std::min(sum, full) * 255 + full - 1) / full));
    }
  }
  return result;
}

TEST(TimelineCoverage, IsTheSumOfWhatEachSpanCovers) {
  std::mt19937 random(20);
  for (int round = 0; round < 40; ++round) {
    const std::int64_t begin_ns = round % 2 == 0 ? 0 : -1'000'003;
    const std::int64_t length_ns = std::uniform_int_distribution<std::int64_t>(1, 20'000)(random);
    const int sharers = std::uniform_int_distribution(1, 3)(random);
    std::uniform_int_distribution<std::int64_t> at(0, length_ns);
    std::vector<Stretch> stretches;
    for (int i = 0; i < 300; ++i) {
      std::int64_t from = begin_ns + at(random);
      std::int64_t to = begin_ns + at(random);
      if (from > to) std::swap(from, to);
      if (i % 10 == 0) to = from;
      if (i % 25 == 0) from = begin_ns, to = begin_ns + length_ns;  // as long as the run
      stretches.push_back({from, to, i % 3 == 0 ? SpanKind::kForward : SpanKind::kCommunication});
    }
    KindsSeen kinds{};
    kinds[static_cast<std::size_t>(SpanKind::kForward)] = kinds[static_cast<std::size_t>(SpanKind::kCommunication)] = true;
    CoverageBuilder builder(begin_ns, begin_ns + length_ns, stretches.size(), kinds, sharers);
    for (const Stretch& one : stretches) builder.add(one.begin_ns, one.end_ns, one.kind);
    const Coverage coverage = builder.finish();
    EXPECT_EQ(coverage.covered[0], counted(stretches, begin_ns, coverage, sharers)) << "round " << round;
  }
}

}  // namespace
}  // namespace ddbench::gui
