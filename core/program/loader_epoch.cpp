#include "core/program/loader_epoch.h"

#include <algorithm>
#include <array>

#include "core/text/number.h"

namespace ddbench {
namespace {

constexpr std::string_view kLoaderBegin = "loader: ";
constexpr std::array<std::string_view, 4> kOrders{"-", "shuffled", "distributed", "fixed"};
constexpr std::size_t kHashDigits = 16;
constexpr std::size_t kMostTensors = 16;

bool is_hash(std::string_view text) noexcept {
  return text.size() == kHashDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// What stands before the next `separator`; the rest stays in `text`.
std::string_view take_until(std::string_view& text, char separator) noexcept {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

bool take_number(std::string_view& text, std::int64_t least, std::int64_t most, std::int64_t& value) noexcept {
  const auto number = number_from<std::int64_t>(take_until(text, ' '));
  if (!number || *number < least || *number > most) return false;
  value = *number;
  return true;
}

bool take_values(std::string_view text, std::vector<std::string>& values) {
  while (!text.empty()) {
    const std::string_view value = take_until(text, ',');
    if ((value != "-" && !is_hash(value)) || values.size() == kMostTensors) return false;
    values.emplace_back(value);
  }
  return true;
}

}  // namespace

std::string loader_epoch_name(const LoaderEpoch& epoch) {
  std::string name(kLoaderBegin);
  name += std::to_string(epoch.epoch) + " " + std::to_string(epoch.samples) + " ";
  name += kOrders[static_cast<std::size_t>(epoch.order)];
  name += " " + std::to_string(epoch.indices) + " " + (epoch.hash.empty() ? "-" : epoch.hash) + " ";
  name += std::to_string(epoch.dataset) + (epoch.ended ? " whole " : " part ");
  for (std::size_t i = 0; i < epoch.values.size(); ++i) name += (i == 0 ? "" : ",") + epoch.values[i];
  return name;
}

std::optional<LoaderEpoch> parse_loader_epoch(std::string_view name) {
  if (!name.starts_with(kLoaderBegin)) return std::nullopt;
  name.remove_prefix(kLoaderBegin.size());
  LoaderEpoch epoch;
  if (!take_number(name, 0, LoaderEpoch::kLargestEpoch, epoch.epoch)) return std::nullopt;
  if (!take_number(name, -1, INT64_MAX, epoch.samples)) return std::nullopt;
  const auto* const order = std::find(kOrders.begin(), kOrders.end(), take_until(name, ' '));
  if (order == kOrders.end() || !take_number(name, 0, 1'000'000, epoch.indices)) return std::nullopt;
  epoch.order = static_cast<LoaderEpoch::Order>(order - kOrders.begin());
  const std::string_view hash = take_until(name, ' ');
  if (hash != "-" && !is_hash(hash)) return std::nullopt;
  if (hash != "-") epoch.hash = hash;
  if (!take_number(name, -1, LoaderEpoch::kLargestEpoch, epoch.dataset)) return std::nullopt;
  const std::string_view extent = take_until(name, ' ');
  if (extent != "whole" && extent != "part") return std::nullopt;
  epoch.ended = extent == "whole";
  if (!take_values(name, epoch.values)) return std::nullopt;
  return epoch;
}

}  // namespace ddbench
