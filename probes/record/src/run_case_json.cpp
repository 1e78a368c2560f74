#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ddbench/record/error.h"
#include "ddbench/record/run_case.h"

namespace ddbench {
namespace {

using Json = nlohmann::ordered_json;

// The one list of fields: (de)serialisation and the case key follow it, so that a new field is one line.
template <typename Case, typename Visit>
void visit_fields(Case& run_case, Visit&& visit) {
  visit("workload", run_case.workload);
  visit("workload_options", run_case.workload_options);
  visit("data", run_case.data);
  visit("nodes", run_case.nodes);
  visit("gpus_per_node", run_case.gpus_per_node);
  visit("scaling", run_case.scaling);
  visit("batch_per_gpu", run_case.batch_per_gpu);
  visit("precision", run_case.precision);
  visit("strategy", run_case.strategy);
  visit("strategy_options", run_case.strategy_options);
  visit("accumulate", run_case.accumulate);
  visit("device", run_case.device);
  visit("backend", run_case.backend);
  visit("optimizer", run_case.optimizer);
  visit("lr", run_case.lr);
  visit("momentum", run_case.momentum);
  visit("weight_decay", run_case.weight_decay);
  visit("lr_rule", run_case.lr_rule);
  visit("base_batch", run_case.base_batch);
  visit("lr_warmup", run_case.lr_warmup);
  visit("target_loss", run_case.target_loss);
  visit("loss_scale", run_case.loss_scale);
  visit("cuda_graph", run_case.cuda_graph);
  visit("data_workers", run_case.data_workers);
  visit("prefetch", run_case.prefetch);
  visit("data_delay_ns", run_case.data_delay_ns);
  visit("checkpoint_every", run_case.checkpoint_every);
  visit("seed", run_case.seed);
  visit("steps", run_case.steps);
  visit("warmup", run_case.warmup);
  visit("first_bucket_bytes", run_case.first_bucket_bytes);
  visit("bucket_bytes", run_case.bucket_bytes);
  visit("requested_network", run_case.requested_network);
  visit("link", run_case.link);
  visit("sku", run_case.sku);
  visit("name", run_case.name);
  visit("tags", run_case.tags);
}

Json json_of(const RunCase& run_case) {
  Json json;
  visit_fields(run_case, [&](const char* key, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, ScalingMode>) {
      json[key] = to_string(value);
    } else {
      json[key] = value;
    }
  });
  return json;
}

ScalingMode scaling_from(const std::string& text) {
  if (text == "weak") return ScalingMode::kWeak;
  if (text == "strong") return ScalingMode::kStrong;
  throw Error(ErrorCode::kBadInput, fmt::format("scaling is \"{}\", but it must be weak or strong", text));
}

// Names and paths may hold any bytes; invalid UTF-8 is replaced, never an exception.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const RunCase& run_case) {
  return dump(json_of(run_case));
}

std::string case_key(const RunCase& run_case) {
  Json json = json_of(run_case);
  json.erase("name");
  json.erase("tags");
  return dump(json);
}

RunCase run_case_from_json(std::string_view text) {
  RunCase run_case;
  try {
    Json json = Json::parse(text);
    if (!json.is_object()) throw Error(ErrorCode::kBadInput, "a run case must be a JSON object");
    visit_fields(run_case, [&](const char* key, auto& value) {
      const auto entry = json.find(key);
      if (entry == json.end()) return;
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, ScalingMode>) {
        value = scaling_from(entry->template get<std::string>());
      } else {
        entry->get_to(value);
      }
      json.erase(key);
    });
    if (!json.empty()) {
      throw Error(ErrorCode::kBadInput, fmt::format("a run case has no field \"{}\"", json.begin().key()));
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::kBadInput, fmt::format("this is no run case: {}", error.what()));
  }
  return run_case;
}

}  // namespace ddbench
