#include "reports/text/shown_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace ddbench::reports {
namespace {

std::int64_t floor_divided(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

std::int64_t rounded(std::int64_t value, std::int64_t quantum) {
  return floor_divided(value + quantum / 2, quantum);
}

}  // namespace

std::vector<std::int64_t> rounded_to_sum(const std::vector<std::int64_t>& values, std::int64_t quantum) {
  std::vector<std::int64_t> quanta;
  for (const std::int64_t value : values) quanta.push_back(floor_divided(value, quantum));
  const auto remainder = [&](std::size_t i) { return values[i] - quanta[i] * quantum; };
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::int64_t> remainders(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) remainders[i] = remainder(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  const std::int64_t wanted =
      rounded(std::accumulate(values.begin(), values.end(), std::int64_t{0}), quantum);
  std::int64_t short_by = wanted - std::accumulate(quanta.begin(), quanta.end(), std::int64_t{0});
  for (std::size_t i = 0; i < order.size() && short_by > 0; ++i, --short_by) ++quanta[order[i]];
  return quanta;
}

TimeScale::TimeScale(std::int64_t largest_ns) {
  struct Unit {
    std::int64_t size_ns;
    const char* name;
  };
  for (const Unit unit : {Unit{1, "ns"}, {1'000, "µs"}, {1'000'000, "ms"}, {1'000'000'000, "s"}}) {
    if (unit.size_ns > 1 && largest_ns < unit.size_ns) break;
    unit_ = unit.name;
    quantum_ns_ = unit.size_ns;
    decimals_ = 0;
    // Two decimals below 100 of the unit, one above.
    const int wanted = largest_ns < 100 * unit.size_ns ? 2 : 1;
    for (; decimals_ < wanted && quantum_ns_ >= 10; ++decimals_) quantum_ns_ /= 10;
  }
}

std::string TimeScale::text(std::int64_t quanta, bool sign) const {
  std::int64_t scale = 1;
  for (int i = 0; i < decimals_; ++i) scale *= 10;
  const std::int64_t size = std::abs(quanta);
  std::string result = quanta < 0 ? "-" : sign && quanta > 0 ? "+" : "";
  result += fmt::format("{}", size / scale);
  if (decimals_ > 0) result += fmt::format(".{:0{}}", size % scale, decimals_);
  return result + " " + unit_;
}

std::vector<std::string> TimeScale::show(const std::vector<std::int64_t>& values_ns, bool sign) const {
  std::vector<std::string> texts;
  for (const std::int64_t quanta : rounded_to_sum(values_ns, quantum_ns_))
    texts.push_back(text(quanta, sign));
  return texts;
}

std::string TimeScale::show_one(std::int64_t value_ns, bool sign) const {
  return text(rounded(value_ns, quantum_ns_), sign);
}

std::vector<std::string> shown_percents(const std::vector<std::int64_t>& values, std::int64_t total) {
  std::vector<std::string> texts;
  if (total <= 0) return std::vector<std::string>(values.size(), "");
  // A thousand times the sum of several must be a number, too. Longer times than this of 39 hours need not be exact to the nanosecond.
  constexpr std::int64_t kMostExact = std::int64_t{1} << 47;
  std::int64_t largest = total;
  for (const std::int64_t value : values) largest = std::max(largest, std::abs(value));
  const std::int64_t unit = 1 + largest / kMostExact;
  std::vector<std::int64_t> thousandfold;
  for (const std::int64_t value : values) thousandfold.push_back(value / unit * 1000);
  for (const std::int64_t tenths : rounded_to_sum(thousandfold, std::max<std::int64_t>(1, total / unit))) {
    texts.push_back(
        fmt::format("{}{}.{}%", tenths < 0 ? "-" : "", std::abs(tenths) / 10, std::abs(tenths) % 10));
  }
  return texts;
}

}  // namespace ddbench::reports
