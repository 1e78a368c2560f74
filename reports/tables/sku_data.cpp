#include "reports/tables/sku_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/text/quantity.h"

namespace ddbench::reports {
namespace {

using analyzer::Sku;

constexpr std::size_t kLeastPrefix = 4;  // shorter prefixes are not worth removing

/// The common prefix of all names, up to its last separator.
std::string common_prefix(const std::set<std::string>& names) {
  std::string prefix = *names.begin();
  for (const std::string& name : names) {
    const auto differs = std::mismatch(prefix.begin(), prefix.end(), name.begin(), name.end());
    prefix.erase(differs.first, prefix.end());
  }
  const std::size_t separator = prefix.find_last_of("_-");
  if (separator == std::string::npos || separator < kLeastPrefix) return "";
  return prefix.substr(0, separator + 1);
}

DataCell plain(const Measured<double>& value) {
  return value ? value_cell(*value, fmt::format("{:g}", *value)) : missing_cell(value.reason());
}

DataCell usd(const Measured<double>& value) {
  return value ? value_cell(*value, fmt::format("{:.2f}", *value)) : missing_cell(value.reason());
}

DataCell date(const Measured<double>& price, const analyzer::Source& source) {
  if (!price) return missing_cell(price.reason());
  DataCell cell = text_cell(source.date.empty() ? source.name : source.date, CellTone::kFaint);
  cell.why = analyzer::source_in_words(source);
  return cell;
}

DataCell gpus(const Sku& sku) {
  if (sku.gpus == 0) return missing_cell("it has no GPU");
  return value_cell(sku.gpus, fmt::format("{} x {}", sku.gpus, sku.gpu));
}

}  // namespace

void shorten_names(DataTable& table, std::size_t column) {
  std::set<std::string> names;
  for (const auto& row : table.rows) names.insert(row[column].text);
  if (names.size() < 2) return;
  const std::string prefix = common_prefix(names);
  if (prefix.empty()) return;
  for (auto& row : table.rows) row[column].brief = row[column].text.substr(prefix.size());
  table.legend.push_back(fmt::format("{}: each begins with {}", table.columns[column].title, prefix));
}

DataTable skus_data(const std::vector<Sku>& skus) {
  TableOf<Sku> table;
  table.add(true, {"SKU"}, [](const Sku& sku) { return code_cell(sku.name); });
  table.add(true, {"GPUs"}, gpus);
  table.add(true, {"cores", true, "logical cores of the host"}, [](const Sku& sku) { return plain(sku.cores); });
  table.add(true, {"GiB", true, "memory of the host"}, [](const Sku& sku) { return plain(sku.memory_gib); });
  table.add(true, {"USD/h", true, "a node, on demand"}, [](const Sku& sku) { return usd(sku.price_usd_per_h); });
  table.add(true, {"as of"}, [](const Sku& sku) { return date(sku.price_usd_per_h, sku.price_source); });
  table.add(true, {"Gb/s a GPU", true, "RDMA"}, [](const Sku& sku) { return plain(sku.rdma_gbps_per_gpu()); });
  table.add(true, {"Gb/s a node", true, "RDMA"}, [](const Sku& sku) { return plain(sku.rdma_gbps); });
  table.add(true, {"Ethernet Gb/s", true, "what sockets get"}, [](const Sku& sku) { return plain(sku.ethernet_gbps); });
  table.add(true, {"spot USD/h", true}, [](const Sku& sku) { return usd(sku.spot_price_usd_per_h); });
  table.add(true, {"as of"}, [](const Sku& sku) { return date(sku.spot_price_usd_per_h, sku.spot_source); });
  table.add(true, {"preemptions/h", true, "of one spot node"}, [](const Sku& sku) { return plain(sku.preemptions_per_h); });
  table.add(true, {"network"}, [](const Sku& sku) { return text_cell(sku.fabric); });
  DataTable data = std::move(table).of(skus);
  data.notes = {"Gb/s: RDMA, rated. GiB: memory of the host.",
                "prices differ between regions and contracts, and spot prices and preemption rates are assumptions: --price, or a "
                "file named by --skus, replaces them"};
  return data;
}

}  // namespace ddbench::reports
