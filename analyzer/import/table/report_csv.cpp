#include "analyzer/import/table/report_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/import/numbers.h"
#include "core/facts/facts.h"

namespace ddbench::imports {
namespace {

constexpr std::array<std::string_view, 5> kOwnColumns = {"run_id", "provenance", "step_time_ci_low_ns", "partition_step_ns",
                                                         "dropped_spans"};
/// Those of the case and the step time: they are read as in any table.
constexpr std::array<std::string_view, 19> kTaken = {
    "name",     "workload", "nodes",   "gpus_per_node", "world_size", "scaling", "batch_per_gpu", "precision", "strategy", "device",
    "backend",  "optimizer", "lr",     "seed",          "bucket_bytes", "link",     "sku",       "network",  "step_time_ns"};

std::string cell_of(const std::vector<std::string>& header, const std::vector<std::string>& cells, std::string_view name) {
  const auto found = std::find(header.begin(), header.end(), name);
  return found == header.end() ? std::string() : cells[static_cast<std::size_t>(found - header.begin())];
}

/// "team=vision; node=a".
std::string set_tags(RowValues& row, const std::string& cell) {
  std::string_view rest = cell;
  while (!rest.empty()) {
    const std::string_view tag = trimmed(rest.substr(0, rest.find(';')));
    rest.remove_prefix(std::min(rest.find(';'), rest.size() - 1) + 1);
    const std::size_t equals = tag.find('=');
    if (equals == std::string_view::npos || equals == 0) return fmt::format("\"{}\" is no KEY=VALUE", tag);
    row.case_fields["tags." + std::string(tag.substr(0, equals))] = std::string(tag.substr(equals + 1));
  }
  return {};
}

/// Where the batch is known, it follows from the step time. The columns of both come first.
std::string set_rate(RowValues& row, const std::string& cell) {
  const std::optional<double> rate = number_from(cell);
  if (!cell.empty() && (!rate || *rate <= 0)) return fmt::format("\"{}\" is not a number above 0", cell);
  if (rate && (row.step_ns <= 0 || row.case_fields.count("batch_per_gpu") == 0)) row.samples_per_s = *rate;
  return {};
}

}  // namespace

bool is_report_csv(const std::vector<std::string>& header) {
  return std::all_of(kOwnColumns.begin(), kOwnColumns.end(), [&](std::string_view name) {
    return std::find(header.begin(), header.end(), name) != header.end();
  });
}

std::optional<SetCell> report_csv_column(const std::string& name) {
  if (std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end()) return std::nullopt;
  if (name == "tags") return set_tags;
  if (name == "samples_per_s") return set_rate;
  if (name != "provenance") return [](RowValues&, const std::string&) { return std::string(); };
  return [](RowValues& row, const std::string& cell) {
    set_fact(row.facts, fact_key_of<"note.*">(1), fmt::format("the imported CSV file says of its figures: {}", cell));
    return std::string();
  };
}

bool is_usable_report_row(const std::vector<std::string>& header, const std::vector<std::string>& cells) {
  return cell_of(header, cells, "state") == "done" && cell_of(header, cells, "valid") == "1" &&
         !(cell_of(header, cells, "step_time_ns").empty() && cell_of(header, cells, "samples_per_s").empty());
}

}  // namespace ddbench::imports
