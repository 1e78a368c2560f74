#include "gui/tables/column_choice.h"

#include <QAbstractItemModel>
#include <QAction>
#include <QHeaderView>
#include <QMenu>
#include <QSettings>
#include <QTableView>
#include <algorithm>

#include "gui/tables/table_view.h"

namespace ddbench::gui {

ColumnChoice::ColumnChoice(QHeaderView& header, QString table, QSettings* settings)
    : QObject(&header), header_(header), table_(std::move(table)), settings_(settings) {
  if (settings_ != nullptr) {
    const QVariantMap stored = settings_->value(QStringLiteral("columns/") + table_).toMap();
    for (auto it = stored.begin(); it != stored.end(); ++it) chosen_[it.key()] = it.value().toBool();
  }
  header_.setContextMenuPolicy(Qt::CustomContextMenu);
  header_.setToolTip(QStringLiteral("Click: sort. Right click: choose columns"));
  connect(&header_, &QWidget::customContextMenuRequested, this, [this](QPoint at) {
    QMenu menu;
    fill(menu);
    menu.exec(header_.mapToGlobal(at));
  });
  connect(&header_, &QHeaderView::sectionCountChanged, this, [this] { apply(); });
  connect(header_.model(), &QAbstractItemModel::modelReset, this, [this] { apply(); });
  apply();
}

QString ColumnChoice::title(int column) const {
  return header_.model()->headerData(column, Qt::Horizontal).toString();
}

bool ColumnChoice::is_shown(int column) const {
  const auto chosen = chosen_.find(title(column));
  if (chosen != chosen_.end()) return chosen->second;
  const auto by_default = default_.find(title(column));
  return by_default == default_.end() || by_default->second;
}

int ColumnChoice::shown_count() const {
  int shown = 0;
  for (int i = 0; i < header_.count(); ++i) shown += is_shown(i) ? 1 : 0;
  return shown;
}

void ColumnChoice::show_by_default(int column, bool shown) {
  default_[title(column)] = shown;
  apply();
}

void ColumnChoice::choose(int column, bool shown) {
  if (!shown && is_shown(column) && shown_count() == 1) return;
  chosen_[title(column)] = shown;
  save();
  apply();
}

void ColumnChoice::reset() {
  chosen_.clear();
  save();
  apply();
}

void ColumnChoice::fill(QMenu& menu) {
  for (int i = 0; i < header_.count(); ++i) {
    QString text = title(i);
    QAction* action = menu.addAction(text.replace(QLatin1Char('&'), QLatin1String("&&")));
    action->setCheckable(true);
    action->setChecked(is_shown(i));
    // The table may have other columns by the time that the menu is answered.
    connect(action, &QAction::triggered, this, [this, chosen = title(i)](bool shown) {
      for (int now = 0; now < header_.count(); ++now) {
        if (title(now) == chosen) return choose(now, shown);
      }
    });
  }
  menu.addSeparator();
  connect(menu.addAction(QStringLiteral("Reset columns")), &QAction::triggered, this, [this] { reset(); });
}

/// A table may come without some of its usual columns: if none of the shown ones is left, all are.
void ColumnChoice::apply() {
  const bool any = shown_count() > 0;
  bool changed = false;
  for (int i = 0; i < header_.count(); ++i) {
    const bool hidden = any && !is_shown(i);
    if (header_.isSectionHidden(i) == hidden) continue;
    header_.setSectionHidden(i, hidden);
    changed = true;
    if (!hidden) header_.resizeSection(i, std::max(header_.sectionSize(i), header_.sectionSizeHint(i)));
  }
  if (changed && on_change) on_change();
}

void ColumnChoice::save() const {
  if (settings_ == nullptr) return;
  QVariantMap stored;
  for (const auto& [title, shown] : chosen_) stored[title] = shown;
  settings_->setValue(QStringLiteral("columns/") + table_, stored);
}

void add_column_choices(QWidget& page, QSettings* settings) {
  for (QTableView* table : page.findChildren<QTableView*>()) {
    auto* choice = new ColumnChoice(*table->horizontalHeader(), table->accessibleName(), settings);
    if (auto* view = dynamic_cast<TableView*>(table)) choice->on_change = [view] { view->fit_columns(); };
  }
}

}  // namespace ddbench::gui
