#include "gui/charts/figure_csv.h"

#include <fmt/format.h>

#include "gui/models/data_table_model.h"
#include "reports/text/phrases.h"

namespace ddbench::gui {
namespace {

using reports::DataCell;
using reports::text_cell;

std::string heading(const analyzer::Axis& axis) {
  return axis.unit.empty() ? axis.label : fmt::format("{} [{}]", axis.label, axis.unit);
}

DataCell number_cell(double value) {
  return reports::value_cell(value, fmt::format("{:.12g}", value));
}

}  // namespace

std::string figure_csv(const analyzer::Figure& figure) {
  reports::DataTable table;
  table.columns = {{"series"}, {"label"}, {heading(figure.x)}, {heading(figure.y)}, {"low"}, {"high"}, {"level"}, {"method"}, {"provenance"}};
  for (const analyzer::Series& series : figure.series) {
    for (const analyzer::Point& point : series.points) {
      std::vector<DataCell> row = {text_cell(series.name), text_cell(point.label), number_cell(point.x),
                               number_cell(point.y)};
      if (point.interval) {
        row.insert(row.end(), {number_cell(point.interval->low), number_cell(point.interval->high),
                               number_cell(point.interval->level), text_cell(point.interval->method)});
      } else {
        row.insert(row.end(), 4, DataCell{});
      }
      row.push_back(text_cell(reports::provenance_in_words(series.provenance)));
      table.rows.push_back(std::move(row));
    }
  }
  return csv_of(table).toStdString();
}

}  // namespace ddbench::gui
