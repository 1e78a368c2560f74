#include <fmt/format.h>

#include <algorithm>

#include "reports/tables/analysis/analysis_tables.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

constexpr std::size_t kMostRanks = 5;

}  // namespace

DataTable stragglers_data(const analyzer::StragglerReport& report) {
  using analyzer::Straggler;
  TableOf<Straggler> table;
  table.add(true, {"who"}, [](const Straggler& each) {
    return text_cell(each.rank < 0 ? fmt::format("node {}", each.node) : fmt::format("rank {}", each.rank));
  });
  table.add(true, {.title = "host", .is_prose = true}, [](const Straggler& each) { return code_cell(each.host); });
  table.add(true, {"last at", true, "share of the collectives whose last arrival is resolved"},
            [](const Straggler& each) { return percent_cell(each.share_last); });
  table.add(true, {"late by", true}, [](const Straggler& each) { return time_cell(each.late_ns); });
  table.add(true, {"others wait, a step", true}, [](const Straggler& each) { return time_cell(each.cost_ns_per_step); });
  table.add(true, {"of the step", true}, [&report](const Straggler& each) {
    return report.mean_step_ns > 0 ? percent_cell(each.cost_ns_per_step / report.mean_step_ns) : missing_cell("no steps");
  });
  std::vector<Straggler> rows = report.nodes;
  rows.insert(rows.end(), report.ranks.begin(),
              report.ranks.begin() + static_cast<std::ptrdiff_t>(std::min(report.ranks.size(), kMostRanks)));
  DataTable data = std::move(table).of(rows);
  data.notes = {fmt::format("{} collectives in {} steps of run {}", count_in_words(static_cast<std::int64_t>(report.collectives)),
                             count_in_words(report.steps), report.run)};
  return data;
}

}  // namespace ddbench::reports
