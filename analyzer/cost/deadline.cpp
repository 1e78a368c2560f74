#include "analyzer/cost/deadline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/text/number.h"

namespace ddbench::analyzer {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"};
constexpr double kSecondsOfAnHour = 3600;

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw Error(ErrorCode::kBadInput, fmt::format("--deadline is \"{}\", {}: give hours (36), a day (friday, 2026-11-27), or a day with a time "
                                                "(\"fri 18:00\", \"2026-11-27 18:00\")",
                                                text, why));
}

/// The number in `text`, which has exactly these digits.
std::optional<int> digits(std::string_view text, std::size_t from, std::size_t count) {
  const std::string_view part = text.substr(std::min(from, text.size()), count);
  const bool all = part.size() == count && std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return all ? number_from<int>(part) : std::nullopt;
}

struct TimeOfDay {
  int hour = 24;  ///< the end of the day
  int minute = 0;
};

std::optional<TimeOfDay> time_of_day(std::string_view text) {
  const auto hour = digits(text, 0, 2), minute = digits(text, 3, 2);
  if (text.size() != 5 || text[2] != ':' || !hour || !minute || *hour > 23 || *minute > 59) return std::nullopt;
  return TimeOfDay{*hour, *minute};
}

std::optional<int> weekday(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (std::size_t day = 0; day < kDays.size(); ++day) {
    if (lower == kDays[day] || lower == kDays[day].substr(0, 3)) return static_cast<int>(day);
  }
  return std::nullopt;
}

std::time_t at(std::tm day, const TimeOfDay& time) {
  day.tm_hour = time.hour;
  day.tm_min = time.minute;
  day.tm_sec = 0;
  day.tm_isdst = -1;  // as it is then
  return std::mktime(&day);
}

/// Nothing where it is no date.
std::optional<std::time_t> on_date(std::string_view date, const TimeOfDay& time) {
  const auto year = digits(date, 0, 4), month = digits(date, 5, 2), day = digits(date, 8, 2);
  if (date.size() != 10 || date[4] != '-' || date[7] != '-' || !year || !month || !day) return std::nullopt;
  std::tm wanted{};
  wanted.tm_year = *year - 1900;
  wanted.tm_mon = *month - 1;
  wanted.tm_mday = *day;
  std::tm noon = wanted;
  noon.tm_hour = 12;
  noon.tm_isdst = -1;
  std::mktime(&noon);  // carries February 30th into March
  if (noon.tm_mon != wanted.tm_mon || noon.tm_mday != wanted.tm_mday) return std::nullopt;
  return at(wanted, time);
}

std::time_t on_weekday(int day, const TimeOfDay& time, std::time_t now) {
  std::tm today{};
  ::localtime_r(&now, &today);
  today.tm_mday += (day - today.tm_wday + 7) % 7;
  const std::time_t found = at(today, time);
  if (found > now) return found;
  today.tm_mday += 7;
  return at(today, time);
}

}  // namespace

double hours_until(std::string_view text, std::time_t now) {
  const std::string_view hours = text.ends_with('h') ? text.substr(0, text.size() - 1) : text;
  if (const auto number = number_from<double>(hours)) {
    if (*number <= 0) refuse(text, "but it must be above 0");
    return *number;
  }
  constexpr std::size_t kDate = 10;  // 2026-12-24T18:00
  const std::size_t space = text.size() > kDate && text[kDate] == 'T' ? kDate : text.find(' ');
  const bool has_time = space != std::string_view::npos && space + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[space + 1])) != 0;
  const std::string_view day = has_time ? text.substr(0, space) : text;
  const auto time = has_time ? time_of_day(text.substr(space + 1)) : TimeOfDay{};
  std::optional<std::time_t> end;
  if (time) end = on_date(day, *time);
  if (const auto named = weekday(day); time && named) end = on_weekday(*named, *time, now);
  if (!end) refuse(text, "which is no deadline");
  if (*end <= now) refuse(text, "which has passed");
  return std::difftime(*end, now) / kSecondsOfAnHour;
}

}  // namespace ddbench::analyzer
