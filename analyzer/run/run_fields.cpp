#include "analyzer/run/run_fields.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ddbench::analyzer {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void add_record_fields(const store::RunRecord& run, std::map<std::string, RunField>& fields) {
  const auto label = [&](const char* name, std::string text, bool numeric = false) {
    fields[name] = {std::move(text), numeric, false};
  };
  label("id", run.id);
  label("state", std::string(store::to_string(run.state)));
  label("valid", run.valid ? "true" : "false");
  label("sweep", run.sweep_id);
  label("repetition", std::to_string(run.repetition), true);
  label("is_baseline", run.is_baseline ? "true" : "false");
  label("host", run.owner_host);
  label("world_size", std::to_string(run.run_case.world_size()),
        true);  // follows from nodes and gpus_per_node
  fields["network"] = {run.environment.network};
  fields["fingerprint"] = {run.environment.fingerprint};
  std::string provenance;
  for (const std::string_view flag : run.provenance.names()) {
    provenance += (provenance.empty() ? "" : "+") + std::string(flag);
  }
  fields["provenance"] = {provenance};
}

}  // namespace

std::map<std::string, RunField> run_fields(const store::RunRecord& run) {
  std::map<std::string, RunField> fields;
  const Json run_case = Json::parse(to_json(run.run_case));
  for (const auto& [name, value] : run_case.items()) {
    const bool label = name == "name" || name == "tags";
    if (!value.is_object()) {
      fields[name] = {text_of(value), value.is_number(), !label};
      continue;
    }
    for (const auto& [key, entry] : value.items()) fields[name + "." + key] = {text_of(entry), false, !label};
  }
  add_record_fields(run, fields);
  return fields;
}

std::string defining_key(const store::RunRecord& run) {
  std::string key;
  for (const auto& [name, field] : run_fields(run)) {
    if (field.defines) key += fmt::format("{}:{}={};", name, field.text.size(), field.text);
  }
  return key;
}

const std::map<std::string, RunField>& known_run_fields() {
  static const std::map<std::string, RunField> known = [] {
    store::RunRecord example;
    example.run_case.workload_options = {{"", ""}};
    example.run_case.tags = {{"", ""}};
    return run_fields(example);
  }();
  return known;
}

bool is_run_field(std::string_view name) {
  const auto& known = known_run_fields();
  if (name.ends_with('.')) return false;
  if (known.contains(std::string(name))) return true;
  const auto dot = name.find('.');
  return dot != std::string_view::npos && known.contains(std::string(name.substr(0, dot + 1)));
}

}  // namespace ddbench::analyzer
