#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyzer/run/run_fields.h"
#include "core/text/quantity.h"
#include "reports/tables/run_content.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

using analyzer::CollectiveSummary;
using analyzer::RunSummary;

DataCell measured_time_cell(const Measured<std::int64_t>& time_ns) {
  if (time_ns) return time_cell(static_cast<double>(*time_ns));
  DataCell cell = missing_cell(time_ns.reason());
  if (time_ns.reason().starts_with("below clock resolution")) cell.text = "below clock res.";
  return cell;
}

DataCell bandwidth_cell(const Measured<double>& gb_per_s) {
  if (!gb_per_s) return missing_cell(gb_per_s.reason());
  return value_cell(*gb_per_s, quantity(1e9 * *gb_per_s, "B/s"));
}

/// With the uncertainty of the clocks.
DataCell bus_bandwidth_cell(const CollectiveSummary& collective) {
  DataCell cell = bandwidth_cell(collective.busbw_gb_per_s);
  if (collective.clock_uncertainty_share > 0) cell.text += fmt::format(" ±{}%", uncertainty(100 * collective.clock_uncertainty_share));
  return cell;
}

DataCell link_share_cell(const CollectiveSummary& collective, const Measured<analyzer::RatedLink>& link) {
  if (!link) return missing_cell(link.reason());
  if (!collective.busbw_gb_per_s) return missing_cell(collective.busbw_gb_per_s.reason());
  if (!collective.communicator.empty()) return missing_cell("some of the ranks: which share of the node's link is theirs is not known");
  return percent_cell(analyzer::share_of_link(collective.record.function, *collective.busbw_gb_per_s, *link));
}

/// JSON of a field without quotes around texts.
std::string plain(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string clock_in_words(const ClockMap& clock) {
  if (clock.shared_clock) return "shared";
  return "±" + time_in_words(static_cast<double>(clock.uncertainty_ns()));
}

}  // namespace

DataTable collectives_data(const RunSummary& summary, const Measured<analyzer::RatedLink>* link) {
  TableOf<CollectiveSummary> table;
  const auto record = [](const CollectiveSummary& collective) -> const store::CollectiveRecord& { return collective.record; };
  table.add(true, {"function"}, [=](const auto& row) { return code_cell(record(row).function); });
  table.add(analyzer::names_communicators(summary), {"communicator", false, "the ranks that did it together"},
            [](const auto& row) { return text_cell(communicator_in_words(row.communicator)); });
  table.add(true, {"bucket", true},
            [=](const auto& row) { return record(row).bucket < 0 ? missing_cell("not a gradient bucket") : count_cell(record(row).bucket); });
  table.add(true, {"size", true}, [=](const auto& row) {
    return has_known_size(record(row)) ? quantity_cell(static_cast<double>(record(row).bytes), "B")
                                       : missing_cell("what recorded it does not say");
  });
  table.add(true, {"count", true}, [=](const auto& row) { return count_cell(static_cast<std::int64_t>(record(row).count)); });
  table.add(true, {"transfer", true, "last arrival to last end"}, [](const auto& row) { return measured_time_cell(row.transfer_ns); });
  table.add(true, {.title = "bus bandwidth", .numeric = true, .brief = "busbw"}, bus_bandwidth_cell);
  table.add(link != nullptr, {"of link", true, "bus bandwidth as a share of what the SKU's network between nodes is rated at"},
            [=](const auto& row) { return link_share_cell(row, *link); });
  table.add(true, {"peer wait", true, "own arrival to last arrival"}, [](const auto& row) { return measured_time_cell(row.peer_wait_ns); });
  table.add(true, {.title = "algorithm bandwidth", .numeric = true, .brief = "algbw"}, [](const auto& row) { return bandwidth_cell(row.algbw_gb_per_s); });
  table.add(true, {"duration", true, "own arrival to end, median over ranks"},
            [=](const auto& row) { return time_cell(static_cast<double>(record(row).duration_ns)); });
  table.add(analyzer::has_nccl_settings(summary), {"algorithm/protocol", false, "algorithm, protocol, channels and transport, as NCCL reported them"},
            [=](const auto& row) { return record(row).nccl_algorithm.empty() ? missing_cell("not reported by NCCL") : text_cell(record(row).nccl_algorithm); });
  DataTable data = std::move(table).of(summary.collectives);
  data.caption = "Collectives";
  data.detail = "medians over the measured steps; bus bandwidth as nccl-tests count it, 1 GB = 1e9 B";
  if (std::any_of(summary.collectives.begin(), summary.collectives.end(), analyzer::leaves_before_its_end))
    data.detail += "; a duration is shorter than the transfer where most ranks leave before the last one ends";
  return data;
}

DataTable ranks_data(const RunSummary& summary) {
  DataTable table;
  table.caption = "Ranks";
  table.columns = {{"rank", true},
                   {"node", true},
                   {"host"},
                   {"cores"},
                   {"pid", true},
                   {"host memory", true, "peak of the processes' resident memory"},
                   {"device memory", true, "peak of what the device's allocator gave out; on CPUs a part of the host memory"},
                   {"clock", false, "uncertainty against the run's clock"},
                   {"dropped spans", true},
                   {"parameters", false, "hash after the last step: replicas that agree have equal ones"},
                   {"outcome"}};
  const auto device = analyzer::device_memory_of(summary.run);
  const auto device_memory = [&](int rank) {
    const std::int64_t bytes = device ? device->of_rank(static_cast<std::size_t>(rank)) : 0;
    return bytes > 0 ? value_cell(static_cast<double>(bytes), quantity(static_cast<double>(bytes), "B"))
                     : missing_cell(device ? "not reported" : device.reason());
  };
  for (const store::RankRecord& rank : summary.ranks) {
    const bool ok = rank.outcome == "ok" || rank.outcome.empty();
    table.rows.push_back(
        {count_cell(rank.rank), count_cell(rank.node), code_cell(rank.host),
         rank.cores.empty() ? missing_cell("not pinned") : text_cell(rank.cores),
         value_cell(static_cast<double>(rank.pid), std::to_string(rank.pid)),
         rank.peak_memory_bytes <= 0 ? missing_cell("not reported")
                                     : value_cell(static_cast<double>(rank.peak_memory_bytes),
                                                  quantity(static_cast<double>(rank.peak_memory_bytes), "B")),
         device_memory(rank.rank),
         text_cell(clock_in_words(rank.clock)), count_cell(static_cast<std::int64_t>(rank.dropped_spans)),
         rank.parameter_hash.empty() ? missing_cell("not reported") : code_cell(rank.parameter_hash),
         text_cell(rank.outcome.empty() ? "–" : rank.outcome, ok ? CellTone::kPlain : CellTone::kBad)});
  }
  return table;
}

DataTable case_data(const store::RunRecord& run) {
  DataTable table{
      "Case", "what defines the run: runs of one case are repetitions", {{"field"}, {"value"}}, {}, {}};
  const nlohmann::ordered_json fields = nlohmann::ordered_json::parse(to_json(run.run_case));
  for (const auto& [key, value] : fields.items()) {
    if (!analyzer::has_meaning(run.run_case, run.provenance, key)) continue;
    if (value.is_object()) {
      for (const auto& [name, entry] : value.items())
        table.rows.push_back({code_cell(key + "." + name), code_cell(plain(entry))});
    } else {
      table.rows.push_back({code_cell(key), code_cell(plain(value))});
    }
  }
  return table;
}

DataTable environment_data(const store::RunRecord& run) {
  DataTable table{"Environment", "detected environment", {{"what"}, {"value"}}, {}, {}};
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) table.rows.push_back({code_cell(name), code_cell(value)});
  };
  add("network", run.environment.network);
  add("fingerprint", run.environment.fingerprint);
  for (const auto& [name, value] : run.environment.facts) add(name, value);
  return table;
}

}  // namespace ddbench::reports
