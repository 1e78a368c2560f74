#include <time.h>

#include <algorithm>
#include <cctype>

#include "analyzer/import/training_log/log_rows.h"
#include "core/text/number.h"

namespace ddbench::imports {
namespace {

constexpr double kLargestCount = 9e15;  // beyond it a double has no whole numbers

/// Digits where the picture has 0, else the same characters; "T" may be a blank.
bool looks_like(std::string_view text, std::string_view picture) {
  if (text.size() < picture.size()) return false;
  return std::equal(picture.begin(), picture.end(), text.begin(), [](char want, char is) {
    if (want == '0') return std::isdigit(static_cast<unsigned char>(is)) != 0;
    return want == is || (want == 'T' && is == ' ');
  });
}

int digits(std::string_view text, std::size_t at, std::size_t count) {
  return number_from<int>(text.substr(at, count)).value_or(0);
}

std::int64_t fraction_ns(std::string_view text) {
  if (text.empty() || (text.front() != ',' && text.front() != '.')) return 0;
  std::int64_t ns = 0;
  std::int64_t unit = 100'000'000;
  for (std::size_t i = 1; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i, unit /= 10)
    ns += unit * (text[i] - '0');
  return ns;
}

}  // namespace

std::string without_colours(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      plain += line[i];
      continue;
    }
    while (i + 1 < line.size() && std::isalpha(static_cast<unsigned char>(line[i])) == 0) ++i;
  }
  return plain;
}

std::optional<double> number_after(std::string_view line, std::string_view key) noexcept {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::string number;
  for (const char c : rest.substr(0, 64)) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-' && c != '+' && c != ',') break;
    if (c != ',') number += c;
  }
  const auto value = leading_number<double>(number);
  return value ? std::optional(value->value) : std::nullopt;
}

std::optional<std::int64_t> count_after(std::string_view line, std::string_view key) noexcept {
  const auto number = number_after(line, key);
  if (!number || !(*number >= 0) || *number > kLargestCount || *number != std::floor(*number)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<std::int64_t> stamp_in(std::string_view line) noexcept {
  constexpr std::string_view kPicture = "0000-00-00T00:00:00";
  for (std::size_t at = 0; at + kPicture.size() <= line.size(); ++at) {
    const std::string_view text = line.substr(at);
    if (!looks_like(text, kPicture)) continue;
    tm time{};
    time.tm_year = digits(text, 0, 4) - 1900;
    time.tm_mon = digits(text, 5, 2) - 1;
    time.tm_mday = digits(text, 8, 2);
    time.tm_hour = digits(text, 11, 2);
    time.tm_min = digits(text, 14, 2);
    time.tm_sec = digits(text, 17, 2);
    const std::int64_t seconds = ::timegm(&time);
    if (seconds < 0 || seconds > 8'000'000'000) return std::nullopt;
    return seconds * 1'000'000'000 + fraction_ns(text.substr(kPicture.size(), 10));
  }
  return std::nullopt;
}

}  // namespace ddbench::imports
