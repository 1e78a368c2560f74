#include "gui/charts/figure_csv.h"

#include "gui/models/cell_table_model.h"
#include "gui/models/run_list.h"

namespace ddbench::gui {
namespace {

QString heading(const analyzer::Axis& axis) {
  const QString label = QString::fromStdString(axis.label);
  return axis.unit.empty() ? label : QStringLiteral("%1 [%2]").arg(label, QString::fromStdString(axis.unit));
}

Cell number(double value) {
  return number_cell(value, QString::number(value, 'g', 12));
}

}  // namespace

std::string figure_csv(const analyzer::Figure& figure) {
  CellTable table;
  table.columns = {QStringLiteral("series"), QStringLiteral("label"),  heading(figure.x),
                   heading(figure.y),        QStringLiteral("low"),    QStringLiteral("high"),
                   QStringLiteral("level"),  QStringLiteral("method"), QStringLiteral("provenance")};
  for (const analyzer::Series& series : figure.series) {
    for (const analyzer::Point& point : series.points) {
      std::vector<Cell> row = {text_cell(series.name), text_cell(point.label), number(point.x),
                               number(point.y)};
      if (point.interval) {
        row.insert(row.end(), {number(point.interval->low), number(point.interval->high),
                               number(point.interval->level), text_cell(point.interval->method)});
      } else {
        row.insert(row.end(), 4, Cell{});
      }
      row.push_back({provenance_text(series.provenance), {}, {}, false});
      table.rows.push_back(std::move(row));
    }
  }
  return csv_of(table).toStdString();
}

}  // namespace ddbench::gui
