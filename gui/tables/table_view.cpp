#include "gui/tables/table_view.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QSortFilterProxyModel>
#include <algorithm>

#include "gui/charts/save_dialog.h"
#include "gui/models/at_first.h"
#include "reports/text/output_file.h"
#include "reports/text/safe_text.h"

namespace ddbench::gui {
namespace {

constexpr int kColumnGap = 10;
constexpr int kHeadingPadding = 8;  ///< of the style sheet
constexpr int kNarrowestText = 96;
constexpr int kNarrowestFirst = 150;  ///< what a row is about
constexpr int kWidestColumn = 420;

/// Missing values sort last in both directions.
class CellSorter : public QSortFilterProxyModel {
 public:
  using QSortFilterProxyModel::QSortFilterProxyModel;

 protected:
  bool lessThan(const QModelIndex& a, const QModelIndex& b) const override {
    const QVariant left = a.data(DataTableModel::kSortRole);
    const QVariant right = b.data(DataTableModel::kSortRole);
    if (left.isValid() != right.isValid()) return (sortOrder() == Qt::AscendingOrder) == left.isValid();
    if (!left.isValid()) return false;
    if (left.typeId() == QMetaType::QString) {
      return QString::localeAwareCompare(left.toString(), right.toString()) < 0;
    }
    return left.toDouble() < right.toDouble();
  }
};

}  // namespace

TableView::TableView(const QString& accessible_name, QWidget* parent)
    : QTableView(parent), model_(new DataTableModel(this)), sorted_(new CellSorter(this)) {
  setAccessibleName(accessible_name);
  sorted_->setSourceModel(model_);
  setModel(sorted_);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setShowGrid(false);
  setFrameShape(QFrame::NoFrame);
  setWordWrap(false);
  setTabKeyNavigation(false);
  setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(28);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setMinimumSectionSize(36);
  horizontalHeader()->setStretchLastSection(true);
  horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  setSortingEnabled(true);
}

void TableView::set_table(reports::DataTable table) {
  model_->set_table(std::move(table));
  horizontalHeader()->setResizeContentsPrecision(60);
  // In a wide column, a right-aligned number would be far from its heading and hard to assign to it.
  const auto& columns = model_->table().columns;
  const bool stretches = columns.empty() || !columns.back().numeric;
  horizontalHeader()->setStretchLastSection(stretches);
  resizeColumnsToContents();
  natural_widths_.clear();
  brief_widths_.clear();
  for (int i = 0; i < model_->columnCount(); ++i) {
    natural_widths_.push_back(std::max(sizeHintForColumn(i), heading_width(i)));
    brief_widths_.push_back(0);
    if (model_->table().legend.empty() || !model_->has_brief(i)) continue;  // nothing would explain them
    model_->set_brief(i, true);
    brief_widths_.back() = std::max(sizeHintForColumn(i), heading_width(i));
    model_->set_brief(i, false);
  }
  fit_columns();
}

/// In the heading's own font, without the room that Qt keeps for a sort indicator: our style draws none.
int TableView::heading_width(int column) const {
  horizontalHeader()->ensurePolished();
  QFont font = horizontalHeader()->font();
  font.setBold(true);  // of a selected column, and of all in our style
  const QString title = model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
  return QFontMetrics(font).horizontalAdvance(title) + 2 * kHeadingPadding + 2;
}

int TableView::narrowest(int column) const {
  return std::max(heading_width(column), column == 0 ? kNarrowestFirst : kNarrowestText);
}

void TableView::fit_columns() {
  const auto& columns = model_->table().columns;
  if (natural_widths_.size() != columns.size()) return;  // a new table comes
  std::vector<int> widths(natural_widths_);
  std::vector<std::size_t> shown;
  int total = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (isColumnHidden(static_cast<int>(i))) continue;
    shown.push_back(i);
    total += widths[i] = std::min(widths[i], kWidestColumn);
  }
  const int room = viewport()->width();
  for (const std::size_t i : shown) {
    const bool brief = total > room && brief_widths_[i] > 0;
    model_->set_brief(static_cast<int>(i), brief);
    if (!brief) continue;
    total -= widths[i] - brief_widths_[i];
    widths[i] = brief_widths_[i];
  }
  for (const std::size_t i : shown) {  // what fits is shown whole
    const int cut = brief_widths_[i] > 0 && widths[i] == brief_widths_[i] ? 0 : natural_widths_[i] - widths[i];
    const int more = std::clamp(room - total, 0, cut);
    widths[i] += more;
    total += more;
  }
  const int gap = shown.empty() ? 0 : std::clamp((room - total) / static_cast<int>(shown.size()), 0, kColumnGap);
  int missing = total - room;
  while (missing > 0) {
    std::size_t widest = widths.size();
    for (const std::size_t i : shown) {
      if (columns[i].numeric || widths[i] <= narrowest(static_cast<int>(i))) continue;
      if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == widths.size()) break;
    const int less =
        std::min(missing, widths[widest] - std::max(narrowest(static_cast<int>(widest)), widths[widest] * 3 / 4));
    widths[widest] -= std::max(less, 1);
    missing -= std::max(less, 1);
  }
  for (const std::size_t i : shown) setColumnWidth(static_cast<int>(i), widths[i] + gap);
  if (on_fit) on_fit();
}

QString TableView::legend() const {
  QStringList lines;
  if (!model_->is_brief()) return {};
  for (const std::string& line : model_->table().legend) lines << QString::fromStdString(line);
  if (const qsizetype more = lines.size() - shown_at_first(lines.size()); more > 0) {
    lines.resize(lines.size() - more);
    lines << QStringLiteral("%1 more: point at a cell").arg(more);
  }
  return lines.join(QStringLiteral(" · "));
}

void TableView::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  if (event->oldSize().width() != event->size().width()) fit_columns();
}

void TableView::copy(bool all) const {
  QStringList lines;
  QStringList titles;
  for (int column = 0; column < sorted_->columnCount(); ++column) {
    titles << sorted_->headerData(column, Qt::Horizontal).toString();
  }
  lines << titles.join(QLatin1Char('\t'));
  for (int row = 0; row < sorted_->rowCount(); ++row) {
    if (!all && !selectionModel()->isRowSelected(row)) continue;
    QStringList cells;
    for (int column = 0; column < sorted_->columnCount(); ++column) {
      const QString text = sorted_->index(row, column).data(Qt::EditRole).toString();  // never the brief form
      cells << QString::fromStdString(reports::visible(text.toStdString()));           // a cell stays one
    }
    lines << cells.join(QLatin1Char('\t'));
  }
  QApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

void TableView::save() {
  save_by_dialog(this, QStringLiteral("table"), QStringLiteral("table.csv"), QStringLiteral("csv"), [this](const std::string& file) {
    reports::write_file(file, csv_of(model_->table()).toStdString());
  });
}

void TableView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) return copy(false);
  QTableView::keyPressEvent(event);
}

void TableView::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu(this);
  connect(menu.addAction(QStringLiteral("Copy selected rows")), &QAction::triggered, this,
          [this] { copy(false); });
  connect(menu.addAction(QStringLiteral("Copy all")), &QAction::triggered, this, [this] { copy(true); });
  connect(menu.addAction(QStringLiteral("Save as CSV…")), &QAction::triggered, this, [this] { save(); });
  menu.exec(event->globalPos());
}

}  // namespace ddbench::gui
