#include "core/facts/facts.h"

#include <fmt/ranges.h>

#include <array>

namespace ddbench {
namespace {

constexpr std::string_view kSeparator = ", ";
constexpr std::string_view kCounted = "counted.";
// Facts come from stores of others, too: within these the sum and the difference of two do not overflow.
constexpr std::int64_t kEndOfIntegers = std::int64_t{1} << 62;
constexpr std::array<std::string_view, 2> kReasonPrefixes{"unknown: ", "not measured: "};

constexpr std::size_t kLongestKey = 512;  // keys come from outside, too: patterns with two "*" try each pair of places

/// Each "*" matches one or more characters.
bool matches(std::string_view pattern, std::string_view key) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == key;
  if (!key.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t end = star + 1; end <= key.size(); ++end) {
    if (matches(rest, key.substr(end))) return true;
  }
  return false;
}

const FactSpec* find_plain(std::string_view key) noexcept {
  if (key.size() > kLongestKey) return nullptr;
  for (const FactSpec& spec : kFactTable) {
    if (spec.key == key) return &spec;
  }
  for (const FactSpec& spec : kFactTable) {
    if (spec.key.find('*') != std::string_view::npos && matches(spec.key, key)) return &spec;
  }
  return nullptr;
}

}  // namespace

const FactSpec* find_fact(std::string_view key) noexcept {
  const std::string_view name = detail::counted_name(key);
  return find_plain(name.empty() ? key : name);
}

std::string_view to_string(FactType type) noexcept {
  constexpr std::array<std::string_view, 6> kNames{"integer", "real", "text", "switch", "list", "estimate"};
  return kNames[static_cast<std::size_t>(type)];
}

std::optional<ReportedFact> reported_fact(std::string_view name) {
  const std::size_t end = name.find(": ");
  if (end == std::string_view::npos || find_plain(name.substr(0, end)) == nullptr) return std::nullopt;
  return ReportedFact{std::string(name.substr(0, end)), std::string(name.substr(end + 2))};
}

namespace detail {

std::string fact_text(bool value, std::string_view) {
  return value ? "on" : "off";
}
std::string fact_text(std::int64_t value, std::string_view) {
  return std::to_string(value);
}
std::string fact_text(double value, std::string_view format) {
  return fmt::format(fmt::runtime(format), value);
}
std::string fact_text(const std::string& value, std::string_view) {
  return value;
}
std::string fact_text(const std::vector<std::string>& value, std::string_view) {
  return fmt::format("{}", fmt::join(value, kSeparator));
}
std::string fact_text(const FactEstimate& value, std::string_view) {
  return fmt::format("{:.4g} {:.4g} {:.4g}", value.value, value.low, value.high);
}

bool read_fact(std::string_view text, bool& value) {
  value = text == "on";
  return value || text == "off";
}
bool read_fact(std::string_view text, std::int64_t& value) {
  const auto number = number_from<std::int64_t>(text);
  value = number.value_or(0);
  return number && value > -kEndOfIntegers && value < kEndOfIntegers;
}
bool read_fact(std::string_view text, double& value) {
  const auto number = number_from<double>(text);
  value = number.value_or(0);
  return number.has_value();
}
bool read_fact(std::string_view text, std::string& value) {
  value = text;
  return true;
}
bool read_fact(std::string_view text, std::vector<std::string>& value) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(kSeparator), text.size());
    value.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + kSeparator.size(), text.size()));
  }
  return true;
}
bool read_fact(std::string_view text, FactEstimate& value) {
  for (double* const part : {&value.value, &value.low, &value.high}) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const auto number = number_from<double>(text.substr(0, end));
    if (!number) return false;
    *part = *number;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return text.empty();
}

std::string_view counted_name(std::string_view key) noexcept {
  if (!key.starts_with(kCounted)) return {};
  key.remove_prefix(kCounted.size());
  const std::size_t dot = key.find('.');
  const bool names_node = key.starts_with("node") && dot != std::string_view::npos;
  return names_node ? key.substr(dot + 1) : key;
}

std::optional<std::string> reason_in(std::string_view text) {
  for (const std::string_view prefix : kReasonPrefixes) {
    if (text.starts_with(prefix)) return std::string(text.substr(prefix.size()));
  }
  return std::nullopt;
}

}  // namespace detail
}  // namespace ddbench
