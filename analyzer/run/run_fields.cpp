#include "analyzer/run/run_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "core/run_case/program_case.h"
#include "core/run_case/program_files.h"
#include "core/text/nearest.h"

namespace ddbench::analyzer {
namespace {

constexpr std::array<std::string_view, 5> kNetworkCauses{"link", "requested_network", "nodes", "backend",
                                                         "device"};
constexpr std::array<std::string_view, 4> kProvenanceCauses{"link", "nodes", "gpus_per_node", "device"};

/// How the reference engine trains: its defaults are nothing that is known of others.
constexpr std::array<std::string_view, 18> kOfEngine{
    "data",         "accumulate", "lr",        "momentum",      "weight_decay", "lr_rule",       "base_batch",       "lr_warmup", "target_loss",
    "loss_scale",   "cuda_graph", "data_workers", "prefetch",   "data_delay_ns", "checkpoint_every", "seed",        "first_bucket_bytes",
    "bucket_bytes"};
constexpr std::array<std::string_view, 5> kOfTraining{"scaling", "precision", "strategy", "strategy_options", "optimizer"};

template <typename Names>
bool holds(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether a field of the case has the value that it has in a new one.
bool has_default(const RunCase& run_case, std::string_view field) {
  static const RunCase kNew;
  bool is_equal = false;
  visit_fields(run_case, [&](std::string_view name, FieldRole, const auto& value) {
    if (name != field) return;
    visit_fields(kNew, [&](std::string_view other, FieldRole, const auto& usual) {
      if constexpr (std::is_same_v<decltype(value), decltype(usual)>) is_equal = is_equal || (other == name && value == usual);
    });
  });
  return is_equal;
}

/// Empty where it is not known.
std::string global_batch_text(const RunCase& run_case) {
  return has_known_batch(run_case) ? std::to_string(run_case.global_batch()) : std::string();
}

void add_record_fields(const store::RunRecord& run, CaseFields& fields) {
  const auto label = [&](const char* name, std::string text, bool numeric = false) {
    fields[name] = {std::move(text), FieldRole::kLabel, numeric};
  };
  label("id", run.id);
  label("state", std::string(store::to_string(run.state)));
  label("valid", run.valid ? "true" : "false");
  label("sweep", run.sweep_id);
  label("repetition", std::to_string(run.repetition), true);
  label("is_baseline", run.is_baseline ? "true" : "false");
  label("host", run.owner_host);
  label("world_size", std::to_string(run.run_case.world_size()), true);
  label("global_batch", global_batch_text(run.run_case), has_known_batch(run.run_case));
  std::string provenance;
  for (const std::string_view flag : run.provenance.names()) {
    provenance += (provenance.empty() ? "" : "+") + std::string(flag);
  }
  fields["network"] = {run.environment.network, FieldRole::kConsequence, false, kNetworkCauses};
  fields["provenance"] = {provenance, FieldRole::kConsequence, false, kProvenanceCauses};
  fields["fingerprint"] = {run.environment.fingerprint, FieldRole::kEnvironment};
}

void add_script_fields(const store::RunRecord& run, CaseFields& fields) {
  if (!is_program(run.run_case)) return;
  for (const auto& [name, hash] : program_files(run.environment.facts)) {
    CaseField field{hash, FieldRole::kIdentity};
    field.unknown_where_absent = true;
    fields[std::string(kScriptPrefix) + name] = std::move(field);
  }
}

/// Earlier imports of a source without a batch do not say so.
void forgive_older_imports(const RunCase& run_case, CaseFields& fields) {
  const auto batch = fields.find("workload_options.batch");
  if (batch != fields.end() && !has_known_batch(run_case)) batch->second.unknown_where_absent = true;
}

bool may_vary(const std::string& name, FieldRole role, const VariedFields& varied) {
  return role == FieldRole::kLabel || varied.roles.contains(role) || varied.names.contains(name) ||
         varied.names.contains(name.substr(0, name.find('.')));
}

}  // namespace

CaseFields run_fields(const store::RunRecord& run) {
  CaseFields fields = case_fields(run.run_case);
  if (run.run_case.nodes_not_stated && run.run_case.gpus_per_node > 1) {
    fields["nodes"] = {"", FieldRole::kScale};
    fields["gpus_per_node"] = {fmt::format("{} or fewer", run.run_case.gpus_per_node), FieldRole::kScale};
  }
  add_record_fields(run, fields);
  add_script_fields(run, fields);
  forgive_older_imports(run.run_case, fields);
  return fields;
}

std::string defining_key(const store::RunRecord& run) {
  std::string key;
  for (const auto& [name, field] : run_fields(run)) {
    if (field.role != FieldRole::kLabel && !field.unknown_where_absent) key += fmt::format("{}:{}={};", name, field.text.size(), field.text);
  }
  return key;
}

const CaseFields& known_run_fields() {
  static const CaseFields known = [] {
    store::RunRecord example;
    example.run_case.work = ReferenceWorkload{.options = {{"", ""}}};
    example.run_case.strategy_options = {{"", ""}};
    example.run_case.tags = {{"", ""}};
    CaseFields fields = run_fields(example);
    fields[std::string(kScriptPrefix)] = {"", FieldRole::kIdentity};
    return fields;
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

std::string fields_instead_of(std::string_view name) {
  if (name == "gpus" || name == "ranks") return "did you mean gpus_per_node or world_size?";
  std::vector<std::string> names;
  for (const auto& [known, ignored] : known_run_fields()) names.push_back(known.ends_with('.') ? known + "KEY" : known);
  const std::string meant = nearest(name, names);
  return meant.empty() ? fmt::format("the fields are {}", fmt::join(names, ", ")) : fmt::format("did you mean {}?", meant);
}

bool applies(const store::RunRecord& run, std::string_view field) {
  // Where the nodes are not stated, a link that is not set is no difference: there may be none.
  if (run.run_case.nodes_not_stated && field == "link") return !run.run_case.link.empty();
  if (run.run_case.nodes_not_stated && field == "network") return !run.environment.network.empty();
  if (field == "link" || field == "requested_network" || field == "network") return run.run_case.nodes > 1;
  if (field == "batch_per_gpu") return run.run_case.scaling == ScalingMode::kWeak;
  if (field == "global_batch") return run.run_case.scaling == ScalingMode::kStrong;
  if (field.starts_with(kScriptPrefix))
    return program_files(run.environment.facts).contains(std::string(field.substr(kScriptPrefix.size())));
  return true;
}

bool has_meaning(const RunCase& run_case, ProvenanceSet provenance, std::string_view field) {
  const bool is_imported = provenance.has(Provenance::kImported);
  if (field == "batch_per_gpu" || field == "global_batch") return has_known_batch(run_case);
  if (field == "nodes" || field == "gpus_per_node") return !run_case.nodes_not_stated;
  if (field == "scaling" && !has_known_batch(run_case)) return false;  // nor is what stays fixed when the world grows
  if (is_reference(run_case) && !is_imported) return true;
  // Imported cases leave these empty where they are not known, as programs do.
  if (holds(kOfTraining, field)) return is_training(run_case);
  if (field == "warmup") return is_program(run_case);
  if (field == "steps") return is_program(run_case) && is_imported;  // a program of the user's ends by itself
  return !holds(kOfEngine, field) || !has_default(run_case, field);
}

std::map<std::string, std::string> group_fields(const store::RunRecord& run, const VariedFields& varied) {
  std::map<std::string, std::string> group;
  CaseFields fields = run_fields(run);
  while (!fields.empty()) {
    auto field = fields.extract(fields.begin());
    if (may_vary(field.key(), field.mapped().role, varied)) continue;
    if (!applies(run, field.key())) field.mapped().text.clear();
    group.emplace_hint(group.end(), std::move(field.key()), std::move(field.mapped().text));
  }
  const bool any_batch = varied.names.contains("batch_per_gpu") || varied.names.contains("global_batch");
  if (any_batch || !applies(run, "batch_per_gpu")) group.erase("batch_per_gpu");
  if (!any_batch && applies(run, "global_batch"))
    group["global_batch"] = global_batch_text(run.run_case);
  return group;
}

std::map<std::string, std::map<std::string, int>> differing_fields(std::span<const store::RunRecord> runs,
                                                                   const VariedFields& varied) {
  std::vector<std::map<std::string, std::string>> groups;
  std::map<std::string, std::map<std::string, int>> values;
  for (const store::RunRecord& run : runs) {
    groups.push_back(group_fields(run, varied));
    for (const auto& [name, text] : groups.back()) values[name];
  }
  const std::string absent;  // an option that others set
  for (auto& [name, counts] : values) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!applies(runs[i], name)) continue;
      const auto found = groups[i].find(name);
      ++counts[found == groups[i].end() ? absent : found->second];
    }
  }
  std::erase_if(values, [](const auto& entry) { return entry.second.size() < 2; });
  return values;
}

std::string field_in_words(std::string_view name) {
  std::string words(name.substr(name.find('.') + 1));  // the whole name if it has no point
  std::replace(words.begin(), words.end(), '_', ' ');
  constexpr std::string_view kUnit = "gpu";
  if (const std::size_t at = words.find(kUnit); at != std::string::npos) words.replace(at, kUnit.size(), "GPU");
  return words;
}

}  // namespace ddbench::analyzer
