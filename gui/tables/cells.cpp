#include "gui/tables/cells.h"

#include <QLocale>
#include <algorithm>

#include "core/text/quantity.h"
#include "gui/models/run_list.h"
#include "reports/text/phrases.h"

namespace ddbench::gui {
namespace {

QString shown(double value, const std::string& unit) {
  if (unit == "1" || unit == "samples/s") return QString::fromStdString(ddbench::number(value));
  return QString::fromStdString(quantity(value, unit == "bytes" ? "B" : unit));
}

QString shown_percent(double share) {
  return QString::fromStdString(reports::percent_in_words(share));
}

template <typename Shown>
Cell with_interval(double value, const Measured<ConfidenceInterval>& interval, const Shown& text) {
  Cell cell = number_cell(value, text(value));
  if (!interval) {
    cell.tip = QStringLiteral("no interval: ") + QString::fromStdString(interval.reason());
    return cell;
  }
  cell.text += QStringLiteral("  [%1, %2]").arg(text(interval->low), text(interval->high));
  cell.tip = QStringLiteral("%1% interval: %2")
                 .arg(100 * interval->level, 0, 'g', 3)
                 .arg(QString::fromStdString(interval->method));
  return cell;
}

}  // namespace

Cell quantity_cell(const Measured<double>& value, const std::string& unit) {
  return value ? number_cell(*value, shown(*value, unit)) : missing_cell(value.reason());
}

Cell rate_cell(double work_per_s, const std::string& without_samples, int ranks) {
  if (without_samples.empty()) return quantity_cell(work_per_s, "samples/s");
  Cell cell = number_cell(work_per_s, QString::fromStdString(reports::rate_in_words(work_per_s, false, ranks)));
  cell.tip = QString::fromStdString(without_samples);
  return cell;
}

Cell percent_cell(const Measured<double>& share) {
  return share ? number_cell(*share, shown_percent(*share)) : missing_cell(share.reason());
}

Cell interval_cell(double value, const Measured<ConfidenceInterval>& interval, const std::string& unit) {
  return with_interval(value, interval, [&](double each) { return shown(each, unit); });
}

Cell percent_interval_cell(double share, const Measured<ConfidenceInterval>& interval) {
  return with_interval(share, interval, shown_percent);
}

Cell ratio_cell(const Measured<analyzer::RunRatio>& ratio) {
  if (!ratio) return missing_cell(ratio.reason());
  return with_interval(ratio->value, ratio->interval, [](double each) {
    return QString::fromStdString(ddbench::number(each)) + QStringLiteral(" ×");
  });
}

Cell count_cell(double count) {
  return number_cell(count, QLocale(QLocale::English, QLocale::UnitedStates).toString(count, 'f', 0));
}

Cell provenance_cell(ProvenanceSet provenance) {
  return {provenance_text(provenance), {}, {}, false};
}

CellTable cell_table(const reports::DataTable& table) {
  CellTable result;
  for (const reports::DataColumn& column : table.columns) result.columns.push_back(QString::fromStdString(column.title));
  for (const std::vector<reports::DataCell>& row : table.rows) {
    std::vector<Cell>& cells = result.rows.emplace_back();
    for (const reports::DataCell& cell : row) {
      cells.push_back(cell.sort_by ? number_cell(*cell.sort_by, QString::fromStdString(cell.text)) : text_cell(cell.text));
      if (!cell.why.empty()) cells.back().tip = QString::fromStdString(cell.why);
    }
  }
  return result;
}

QString spaced(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return QString::fromStdString(text);
}

}  // namespace ddbench::gui
