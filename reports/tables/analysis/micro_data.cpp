#include <fmt/format.h>

#include <algorithm>

#include "core/text/quantity.h"
#include "reports/tables/analysis/analysis_tables.h"

namespace ddbench::reports {
namespace {

using analyzer::MicroCeiling;
using analyzer::MicroOperation;
using analyzer::MicroRow;
using analyzer::MicroTable;
using analyzer::MicroTiming;
using Timing = std::optional<MicroTiming> MicroRow::*;

constexpr const char* kNotMeasured = "this operation was not measured so";

void add_timing(TableOf<MicroRow>& table, const char* place, Timing timing) {
  const auto cell_of = [timing](auto value) {
    return [=](const MicroRow& row) { return row.*timing ? value(*(row.*timing)) : missing_cell(kNotMeasured); };
  };
  table.add(true, {place, true, "time: median over batches of the mean over ranks"},
            cell_of([](const MicroTiming& each) { return time_cell(each.time_ns); }));
  table.add(true, {.title = "algorithm bandwidth", .numeric = true, .brief = "algbw"},
            cell_of([](const MicroTiming& each) { return quantity_cell(1e9 * each.algbw_gb_per_s, "B/s"); }));
  table.add(true, {.title = "bus bandwidth", .numeric = true, .brief = "busbw"},
            cell_of([](const MicroTiming& each) { return quantity_cell(1e9 * each.busbw_gb_per_s, "B/s"); }));
}

std::int64_t wrong_values(const MicroRow& row) {
  return (row.out_of_place ? row.out_of_place->wrong : 0) + (row.in_place ? row.in_place->wrong : 0);
}

DataTable collectives_by_size(const MicroTable& micro) {
  TableOf<MicroRow> table;
  table.add(true, {"function"}, [](const MicroRow& row) { return code_cell(std::string(to_string(row.operation))); });
  table.add(true, {"size", true}, [](const MicroRow& row) { return quantity_cell(static_cast<double>(row.bytes), "B"); });
  add_timing(table, "out of place", &MicroRow::out_of_place);
  add_timing(table, "in place", &MicroRow::in_place);
  table.add(micro.wrong > 0, {"wrong values", true}, [](const MicroRow& row) { return count_cell(wrong_values(row)); });
  DataTable data = std::move(table).of(micro.rows);
  data.caption = "Collectives by size";
  data.detail = "bus bandwidth as nccl-tests count it, 1 GB = 1e9 B";
  return data;
}

bool is_gemm(const MicroCeiling& ceiling) { return ceiling.operation == MicroOperation::kGemm; }

/// FLOP/s have no scale of their own.
DataCell rate_of(const MicroCeiling& ceiling, double per_second) {
  return is_gemm(ceiling) ? value_cell(per_second, number(per_second * 1e-9, 4) + " GFLOP/s") : quantity_cell(per_second, "B/s");
}

DataTable ceilings_data(const MicroTable& micro) {
  TableOf<MicroCeiling> table;
  table.add(true, {"ceiling"},
            [](const MicroCeiling& each) { return text_cell(is_gemm(each) ? "GEMM, float32" : "memory, bytes read and written"); });
  table.add(true, {"a rank, mean", true}, [](const MicroCeiling& each) { return rate_of(each, each.per_second); });
  table.add(true, {"slowest rank", true}, [](const MicroCeiling& each) { return rate_of(each, each.slowest_per_second); });
  DataTable data = std::move(table).of(micro.ceilings);
  data.caption = "Ceilings of a rank, while all ranks ask for them";
  return data;
}

}  // namespace

std::vector<analyzer::GroupFit> fits_of(const MicroTable& micro) {
  std::vector<analyzer::GroupFit> fits;
  for (const analyzer::AlphaBetaFit& fit : micro.fits) {
    if (!fit.regimes.empty()) fits.push_back({fit.algorithm, fit.ranks, "", fit});
  }
  return fits;
}

std::vector<DataTable> micro_tables(const MicroTable& micro) {
  std::vector<DataTable> tables = {collectives_by_size(micro), ceilings_data(micro), fits_data(fits_of(micro), "")};
  std::erase_if(tables, [](const DataTable& table) { return table.rows.empty(); });
  return tables;
}

std::vector<Tile> micro_tiles(const MicroTable& micro) {
  std::vector<Tile> tiles;
  const MicroRow* best = nullptr;
  for (const MicroRow& row : micro.rows) {
    if (best == nullptr || row.usual().busbw_gb_per_s > best->usual().busbw_gb_per_s) best = &row;
  }
  if (best != nullptr) {
    tiles.push_back({"highest bus bandwidth", quantity(1e9 * best->usual().busbw_gb_per_s, "B/s"),
                     fmt::format("{} of {}", to_string(best->operation), quantity(static_cast<double>(best->bytes), "B"))});
  }
  for (const MicroCeiling& each : micro.ceilings) {
    tiles.push_back({is_gemm(each) ? "GEMM, float32" : "memory bandwidth", rate_of(each, each.per_second).text,
                     "a rank, mean; slowest " + rate_of(each, each.slowest_per_second).text});
  }
  return tiles;
}

}  // namespace ddbench::reports
