#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "core/library_error/outside_json.h"
#include "core/run_case/case_fields.h"
#include "core/run_case/run_case.h"
#include "core/run_case/run_case_hash.h"

namespace ddbench {
namespace {

using Json = nlohmann::ordered_json;

/// Fields that are younger than stored runs are written only where they say something, so that the keys of those
/// runs stay what they are.
constexpr std::string_view kYoungerFields[] = {"margin",  "max_time_s", "skip",
                                               "measure", "duration_s", "after", "nodes_not_stated"};

template <typename Value>
bool is_left_out(std::string_view key, const Value& value) {
  return value == Value{} && std::ranges::find(kYoungerFields, key) != std::end(kYoungerFields);
}

Json json_of(const RunCase& run_case, bool labels) {
  Json json = Json::object();
  // Appended without a search: each name is there once.
  auto& fields = json.get_ref<Json::object_t&>();
  visit_fields(run_case, [&](const char* key, FieldRole role, const auto& value) {
    if (role == FieldRole::kLabel && !labels) return;
    if (is_left_out(key, value)) return;
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, Work>) {
      fields.emplace_back(key, work_name(value));
      fields.emplace_back(kWorkOptionsField, work_options(value));
    } else if constexpr (std::is_enum_v<Value>) {
      fields.emplace_back(key, to_string(value));
    } else {
      fields.emplace_back(key, value);
    }
  });
  return json;
}

[[noreturn]] void refuse_unknown_field(const Json& json) {
  RunCase with_all;
  with_all.margin = with_all.max_time_s = with_all.duration_s = 1;
  with_all.skip = with_all.measure = 1;
  with_all.after = AfterWindow::kStop;
  with_all.nodes_not_stated = true;
  const Json fields = json_of(with_all, true);
  for (const auto& [key, value] : json.items()) {
    if (!fields.contains(key))
      throw Error(ErrorCode::kBadInput, fmt::format("a run case has no field \"{}\"", key));
  }
  throw Error(ErrorCode::kBadInput, "a run case has a field twice");
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;
  return hash ^ (hash >> 32);
}

std::uint64_t hash_of_value(const std::string& value) {
  return std::hash<std::string>{}(value);
}
std::uint64_t hash_of_value(const std::map<std::string, std::string>& values) {
  std::uint64_t hash = values.size();
  for (const auto& [key, value] : values) hash = mixed(mixed(hash, hash_of_value(key)), hash_of_value(value));
  return hash;
}
std::uint64_t hash_of_value(const Work& work) {
  return mixed(hash_of_value(work_name(work)), hash_of_value(work_options(work)));
}
template <typename Number>
std::uint64_t hash_of_value(Number value) {
  return std::hash<Number>{}(value);
}

// Names and paths may hold any bytes; invalid UTF-8 is replaced, never an exception.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Json converts between kinds of numbers in silence, and casts what does not fit.
template <typename Integer>
void read_integer(const char* key, const Json& entry, Integer& value) {
  const bool fits = entry.is_number_unsigned()  ? std::in_range<Integer>(entry.get<std::uint64_t>())
                    : entry.is_number_integer() ? std::in_range<Integer>(entry.get<std::int64_t>())
                                                : false;
  if (!fits) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} is {}, but it must be a whole number of at most {} bits", key, dump(entry),
                            8 * sizeof(Integer)));
  }
  entry.get_to(value);
}

/// How many fields of `json` are the work's.
std::size_t read_work(const char* key, const Json& json, Work& work) {
  const auto name = json.find(key);
  const auto options = json.find(kWorkOptionsField);
  const bool has_name = name != json.end();
  const bool has_options = options != json.end();
  if (has_name || has_options)
    work = make_work(has_name ? name->get<std::string>() : work_name(work),
                     has_options ? options->get<WorkOptions>() : WorkOptions{});
  return std::size_t{has_name} + std::size_t{has_options};
}

}  // namespace

std::uint64_t hash_of_unlabelled(const RunCase& run_case) {
  std::uint64_t hash = 0;
  visit_fields(run_case, [&](const char*, FieldRole role, const auto& value) {
    if (role != FieldRole::kLabel) hash = mixed(hash, hash_of_value(value));
  });
  return hash;
}

bool equal_unlabelled(const RunCase& a, const RunCase& b) {
  const auto equal = [&]<typename Group>() { return static_cast<const Group&>(a) == static_cast<const Group&>(b); };
  return equal.operator()<CasePlacement>() && equal.operator()<CaseTraining>() && equal.operator()<CaseSampling>() &&
         equal.operator()<CaseNetwork>() && a.work == b.work;
}

std::string case_key(const RunCase& run_case) {
  return dump(json_of(run_case, false));
}

// Name and tags are the last two fields: what is before them is the key, less its closing brace.
std::string to_json(std::string_view key, const RunCase& run_case) {
  std::string json(key.substr(0, key.size() - 1));
  json.append(",\"name\":").append(dump(run_case.name)).append(",\"tags\":");
  return json.append(run_case.tags.empty() ? "{}" : dump(run_case.tags)).append("}");
}

std::string to_json(const RunCase& run_case) {
  return to_json(case_key(run_case), run_case);
}

bool read_labels(std::string_view json, std::string_view key, RunCase& run_case) {
  const std::string_view fields = key.substr(0, key.empty() ? 0 : key.size() - 1);
  if (!json.starts_with(fields) || !json.substr(fields.size()).starts_with(',')) return false;
  RunCase labels = run_case_from_json(fmt::format("{{{}", json.substr(fields.size() + 1)));
  run_case.name = std::move(labels.name);
  run_case.tags = std::move(labels.tags);
  // Anything else behind the key would be a field that the key lacks.
  return to_json(key, run_case) == json;
}

RunCase run_case_from_json(std::string_view text) {
  RunCase run_case;
  check_outside_json(text);
  try {
    const Json json = Json::parse(text);
    std::size_t known = 0;
    if (!json.is_object()) throw Error(ErrorCode::kBadInput, "a run case must be a JSON object");
    visit_fields(run_case, [&](const char* key, FieldRole, auto& value) {
      using Value = std::decay_t<decltype(value)>;
      const auto entry = json.find(key);
      if constexpr (std::is_same_v<Value, Work>) {
        known += read_work(key, json, value);
      } else if (entry != json.end()) {
        if constexpr (std::is_enum_v<Value>) {
          value = choice_from<Value>(key, entry->template get<std::string>());
        } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
          read_integer(key, *entry, value);
        } else {
          entry->get_to(value);
        }
        ++known;
      }
    });
    if (known != json.size()) refuse_unknown_field(json);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::kBadInput, fmt::format("this is no run case: {}", error.what()));
  }
  check_limits(run_case);
  return run_case;
}

}  // namespace ddbench
