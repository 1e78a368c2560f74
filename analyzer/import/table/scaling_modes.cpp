#include "analyzer/import/table/scaling_modes.h"

#include <fmt/format.h>

#include <algorithm>

namespace ddbench::imports {
namespace {

std::int64_t gpus_of(const RowValues& row) {
  if (row.gpus > 0) return row.gpus;
  return std::max<std::int64_t>(row.nodes, 1) * std::max<std::int64_t>(row.gpus_per_node, 1);
}

std::string key_of(const RowValues& row, bool with_tags) {
  std::string key = fmt::format("{} {}", with_tags ? "tags" : "", model_parallel(row));
  for (const auto& [name, text] : row.case_fields) {
    if (name == "batch_per_gpu" || name == "name" || (!with_tags && name.starts_with("tags."))) continue;
    key.append(1, '\0').append(name).append(1, '\0').append(text);
  }
  return key;
}

template <typename Value>
void keep_two(std::set<Value>& values, Value value) {
  if (values.size() < 2) values.insert(value);
}

}  // namespace

std::int64_t model_parallel(const RowValues& row) {
  return std::max<std::int64_t>(row.tensor_parallel, 1) * std::max<std::int64_t>(row.pipeline_parallel, 1) *
         std::max<std::int64_t>(row.context_parallel, 1);
}

void ScalingModes::see(const RowValues& row) {
  if (row.global_batch == 0) return;
  const double share = static_cast<double>(row.global_batch) / static_cast<double>(gpus_of(row));
  for (const bool with_tags : {true, false}) {
    Curve& curve = curves_[key_of(row, with_tags)];
    keep_two(curve.shares, share);
    keep_two(curve.batches, row.global_batch);
  }
}

bool ScalingModes::is_weak(const RowValues& row) const {
  if (curves_.empty()) return false;
  const auto own = curves_.find(key_of(row, true));
  if (own != curves_.end() && (own->second.is_weak() || own->second.is_strong())) return own->second.is_weak();
  const auto all = curves_.find(key_of(row, false));
  return all != curves_.end() && all->second.is_weak();
}

}  // namespace ddbench::imports
