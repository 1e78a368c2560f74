#include "gui/pages/overview_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/charts/figure_card.h"
#include "gui/charts/theme.h"
#include "gui/tables/column_choice.h"
#include "gui/tables/table_view.h"
#include "gui/workspace/compared_runs.h"

namespace ddbench::gui {
namespace {

constexpr std::size_t kNewestRuns = 8;

QString name_of_row(const QModelIndex& index) {
  const QModelIndex first = index.siblingAtColumn(0);
  const QVariant run = first.data(RunTableModel::kRunIdRole);
  return (run.isValid() ? run : first.data(RunTableModel::kSortRole)).toString();
}

/// Colours the state; the text states it too.
class StateDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const QVariant state = index.data(RunTableModel::kStateRole);
    if (!state.isValid()) {
      option->font.setBold(true);  // a group
      return;
    }
    if (index.column() != static_cast<int>(RunColumn::kState)) return;
    QColor color = theme().good;
    if (state.toInt() == static_cast<int>(store::RunState::kRunning)) color = theme().accent;
    if (store::was_stopped(static_cast<store::RunState>(state.toInt()))) color = theme().warning;
    if (state.toInt() == static_cast<int>(store::RunState::kFailed)) color = theme().bad;
    option->palette.setColor(QPalette::Text, color);
    option->palette.setColor(QPalette::HighlightedText, color);
  }
};

}  // namespace

OverviewPage::OverviewPage(Workspace& workspace)
    : Page(workspace, QStringLiteral("Overview"),
           QStringLiteral("All runs. Choose one to see where its time went, or several to compare them.")),
      model_(new RunTableModel(this)),
      proxy_(new RunFilterProxy(this)) {
  proxy_->setSourceModel(model_);
  make_tiles();
  auto* card = new QFrame;
  card->setObjectName(QStringLiteral("card"));
  auto* column = new QVBoxLayout(card);
  column->setContentsMargins(12, 12, 12, 6);
  column->setSpacing(10);
  make_tree();
  make_filters();
  column->addWidget(filters_);
  column->addWidget(tree_, 1);
  make_comparison();
  auto* splitter = new QSplitter(Qt::Vertical);
  splitter->setChildrenCollapsible(false);
  splitter->setHandleWidth(12);
  splitter->addWidget(card);
  splitter->addWidget(panel_);
  splitter->setStretchFactor(0, 1);
  splitter->setStretchFactor(1, 1);
  body()->addWidget(splitter, 1);
}

void OverviewPage::make_tiles() {
  auto* row = new QHBoxLayout;
  row->setSpacing(12);
  for (const char* name : {"Runs", "Running", "Newest efficiency", "Best throughput"}) {
    auto* tile = new QFrame;
    tile->setObjectName(QStringLiteral("card"));
    auto* column = new QVBoxLayout(tile);
    column->setContentsMargins(14, 8, 14, 8);
    column->setSpacing(0);
    auto* title = new QLabel(QString::fromLatin1(name));
    title->setObjectName(QStringLiteral("statLabel"));
    auto* value = new QLabel;
    value->setObjectName(QStringLiteral("statValue"));
    auto* detail = new QLabel;
    detail->setObjectName(QStringLiteral("statDetail"));
    for (QLabel* each : {title, value, detail}) {
      each->setTextFormat(Qt::PlainText);
      column->addWidget(each);
    }
    tiles_.push_back({value, detail});
    row->addWidget(tile, 1);
  }
  body()->addLayout(row);
}

void OverviewPage::make_tree() {
  tree_ = new QTreeView;
  tree_->setAccessibleName(QStringLiteral("Runs"));
  tree_->setModel(proxy_);
  tree_->setItemDelegate(new StateDelegate(tree_));
  tree_->setFrameShape(QFrame::NoFrame);
  tree_->setRootIsDecorated(false);
  tree_->setUniformRowHeights(true);
  tree_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  tree_->setAllColumnsShowFocus(true);
  tree_->setMinimumHeight(140);
  tree_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  tree_->setSortingEnabled(true);
  tree_->sortByColumn(0, Qt::DescendingOrder);
  tree_->header()->setStretchLastSection(true);
  tree_->header()->setResizeContentsPrecision(100);
  columns_ = new ColumnChoice(*tree_->header(), tree_->accessibleName(), workspace().settings);
  connect(tree_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          [this] { selection_changed(); });
  connect(tree_, &QTreeView::doubleClicked, this, [this](const QModelIndex& index) {
    const RunEntry* entry = proxy_->entry(index);
    if (entry == nullptr) return;
    workspace().choose_runs({entry->run().id});
    workspace().open_page(PageId::kBreakdown);
  });
}

void OverviewPage::make_comparison() {
  panel_ = new QWidget;
  auto* row = new QHBoxLayout(panel_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(14);
  auto* left = new QFrame;
  left->setObjectName(QStringLiteral("card"));
  auto* column = new QVBoxLayout(left);
  column->setContentsMargins(14, 10, 12, 8);
  panel_title_ = new QLabel;
  panel_title_->setObjectName(QStringLiteral("cardTitle"));
  panel_title_->setTextFormat(Qt::PlainText);
  hint_ = new QLabel;
  hint_->setObjectName(QStringLiteral("note"));
  hint_->setWordWrap(true);
  hint_->setTextFormat(Qt::PlainText);
  table_ = new TableView(QStringLiteral("Chosen runs side by side"));
  table_->on_fit = [this] {
    const QString legend = table_->legend();
    hint_->setText(legend.isEmpty() ? about_ : about_ + QStringLiteral(" · ") + legend);
  };
  column->addWidget(panel_title_);
  column->addWidget(hint_);
  column->addWidget(table_, 1);
  card_ = new FigureCard;
  row->addWidget(left, 1);
  row->addWidget(card_, 1);
  panel_->setMinimumHeight(320);
}

void OverviewPage::load() {
  const bool first = shown_ == nullptr;
  shown_ = workspace().runs;
  show_body();
  const TreeState before = tree_state();
  restoring_ = true;
  model_->set_runs(shown_);
  restoring_ = false;
  fill_filters();
  fill_tiles();
  restore_tree(before);
  restore_selection();
  for (int i = 0; i < kRunColumnCount; ++i) {
    const auto column = static_cast<RunColumn>(i);
    columns_->show_by_default(i, std::any_of(shown_->begin(), shown_->end(), [column](const RunEntry& entry) {
                                return text_of(entry, column) != QStringLiteral("–");
                              }));
  }
  if (first) {
    for (int i = 0; i < kRunColumnCount; ++i) tree_->resizeColumnToContents(i);
  }
  if (compared_ != comparison_key() || (compared_last_ != compared_ && !is_loading())) load_comparison();
}

/// A new list alone does not disturb a comparison: its runs may be the same.
void OverviewPage::cancel_outdated() {
  if (compared_ != comparison_key()) Page::cancel_outdated();
}

void OverviewPage::reload() {
  compared_.clear();
  Page::reload();
}

void OverviewPage::unload(const QString& title, const QString& text) {
  Page::unload(title, text);
  clear_comparison(title, text);
  show_body();  // the list of runs is not of a job of this page
}

void OverviewPage::show_failure(const std::string& slot, const JobFailure& failure) {
  clear_comparison(QStringLiteral("No comparison"), QString());
  Page::show_failure(slot, failure);
}

void OverviewPage::clear_comparison(const QString& title, const QString& about) {
  compared_last_.clear();
  panel_title_->setText(title);
  about_ = about;
  table_->set_table({});
  card_->set_figure({});
}

/// Another page may have chosen another run or sweep meanwhile.
void OverviewPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  restore_selection();
  if (const QModelIndexList rows = tree_->selectionModel()->selectedRows(); !rows.empty()) tree_->scrollTo(rows.front());
  if (compared_ != comparison_key()) load_comparison();
}

std::string OverviewPage::comparison_key() const {
  std::string chosen = "of " + workspace().key_of(workspace().subject);  // never empty: that is no comparison
  for (const store::RunId& id : workspace().selection) chosen += "|" + id;
  return chosen;
}

// Lists never change, and the one that is shown is kept alive: another address is another list.
std::string OverviewPage::key() const {
  return std::to_string(reinterpret_cast<std::uintptr_t>(workspace().runs.get()));
}

void OverviewPage::fill_tiles() {
  const RunEntry* running = nullptr;
  const RunEntry* newest = nullptr;
  const RunEntry* best = nullptr;
  int going_on = 0;
  int done = 0;
  for (const RunEntry& entry : *shown_) {
    if (entry.run().state == store::RunState::kRunning) {
      ++going_on;
      if (running == nullptr) running = &entry;
    }
    done += entry.run().state == store::RunState::kDone ? 1 : 0;
    const auto& throughput = entry.measures[analyzer::RunMetric::kThroughput];
    if (newest == nullptr && entry.measures[analyzer::RunMetric::kEfficiency]) newest = &entry;
    if (throughput && (best == nullptr || *throughput > *best->measures[analyzer::RunMetric::kThroughput])) {
      best = &entry;
    }
  }
  const auto what = [](const RunEntry& entry) {
    return QStringLiteral("%1 · %2").arg(size_text(entry.run()),
                                         QString::fromStdString(work_name(entry.run().run_case.work)));
  };
  const auto set = [&](std::size_t i, const QString& value, const QString& detail) {
    tiles_[i].value->setText(value);
    tiles_[i].detail->setText(detail);
  };
  const QString alone = QStringLiteral(" · one run: no interval");
  set(0, QString::number(shown_->size()), QStringLiteral("%1 done").arg(done));
  set(1, QString::number(going_on),
      running == nullptr ? QStringLiteral("none")
                         : what(*running) + QStringLiteral(" · ") + text_of(*running, RunColumn::kState));
  set(2, newest == nullptr ? QStringLiteral("–") : text_of(*newest, RunColumn::kEfficiency),
      newest == nullptr ? QStringLiteral("no run has a baseline") : what(*newest) + alone);
  set(3,
      best == nullptr ? QStringLiteral("–") : text_of(*best, RunColumn::kThroughput) + QStringLiteral("/s"),
      best == nullptr ? QStringLiteral("no run has steps")
                      : QStringLiteral("samples · ") + what(*best) + alone);
}

OverviewPage::TreeState OverviewPage::tree_state() const {
  const QModelIndex current = tree_->currentIndex();
  TreeState state{{}, name_of_row(current), std::max(current.column(), 0)};
  for (int row = 0; row < proxy_->rowCount(); ++row) {
    const QModelIndex top = proxy_->index(row, 0);
    if (proxy_->hasChildren(top) && !tree_->isExpanded(top)) state.closed.insert(name_of_row(top));
  }
  return state;
}

/// New groups are open.
void OverviewPage::restore_tree(const TreeState& state) {
  restoring_ = true;
  tree_->setAutoScroll(false);  // the current row may have been scrolled out of view
  const auto make_current = [&](const QModelIndex& index) {
    if (state.current.isEmpty() || name_of_row(index) != state.current) return;
    tree_->selectionModel()->setCurrentIndex(index.siblingAtColumn(state.column), QItemSelectionModel::NoUpdate);
  };
  for (int row = 0; row < proxy_->rowCount(); ++row) {
    const QModelIndex top = proxy_->index(row, 0);
    make_current(top);
    if (!proxy_->hasChildren(top)) continue;
    tree_->setExpanded(top, state.closed.count(name_of_row(top)) == 0);
    for (int child = 0; child < proxy_->rowCount(top); ++child) make_current(proxy_->index(child, 0, top));
  }
  tree_->setAutoScroll(true);
  restoring_ = false;
}

void OverviewPage::restore_selection() {
  restoring_ = true;
  QItemSelection selection;
  const auto add = [&](const QModelIndex& index) {
    const RunEntry* entry = proxy_->entry(index);
    if (entry != nullptr && workspace().selection.count(entry->run().id) != 0) selection.select(index, index);
  };
  for (int row = 0; row < proxy_->rowCount(); ++row) {
    const QModelIndex top = proxy_->index(row, 0);
    add(top);
    for (int child = 0; child < proxy_->rowCount(top); ++child) add(proxy_->index(child, 0, top));
  }
  tree_->selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  restoring_ = false;
}

void OverviewPage::selection_changed() {
  if (restoring_) return;
  std::set<store::RunId> chosen;
  for (const QModelIndex& index : tree_->selectionModel()->selectedRows()) {
    if (const RunEntry* entry = proxy_->entry(index)) chosen.insert(entry->run().id);
  }
  if (chosen == workspace().selection) return;
  workspace().choose_runs(std::move(chosen));
  load_comparison();
}

void OverviewPage::load_comparison() {
  const std::string key = comparison_key();
  compared_ = key;
  std::vector<store::RunRecord> chosen = records_of(entries_with_ids(*workspace().runs, workspace().selection));
  if (chosen.empty()) {
    // A useful initial selection: the newest finished runs of the subject.
    chosen = subject_records();
    std::erase_if(chosen, [](const store::RunRecord& run) { return run.state != store::RunState::kDone; });
    if (chosen.size() > kNewestRuns) chosen.erase(chosen.begin(), chosen.end() - kNewestRuns);
  }
  const bool by_hand = !workspace().selection.empty();
  start<ComparedRuns>(
      "comparison", [chosen](JobContext& context) { return compare_chosen(context, chosen); },
      [this, by_hand, key](ComparedRuns result) {
        compared_last_ = key;
        panel_title_->setText(result.title);
        about_ = by_hand ? result.about : QStringLiteral("The newest runs. Choose others above: two are compared part by part.");
        table_->set_table(std::move(result.table));
        card_->set_figure(std::move(result.figure));
      });
}

}  // namespace ddbench::gui
