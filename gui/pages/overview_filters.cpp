#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QShortcut>
#include <QSignalBlocker>
#include <QToolButton>
#include <QTreeView>
#include <set>

#include "gui/charts/flow_layout.h"
#include "gui/models/tool_tip.h"
#include "gui/pages/overview_page.h"
#include "gui/workspace/field_box.h"

namespace ddbench::gui {
namespace {

const std::vector<RunColumn>& filter_columns() {
  static const std::vector<RunColumn> kColumns{RunColumn::kWorkload,   RunColumn::kSize,
                                               RunColumn::kSku,        RunColumn::kNetwork,
                                               RunColumn::kProvenance, RunColumn::kState};
  return kColumns;
}

QToolButton* tool(const QString& text, const QString& name) {
  auto* button = new QToolButton;
  button->setText(text);
  button->setToolTip(tool_tip(name));
  button->setAccessibleName(name);
  button->setFocusPolicy(Qt::StrongFocus);
  return button;
}

}  // namespace

void OverviewPage::make_filters() {
  filters_ = new QWidget;
  auto* flow = new FlowLayout(8, 6);
  filters_->setLayout(flow);
  search_ = new QLineEdit;
  search_->setPlaceholderText(QStringLiteral("Filter runs (Ctrl+F)"));
  search_->setAccessibleName(QStringLiteral("Filter runs by words"));
  search_->setClearButtonEnabled(true);
  search_->setFixedWidth(190);
  flow->addWidget(search_);
  connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
    RunFilter filter = history_.current();
    filter.text = text;
    change_filter(std::move(filter));
  });
  for (const RunColumn column : filter_columns()) {
    auto* box = new QComboBox;
    box->setAccessibleName(QStringLiteral("Only runs with this ") + title_of(column).toLower());
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    box->setMaximumWidth(165);
    choices_[column] = box;
    flow->addWidget(box);
    connect(box, &QComboBox::activated, this, [this, column, box](int index) {
      RunFilter filter = history_.current();
      filter.equal.erase(column);
      if (index > 0) filter.equal[column] = box->itemText(index);
      change_filter(std::move(filter));
    });
  }
  make_group_box(flow);
  make_undo(flow);
}

void OverviewPage::make_group_box(QLayout* row) {
  group_ = new QComboBox;
  group_->setAccessibleName(QStringLiteral("Group runs by"));
  group_->addItem(QStringLiteral("Not grouped"), -1);
  for (const RunColumn column : grouping_columns()) {
    group_->addItem(QStringLiteral("By ") + title_of(column).toLower(), static_cast<int>(column));
  }
  row->addWidget(group_);
  connect(group_, &QComboBox::activated, this, [this](int index) {
    RunFilter filter = history_.current();
    const int column = group_->itemData(index).toInt();
    filter.group = column < 0 ? std::nullopt : std::optional(static_cast<RunColumn>(column));
    change_filter(std::move(filter));
  });
}

void OverviewPage::make_undo(QLayout* row) {
  undo_ = tool(QStringLiteral("↶ Undo"), QStringLiteral("Undo the last change of the filter (Ctrl+Z)"));
  redo_ = tool(QStringLiteral("↷ Redo"), QStringLiteral("Redo the change of the filter (Ctrl+Shift+Z)"));
  row->addWidget(undo_);
  row->addWidget(redo_);
  connect(undo_, &QToolButton::clicked, this, [this] { undo(); });
  connect(redo_, &QToolButton::clicked, this, [this] { redo(); });
  connect(new QShortcut(QKeySequence::Undo, this), &QShortcut::activated, this, [this] { undo(); });
  connect(new QShortcut(QKeySequence::Redo, this), &QShortcut::activated, this, [this] { redo(); });
  connect(new QShortcut(QKeySequence::Find, this), &QShortcut::activated, this, [this] { focus_filter(); });
  undo_->setEnabled(false);
  redo_->setEnabled(false);
}

void OverviewPage::fill_filters() {
  for (const auto& [column, box] : choices_) {
    std::set<QString> values;
    for (const RunEntry& entry : *shown_) {
      QString text = text_of(entry, column);
      if (column == RunColumn::kState && text.startsWith(QLatin1String("running"))) continue;
      values.insert(std::move(text));
    }
    const auto wanted = history_.current().equal.find(column);
    const bool filtered = wanted != history_.current().equal.end();
    const QString title = title_of(column);
    const bool is_name = column == RunColumn::kSku || column == RunColumn::kSize;  // SKU, GPUs
    std::vector<BoxItem> items{
        {QStringLiteral("Any ") + (is_name ? QString(title).replace(u'N', u'n') : title.toLower()), QString(), {}}};
    for (const QString& value : values) items.push_back({value, value, {}});
    offer_items(*box, items, filtered ? wanted->second : QString());
    box->setVisible(values.size() > 1 || filtered);
  }
}

void OverviewPage::change_filter(RunFilter filter) {
  history_.change(std::move(filter));
  apply_filter();
}

void OverviewPage::undo() {
  history_.undo();
  apply_filter();
}

void OverviewPage::redo() {
  history_.redo();
  apply_filter();
}

void OverviewPage::focus_filter() {
  search_->setFocus(Qt::ShortcutFocusReason);
  search_->selectAll();
}

void OverviewPage::apply_filter() {
  const RunFilter& filter = history_.current();
  TreeState before = tree_state();
  if (filter.group != model_->grouped_by()) before.closed.clear();
  const QSignalBlocker quiet(search_);
  if (search_->text() != filter.text) search_->setText(filter.text);
  restoring_ = true;
  model_->group_by(filter.group);
  proxy_->set_filter(filter);
  restoring_ = false;
  tree_->setRootIsDecorated(filter.group.has_value());
  restore_tree(before);
  tree_->resizeColumnToContents(0);
  group_->setCurrentIndex(group_->findData(filter.group ? static_cast<int>(*filter.group) : -1));
  fill_filters();
  undo_->setEnabled(history_.can_undo());
  redo_->setEnabled(history_.can_redo());
  restore_selection();
}

}  // namespace ddbench::gui
