#include "analyzer/run/run_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <optional>

#include "analyzer/run/run_fields.h"
#include "core/error.h"
#include "core/text/number.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kLongestReference = 4096;
constexpr std::size_t kShortestPart = 4;
constexpr std::size_t kMostListed = 6;

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == ',' || text[i + 1] == '\\')) {
      parts.back() += text[++i];
    } else if (text[i] == ',') {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

void require_one_of(const FieldCondition& condition, std::initializer_list<std::string_view> allowed) {
  if (std::find(allowed.begin(), allowed.end(), condition.value) != allowed.end()) return;
  std::string list;
  for (const std::string_view value : allowed) list += fmt::format("{}{}", list.empty() ? "" : ", ", value);
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} is \"{}\", but it must be one of {}", condition.field, condition.value, list));
}

/// An impossible value would never match anything: report it now.
void require_possible(const FieldCondition& condition) {
  if (condition.field == "state")
    require_one_of(condition, {"running", "done", "failed", "interrupted", "preempted"});
  if (condition.field == "scaling") require_one_of(condition, {"weak", "strong"});
  if (condition.field == "valid" || condition.field == "is_baseline" || condition.field == "nodes_not_stated")
    require_one_of(condition, {"true", "false"});
  const auto known = known_run_fields().find(condition.field);
  if (known != known_run_fields().end() && known->second.numeric && !number_from<double>(condition.value)) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} is \"{}\", but it must be a number", condition.field, condition.value));
  }
}

FieldCondition parse_condition(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format(
            "\"{}\" is no condition: it must be field=value[,field=value...], with a comma inside a value "
            "written as \\,",
            text));
  }
  FieldCondition condition{text.substr(0, equals), text.substr(equals + 1)};
  if (!is_run_field(condition.field)) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("a run has no field \"{}\"; {}", condition.field, fields_instead_of(condition.field)));
  }
  require_possible(condition);
  return condition;
}

std::vector<store::RunRecord> oldest_first(std::vector<store::RunRecord> runs) {
  std::stable_sort(runs.begin(), runs.end(),
                   [](const auto& a, const auto& b) { return a.started_wall_ns < b.started_wall_ns; });
  return runs;
}

std::vector<store::RunRecord> runs_such_that(const store::RunStore& store,
                                             const std::function<bool(const store::RunRecord&)>& wanted,
                                             std::size_t limit = 0) {
  std::vector<store::RunRecord> found;
  store.visit_runs([&](store::RunRecord&& run) {
    if (wanted(run)) found.push_back(std::move(run));
    return limit == 0 || found.size() < limit;
  });
  return oldest_first(std::move(found));
}

std::vector<store::RunRecord> runs_of(const store::RunStore& store, const store::NamedBaseline& baseline) {
  std::vector<store::RunRecord> runs;
  for (const store::RunId& id : baseline.runs) {
    if (auto run = store.run(id)) runs.push_back(*std::move(run));
  }
  return oldest_first(std::move(runs));
}

std::optional<ResolvedReference> as_named_baseline(const store::RunStore& store, const std::string& name) {
  const std::vector<store::NamedBaseline> versions = store.baseline_versions(name);
  if (versions.empty()) return std::nullopt;
  const store::NamedBaseline& newest = versions.back();
  ResolvedReference resolved;
  resolved.reference = name;
  resolved.named_baseline = name;
  resolved.meaning = fmt::format("named baseline {}, version {}", name, newest.version);
  resolved.runs = runs_of(store, newest);
  if (resolved.runs.size() < newest.runs.size()) {
    resolved.meaning += fmt::format(" ({} of its {} runs were deleted)",
                                    newest.runs.size() - resolved.runs.size(), newest.runs.size());
    resolved.missing = "the runs of this baseline were deleted";
  }
  const auto in_newest = [&](const store::RunRecord& run) {
    return std::find(newest.runs.begin(), newest.runs.end(), run.id) != newest.runs.end();
  };
  for (auto version = versions.begin(); version != versions.end() - 1; ++version) {
    for (store::RunRecord& run : runs_of(store, *version)) {
      const bool seen = std::any_of(resolved.earlier.begin(), resolved.earlier.end(),
                                    [&](const store::RunRecord& other) { return other.id == run.id; });
      if (!seen && !in_newest(run)) resolved.earlier.push_back(std::move(run));
    }
  }
  resolved.earlier = oldest_first(std::move(resolved.earlier));
  return resolved;
}

bool is_part(std::string_view whole, std::string_view part) {
  return part.size() >= kShortestPart && (whole.starts_with(part) || whole.ends_with(part));
}

[[noreturn]] void throw_ambiguous(const std::string& text, const std::vector<std::string>& matches) {
  std::string list;
  for (std::size_t i = 0; i < std::min(matches.size(), kMostListed); ++i) list += "\n  " + matches[i];
  if (matches.size() > kMostListed) list += fmt::format("\n  and {} more", matches.size() - kMostListed);
  throw Error(ErrorCode::kBadInput, fmt::format("\"{}\" is ambiguous: it fits {} runs or sweeps. Give more characters of one of these:{}",
                                                text, matches.size(), list));
}

ResolvedReference as_whole_or_part_of_id(const store::RunStore& store, const std::string& text) {
  std::vector<std::string> runs;
  std::vector<std::string> sweeps;
  bool exact_run = false;
  for (const store::RunRecord& run : store.runs()) {
    exact_run |= run.id == text;
    if (is_part(run.id, text)) runs.push_back(run.id);
    const bool new_sweep = std::find(sweeps.begin(), sweeps.end(), run.sweep_id) == sweeps.end();
    if (new_sweep && (run.sweep_id == text || is_part(run.sweep_id, text))) sweeps.push_back(run.sweep_id);
  }
  if (exact_run) runs = {text}, sweeps.clear();
  if (std::find(sweeps.begin(), sweeps.end(), text) != sweeps.end()) sweeps = {text}, runs.clear();
  std::vector<std::string> all = runs;
  all.insert(all.end(), sweeps.begin(), sweeps.end());
  if (all.size() > 1) throw_ambiguous(text, all);
  ResolvedReference resolved;
  if (all.empty()) return resolved;
  const bool run = !runs.empty();
  resolved.meaning = fmt::format("{} {}", run ? "run" : "sweep", all.front());
  resolved.runs = runs_such_that(store, [&](const store::RunRecord& candidate) {
    return run ? candidate.id == all.front() : candidate.sweep_id == all.front() && !candidate.is_baseline;
  });
  return resolved;
}

std::string what_there_is(const store::RunStore& store) {
  std::string names;
  for (const store::NamedBaseline& baseline : store.baselines())
    names += (names.empty() ? "" : ", ") + baseline.name;
  return names.empty() ? "the store has no named baselines" : "the named baselines are " + names;
}

}  // namespace

std::vector<FieldCondition> parse_conditions(std::string_view text) {
  if (text.empty() || text.size() > kLongestReference) {
    throw Error(ErrorCode::kBadInput, fmt::format("a list of conditions has 1 to {} characters, not {}",
                                                  kLongestReference, text.size()));
  }
  std::vector<FieldCondition> conditions;
  for (const std::string& part : split_at_commas(text)) conditions.push_back(parse_condition(part));
  return conditions;
}

bool matches(const store::RunRecord& run, const std::vector<FieldCondition>& conditions) {
  if (conditions.empty()) return true;
  const auto fields = run_fields(run);
  return std::all_of(conditions.begin(), conditions.end(), [&](const FieldCondition& condition) {
    const auto field = fields.find(condition.field);
    if (field == fields.end()) return false;
    if (!field->second.numeric || field->second.text == condition.value)
      return field->second.text == condition.value;
    return number_from<double>(field->second.text) == number_from<double>(condition.value);
  });
}

std::vector<store::RunRecord> runs_where(const store::RunStore& store,
                                         const std::vector<FieldCondition>& conditions, std::size_t limit) {
  const bool asks_for_baselines = std::any_of(
      conditions.begin(), conditions.end(),
      [](const auto& condition) { return condition.field == "is_baseline" || condition.field == "id"; });
  const auto wanted = [&](const store::RunRecord& run) {
    return (asks_for_baselines || !run.is_baseline) && matches(run, conditions);
  };
  return runs_such_that(store, wanted, limit);
}

ResolvedReference resolve_reference(const store::RunStore& store, std::string_view reference) {
  const std::string text(reference);
  if (text.empty() || text.size() > kLongestReference) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("a reference has 1 to {} characters, not {}: a run id, a sweep id, a named baseline, or "
                    "field=value[,field=value]",
                    kLongestReference, text.size()));
  }
  ResolvedReference resolved;
  if (text.find('=') != std::string::npos) {
    resolved.runs = runs_where(store, parse_conditions(text));
    resolved.meaning = "runs with " + text;
    resolved.missing = "no run in the store matches";
  } else if (text == "last") {
    resolved.runs = runs_where(store, {}, 1);
    resolved.meaning = "the last run";
    resolved.missing = "the store is empty";
  } else if (auto named = as_named_baseline(store, text)) {
    resolved = *std::move(named);
  } else {
    resolved = as_whole_or_part_of_id(store, text);
    if (resolved.runs.empty()) {
      resolved.runs = runs_where(store, {{"name", text}});
      resolved.meaning = fmt::format("runs named {}", text);
      resolved.missing = "no run, sweep, named baseline or run name fits; " + what_there_is(store);
    }
  }
  resolved.reference = text;
  if (!resolved.runs.empty()) resolved.missing.clear();
  return resolved;
}

}  // namespace ddbench::analyzer
