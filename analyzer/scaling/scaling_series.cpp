#include "analyzer/scaling/scaling_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "analyzer/run/gpu_count.h"
#include "core/run_case/program_case.h"

namespace ddbench::analyzer {
namespace {

using Field = std::string (*)(const RunCase&);

std::string link_of(const RunCase& run_case) {
  if (is_one_node(run_case)) return "one node";
  if (run_case.nodes_not_stated && run_case.link.empty()) return "nodes not stated";
  return run_case.link.empty() ? "links not shaped" : run_case.link;
}

std::string batch_of(const RunCase& run_case) {
  if (!has_known_batch(run_case)) return "batch not known";
  if (run_case.scaling == ScalingMode::kStrong)
    return fmt::format("global batch {}", run_case.global_batch());
  return fmt::format("batch {}", run_case.batch_per_gpu);
}

constexpr std::array<Field, 8> kFields = {
    [](const RunCase& run_case) { return work_name(run_case.work); },
    link_of,
    batch_of,
    [](const RunCase& run_case) { return run_case.precision; },
    [](const RunCase& run_case) { return run_case.strategy; },
    [](const RunCase& run_case) { return run_case.backend; },
    [](const RunCase& run_case) { return fmt::format("buckets of {} MiB", run_case.bucket_bytes >> 20); },
    [](const RunCase& run_case) { return run_case.sku; },
};

std::string shape_of(const RunCase& run_case) {
  if (run_case.nodes_not_stated) return "nodes not stated";
  return fmt::format("{} GPU{} a node", run_case.gpus_per_node, run_case.gpus_per_node == 1 ? "" : "s");
}

template <typename Rows>
bool varies(const Rows& rows, Field field) {
  std::set<std::string> values;
  for (const ScalingRow& row : rows) {
    if (field == link_of && is_one_node(row.run_case))
      continue;  // a run on one node has no link that could vary
    values.insert(field(row.run_case));
  }
  return values.size() > 1;
}

bool sizes_repeat(const RowSeries& series) {
  std::set<int> sizes;
  return !std::all_of(series.rows.begin(), series.rows.end(),
                      [&](const ScalingRow* row) { return sizes.insert(row->world_size).second; });
}

/// In the order of the rows. `by_shape`: rows of one size in several shapes are kept apart.
std::vector<RowSeries> grouped(const ScalingTable& table, const std::vector<Field>& fields, bool by_shape) {
  std::vector<RowSeries> groups;
  for (const ScalingRow& row : table.rows) {
    RowSeries wanted;
    for (const Field field : fields)
      wanted.variant += (wanted.variant.empty() ? "" : ", ") + field(row.run_case);
    wanted.name = wanted.variant;
    if (by_shape) wanted.name += (wanted.name.empty() ? "" : ", ") + shape_of(row.run_case);
    wanted.provenance = row.provenance;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const RowSeries& other) {
      return other.name == wanted.name && other.provenance == wanted.provenance;
    });
    if (group == groups.end()) group = groups.insert(groups.end(), std::move(wanted));
    group->rows.push_back(&row);
  }
  return groups;
}

}  // namespace

std::string kind_of_scaling(ScalingMode mode, const RunCase& first) {
  return has_known_batch(first) ? fmt::format("{} scaling", to_string(mode)) : "scaling";
}

std::string kind_of_scaling(const ScalingTable& table) {
  return kind_of_scaling(table.mode, table.rows.empty() ? RunCase{} : table.rows.front().run_case);
}

std::string with_kind_of_scaling(const std::string& title, const ScalingTable& table) {
  const std::string kind = kind_of_scaling(table);
  return kind == "scaling" ? title : fmt::format("{} ({})", title, kind);
}

std::string in_words(ProvenanceSet provenance) {
  std::string words;
  for (const std::string_view name : provenance.names())
    words += (words.empty() ? "" : ", ") + std::string(name);
  return words.empty() ? "unknown provenance" : words;
}

std::vector<RowSeries> series_of_rows(const ScalingTable& table) {
  std::vector<Field> fields;
  for (const Field field : kFields) {
    if (varies(table.rows, field)) fields.push_back(field);
  }
  std::vector<RowSeries> groups = grouped(table, fields, false);
  if (std::any_of(groups.begin(), groups.end(), sizes_repeat)) {
    groups = grouped(table, fields, true);
  }
  const bool mixed = std::any_of(groups.begin(), groups.end(), [&](const RowSeries& group) {
    return !(group.provenance == groups.front().provenance);
  });
  for (RowSeries& group : groups) {
    if (group.name.empty()) {
      group.name = in_words(group.provenance);
    } else if (mixed) {
      group.name += " (" + in_words(group.provenance) + ")";
    }
  }
  return groups;
}

}  // namespace ddbench::analyzer
