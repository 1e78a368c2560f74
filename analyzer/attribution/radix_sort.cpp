#include "analyzer/attribution/radix_sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kComparisonSortLimit = 4096;
constexpr std::size_t kMostRuns = 8;
constexpr unsigned kDigitBits = 8;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

std::size_t digit(std::uint64_t key, unsigned shift) {
  return (key >> shift) & (kDigits - 1);
}

void scatter_by_digit(const std::vector<std::uint64_t>& from, std::vector<std::uint64_t>& to,
                      unsigned shift) {
  std::array<std::size_t, kDigits> place{};
  for (const std::uint64_t key : from) ++place[digit(key, shift)];
  std::size_t next = 0;
  for (std::size_t& slot : place) {
    const std::size_t count = slot;
    slot = next;
    next += count;
  }
  for (const std::uint64_t key : from) to[place[digit(key, shift)]++] = key;
}

using Place = std::vector<std::uint64_t>::iterator;

/// The ends of the ascending runs; empty when there are more than kMostRuns.
std::vector<Place> few_runs(std::vector<std::uint64_t>& boundaries, unsigned low_bit) {
  std::vector<Place> ends;
  for (Place at = boundaries.begin(); at != boundaries.end(); ends.push_back(at)) {
    if (ends.size() == kMostRuns) return {};
    std::uint64_t last = *at >> low_bit;
    for (++at; at != boundaries.end() && last <= *at >> low_bit; ++at) last = *at >> low_bit;
  }
  return ends;
}

void merge_runs(std::vector<std::uint64_t>& boundaries, const std::vector<Place>& run_ends,
                unsigned low_bit) {
  const auto earlier = [low_bit](std::uint64_t a, std::uint64_t b) { return a >> low_bit < b >> low_bit; };
  for (std::size_t run = 1; run < run_ends.size(); ++run) {
    std::inplace_merge(boundaries.begin(), run_ends[run - 1], run_ends[run], earlier);
  }
}

void radix_sort(std::vector<std::uint64_t>& boundaries, unsigned low_bit, std::uint64_t largest) {
  std::vector<std::uint64_t> scratch(boundaries.size());
  const auto used_bits = static_cast<unsigned>(std::bit_width(largest));
  for (unsigned shift = low_bit; shift < used_bits; shift += kDigitBits) {
    scatter_by_digit(boundaries, scratch, shift);
    boundaries.swap(scratch);
  }
}

}  // namespace

void sort_boundaries(std::vector<std::uint64_t>& boundaries, unsigned low_bit, std::uint64_t largest) {
  // A lane records its spans one after the other: usually there are as many runs as busy lanes.
  if (const std::vector<Place> run_ends = few_runs(boundaries, low_bit); !run_ends.empty()) {
    merge_runs(boundaries, run_ends, low_bit);
  } else if (boundaries.size() <= kComparisonSortLimit) {
    std::sort(boundaries.begin(), boundaries.end());
  } else {
    radix_sort(boundaries, low_bit, largest);
  }
}

}  // namespace ddbench::analyzer
