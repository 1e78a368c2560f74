#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/span.h"

namespace ddbench::gui {

/// How much of each time bucket each kind covers, at several resolutions: drawing the whole run then costs no more
/// than drawing a small part.
struct Coverage {
  std::vector<SpanKind> kinds;  ///< that occur
  /// covered[level][bucket * kinds.size() + k]: share of the bucket that kinds[k] covers, 255 for the whole
  /// bucket; any coverage at all is at least 1. A bucket of level n is bucket_ns << n long.
  std::vector<std::vector<std::uint8_t>> covered;
  std::int64_t bucket_ns = 1;

  std::size_t bytes() const noexcept;
};

/// Which kinds a coverage has, by SpanKind.
using KindsSeen = std::array<bool, kSpanKindCount>;

/// Makes a coverage of spans given in any order.
class CoverageBuilder {
 public:
  /// `spans`: how many will be added; the finest buckets hold a few of them, and their number is bounded by it.
  /// `sharers`: ranks whose mean the coverage is.
  CoverageBuilder(std::int64_t begin_ns, std::int64_t end_ns, std::size_t spans, const KindsSeen& kinds, int sharers = 1);
  void add(std::int64_t begin_ns, std::int64_t end_ns, SpanKind kind);
  Coverage finish();

 private:
  std::int64_t begin_ns_;
  std::int64_t full_ns_;  ///< of a bucket that is covered whole
  std::size_t buckets_ = 1;
  Coverage coverage_;
  std::array<std::size_t, kSpanKindCount> place_{};
  std::vector<std::uint64_t> covered_ns_;  ///< [bucket * kinds + k]: by spans that begin or end in the bucket
  std::vector<std::int64_t> whole_;        ///< change of the number of spans that cover the bucket whole, same places
};

}  // namespace ddbench::gui
