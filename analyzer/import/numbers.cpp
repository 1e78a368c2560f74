#include "analyzer/import/numbers.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <utility>

#include "core/text/number.h"
#include "core/text/text_hash.h"

namespace ddbench::imports {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 9> kTimes = {{{"ns", 1},
                                                                        {"us", 1e3},
                                                                        {"µs", 1e3},
                                                                        {"ms", 1e6},
                                                                        {"s", 1e9},
                                                                        {"sec", 1e9},
                                                                        {"min", 60e9},
                                                                        {"h", 3600e9},
                                                                        {"d", 86400e9}}};

template <typename Number>
std::optional<Number> parse(std::string_view text) noexcept {
  text = trimmed(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  return ddbench::number_from<Number>(text);
}

}  // namespace

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::optional<double> number_from(std::string_view text) noexcept {
  return parse<double>(text);
}

std::optional<std::int64_t> integer_from(std::string_view text) noexcept {
  return parse<std::int64_t>(text);
}

std::optional<double> nanoseconds_of(std::string_view unit) noexcept {
  for (const auto& [name, ns] : kTimes) {
    if (name == unit) return ns;
  }
  return std::nullopt;
}

std::string hash_text(std::string_view text) {
  return fmt::format("{:016x}", ddbench::hash_text(text));
}

}  // namespace ddbench::imports
