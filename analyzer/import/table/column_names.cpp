#include "analyzer/import/table/column_names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/import/numbers.h"

namespace ddbench::imports {
namespace {

constexpr auto kOtherNames = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"gpu", "gpus"},
    {"gpu_count", "gpus"},
    {"gpu_num", "gpus"},
    {"n_gpus", "gpus"},
    {"num_gpus", "gpus"},
    {"number_of_gpus", "gpus"},
    {"total_gpus", "gpus"},
    {"world_size", "gpus"},
    {"n_nodes", "nodes"},
    {"node_count", "nodes"},
    {"node_num", "nodes"},
    {"num_nodes", "nodes"},
    {"number_of_nodes", "nodes"},
    {"gpu_num_per_node", "gpus_per_node"},
    {"gpu_per_node", "gpus_per_node"},
    {"gpus/node", "gpus_per_node"},
    {"num_gpus_per_node", "gpus_per_node"},
    {"batch_size/gpu", "batch_per_gpu"},
    {"batch_size_per_device", "batch_per_gpu"},
    {"batch_size_per_gpu", "batch_per_gpu"},
    {"batch_size/device", "batch_per_gpu"},
    {"global_batch_size", "global_batch"},
    {"total_batch_size", "global_batch"},
    {"tensor_model_parallel_size", "tensor_parallel"},
    {"tensor_parallel_size", "tensor_parallel"},
    {"pipeline_model_parallel_size", "pipeline_parallel"},
    {"pipeline_parallel_size", "pipeline_parallel"},
    {"context_parallel_size", "context_parallel"},
    {"iteration_time", "step_time"},
    {"time_per_iteration", "step_time"},
    {"time_per_step", "step_time"},
    {"gradient_accumulation", "accumulation"},
    {"gradient_accumulation_steps", "accumulation"},
});

bool cut_end(std::string& text, std::string_view end) {
  if (text.size() <= end.size() || text.compare(text.size() - end.size(), end.size(), end) != 0) return false;
  text.resize(text.size() - end.size());
  return true;
}

bool cut_one_of(std::string& text, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return cut_end(text, end); });
}

}  // namespace

KnownColumn known_column(std::string_view heading) {
  std::string name = lower_case(trimmed(heading));
  if (!name.empty() && name.front() == '#') name = std::string(trimmed(std::string_view(name).substr(1)));
  std::replace_if(name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  const auto other = std::find_if(kOtherNames.begin(), kOtherNames.end(), [&](const auto& entry) { return entry.first == name; });
  if (other != kOtherNames.end()) return {std::string(other->second), {}};
  std::string samples = name;
  const bool per_gpu = cut_one_of(samples, {"/gpu", "_per_gpu"});
  if (cut_one_of(samples, {"/s", "/sec", "/second", "_per_s", "_per_sec", "_per_second"}))
    return {per_gpu ? "throughput_per_gpu" : "throughput", samples + "/s"};
  return {name, {}};
}

}  // namespace ddbench::imports
