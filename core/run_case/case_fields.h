#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/run_case/run_case.h"

namespace ddbench {

/// What it means that two runs differ in a field.
enum class FieldRole : std::uint8_t {
  kIdentity,     ///< they do different work: no point of one curve, no repetitions
  kScale,        ///< they do it at different sizes: points of one curve
  kSampling,     ///< they look at it for longer or from another random start: points of one curve
  kPlace,        ///< they were asked to run on other machines or links
  kEnvironment,  ///< they were found to run on other hardware or software
  kConsequence,  ///< follows from fields that differ; where none of these does, it is kEnvironment
  kLabel,        ///< nothing: it names a run
};

/// Whether fields of this role were requested rather than detected.
constexpr bool is_asked_for(FieldRole role) noexcept {
  return role == FieldRole::kIdentity || role == FieldRole::kScale || role == FieldRole::kSampling ||
         role == FieldRole::kPlace;
}

/// What the work of a case is besides "workload", as a field of its JSON form and of comparisons.
inline constexpr const char* kWorkOptionsField = "workload_options";

/// The one list of a case's fields: calls `visit(name, role, value)` for each, in the order of the JSON form, where a value
/// of type Work is two fields: "workload" and kWorkOptionsField. Labels come last. Parser, JSON, hash, key and every comparison of cases follow it.
template <typename Case, typename Visit>
void visit_fields(Case& run_case, Visit&& visit) {
  using enum FieldRole;
  visit("workload", kIdentity, run_case.work);
  visit("data", kIdentity, run_case.data);
  visit("nodes", kScale, run_case.nodes);
  visit("gpus_per_node", kScale, run_case.gpus_per_node);
  visit("nodes_not_stated", kScale, run_case.nodes_not_stated);
  visit("scaling", kIdentity, run_case.scaling);
  visit("batch_per_gpu", kIdentity, run_case.batch_per_gpu);
  visit("precision", kIdentity, run_case.precision);
  visit("strategy", kIdentity, run_case.strategy);
  visit("strategy_options", kIdentity, run_case.strategy_options);
  visit("accumulate", kIdentity, run_case.accumulate);
  visit("device", kIdentity, run_case.device);
  visit("backend", kIdentity, run_case.backend);
  visit("optimizer", kIdentity, run_case.optimizer);
  visit("lr", kIdentity, run_case.lr);
  visit("momentum", kIdentity, run_case.momentum);
  visit("weight_decay", kIdentity, run_case.weight_decay);
  visit("lr_rule", kIdentity, run_case.lr_rule);
  visit("base_batch", kIdentity, run_case.base_batch);
  visit("lr_warmup", kIdentity, run_case.lr_warmup);
  visit("target_loss", kIdentity, run_case.target_loss);
  visit("loss_scale", kIdentity, run_case.loss_scale);
  visit("cuda_graph", kIdentity, run_case.cuda_graph);
  visit("data_workers", kIdentity, run_case.data_workers);
  visit("prefetch", kIdentity, run_case.prefetch);
  visit("data_delay_ns", kIdentity, run_case.data_delay_ns);
  visit("checkpoint_every", kIdentity, run_case.checkpoint_every);
  visit("seed", kSampling, run_case.seed);
  visit("steps", kSampling, run_case.steps);
  visit("margin", kSampling, run_case.margin);
  visit("max_time_s", kSampling, run_case.max_time_s);
  visit("warmup", kSampling, run_case.warmup);
  visit("skip", kSampling, run_case.skip);
  visit("measure", kSampling, run_case.measure);
  visit("duration_s", kSampling, run_case.duration_s);
  visit("after", kSampling, run_case.after);
  visit("first_bucket_bytes", kIdentity, run_case.first_bucket_bytes);
  visit("bucket_bytes", kIdentity, run_case.bucket_bytes);
  visit("requested_network", kPlace, run_case.requested_network);
  visit("link", kPlace, run_case.link);
  visit("sku", kPlace, run_case.sku);
  visit("name", kLabel, run_case.name);
  visit("tags", kLabel, run_case.tags);
}

/// A field's value, as people write it: strings without quotes, numbers in their shortest form.
struct CaseField {
  std::string text;
  FieldRole role = FieldRole::kIdentity;
  bool numeric = false;
  /// Of a consequence: names of the fields that it follows from; a map stands for all of its keys. Static.
  std::span<const std::string_view> follows_from = {};
  /// A side that lacks it is not known to differ in it.
  bool unknown_where_absent = false;
};

/// A program's files are fields "script.train.py" of its runs, with a hash as text; all of them are "script".
inline constexpr std::string_view kScriptField = "script";
inline constexpr std::string_view kScriptPrefix = "script.";

/// By name; keys of maps as "workload_options.hidden".
using CaseFields = std::map<std::string, CaseField>;

CaseFields case_fields(const RunCase& run_case);

/// The same from to_json or case_key of a case, perhaps of another version of ddbench: a field that this one
/// does not know is part of the identity. Throws Error{kBadInput} for what is no JSON object.
CaseFields case_fields_from_json(std::string_view json);

}  // namespace ddbench
