#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>

#include "analyzer/import/numbers.h"
#include "analyzer/import/training_log/log_rows.h"
#include "core/error.h"


namespace ddbench::imports {
namespace {

// std::regex recurses for each character that it matches.
constexpr std::size_t kLongestLine = 2048;
constexpr std::array<std::string_view, 5> kGroups = {"step", "step_time_ms", "step_time_s", "samples_per_s", "loss"};

[[noreturn]] void refuse_regex(const std::string& origin, const std::string& why) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", origin, why), 0, origin);
}

std::vector<std::string> groups_of(const std::string& text, const std::string& origin) {
  std::vector<std::string> groups;
  std::string_view rest = text;
  while (!rest.empty()) {
    groups.emplace_back(trimmed(rest.substr(0, rest.find(','))));
    if (std::find(kGroups.begin(), kGroups.end(), groups.back()) == kGroups.end())
      refuse_regex(origin, fmt::format("--groups has \"{}\"; there are {}", groups.back(), fmt::join(kGroups, ", ")));
    rest.remove_prefix(std::min(rest.find(','), rest.size() - 1) + 1);
  }
  if (groups.empty()) refuse_regex(origin, fmt::format("--format regex needs --groups, what the groups of --regex are: {}", fmt::join(kGroups, ", ")));
  return groups;
}

std::regex compiled(const std::string& pattern, const std::string& origin) {
  if (pattern.empty()) refuse_regex(origin, "--format regex needs --regex, with a group for each value");
  try {
    return std::regex(pattern, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    refuse_regex(origin, fmt::format("--regex \"{}\" is no ECMAScript pattern: {}", pattern, error.what()));
  }
}

void set_value(LogRow& row, const std::string& group, double value) {
  if (group == "step") row.step = static_cast<std::int64_t>(value);
  if (group == "step_time_ms") row.step_ns = value * 1e6;
  if (group == "step_time_s") row.step_ns = value * 1e9;
  if (group == "samples_per_s") row.samples_per_s = value;
  if (group == "loss") row.loss = value;
}

}  // namespace

LogContent read_with_regex(std::string_view text, const std::string& origin, const TrainingLogOptions& options) {
  const std::vector<std::string> groups = groups_of(options.groups, origin);
  const std::regex pattern = compiled(options.regex, origin);
  if (pattern.mark_count() != groups.size())
    refuse_regex(origin, fmt::format("--regex has {} groups and --groups {}", pattern.mark_count(), groups.size()));
  LogContent content;
  each_line(text, [&](std::string_view line, int number) {
    line = line.substr(0, kLongestLine);
    std::match_results<std::string_view::const_iterator> match;
    try {
      if (!std::regex_search(line.begin(), line.end(), match, pattern)) return;
    } catch (const std::regex_error& error) {
      refuse_regex(origin, fmt::format("line {}: --regex is too costly: {}", number, error.what()));
    }
    LogRow row;
    row.line = number;
    row.step = static_cast<std::int64_t>(content.rows.size()) + 1;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const auto value = number_from(match[group + 1].str());
      if (!value || std::abs(*value) > 9e15)
        refuse_regex(origin, fmt::format("line {}: {} is \"{}\", which is no number", number, groups[group], match[group + 1].str()));
      set_value(row, groups[group], *value);
    }
    content.rows.push_back(row);
  });
  return content;
}

}  // namespace ddbench::imports
