// A new list of runs, which comes with every write to the store: it disturbs as little as it can.

#include <gtest/gtest.h>

#include <QComboBox>
#include <QTreeView>
#include <memory>

#include "gui/charts/figure_card.h"
#include "gui/pages/overview_page.h"
#include "gui/pages/regressions_page.h"
#include "gui_window.h"
#include "sample_store.h"

namespace ddbench::gui {
namespace {

class Refresh : public testing::Test {
 protected:
  Refresh() : window({sample_store_file(), nullptr}) {
    window.show();
    settle(window);
  }

  /// As a list that was read. What it changes at once is checked before events are handled: then the store's may come.
  void bring(RunList list) {
    window.workspace().set_runs(std::make_shared<const RunList>(std::move(list)));
    window.workspace().changed();
  }

  MainWindow window;
};

TEST_F(Refresh, ClosedGroupsStayClosedAndTheCurrentRowStays) {
  window.open_page(PageId::kOverview);
  settle(window);
  auto& overview = static_cast<OverviewPage&>(window.page(PageId::kOverview));
  RunFilter filter;
  filter.group = RunColumn::kSize;
  overview.change_filter(filter);
  QTreeView& tree = overview.tree();
  const RunFilterProxy& rows = overview.rows();
  ASSERT_GE(rows.rowCount(), 3);
  const auto title = [&](int group) { return rows.index(group, 0).data(RunTableModel::kSortRole).toString(); };
  const QString closed = title(1);
  tree.collapse(rows.index(1, 0));
  tree.setCurrentIndex(rows.index(0, 3, rows.index(0, 0)));
  const QString current = tree.currentIndex().data(RunTableModel::kRunIdRole).toString();
  ASSERT_FALSE(current.isEmpty());
  const auto expect_same = [&] {
    for (int group = 0; group < rows.rowCount(); ++group)
      EXPECT_EQ(tree.isExpanded(rows.index(group, 0)), title(group) != closed) << title(group).toStdString();
    EXPECT_EQ(tree.currentIndex().data(RunTableModel::kRunIdRole).toString(), current);
    EXPECT_EQ(tree.currentIndex().column(), 3);
  };
  const RunList all = *window.workspace().runs;
  ASSERT_NE(all.back().run().id, current.toStdString());
  bring(RunList(all.begin(), all.end() - 1));  // a run less: the model is reset
  expect_same();
  bring(all);
  expect_same();
  bring(all);  // only values may have changed
  expect_same();
  filter.text = QStringLiteral("1");
  overview.change_filter(filter);
  expect_same();
}

TEST_F(Refresh, BoxesThatOfferTheSameAreLeftAlone) {
  for (int i = 0; i < kPageCount; ++i) {
    window.open_page(static_cast<PageId>(i));
    settle(window);
    Page& page = window.page(static_cast<PageId>(i));
    int removed = 0;
    QObject context;
    for (QComboBox* box : page.findChildren<QComboBox*>())
      QObject::connect(box->model(), &QAbstractItemModel::rowsRemoved, &context, [&removed] { ++removed; });
    bring(*window.workspace().runs);
    page.reload();
    settle(window);
    EXPECT_EQ(removed, 0) << page.accessibleName().toStdString();
  }
}

TEST_F(Refresh, AnotherSubjectIsChosenWhenItsRunsAreGone) {
  Workspace& shared = window.workspace();
  window.open_page(PageId::kSpeedup);
  settle(window);
  const RunList all = *shared.runs;
  ASSERT_GT(all.size(), 6U);
  RunList two_sweeps = all;
  for (std::size_t i = 0; i < 4; ++i) two_sweeps[i].measures.run.sweep_id = "sweep that is pruned";
  bring(two_sweeps);
  shared.choose_subject({Subject::Kind::kSweep, "sweep that is pruned"});
  bring(two_sweeps);
  EXPECT_EQ(shared.subject.sweep_id, "sweep that is pruned");
  bring(RunList(all.begin() + 4, all.end()));
  EXPECT_EQ(shared.subject, (Subject{Subject::Kind::kSweep, all.back().run().sweep_id}));
  EXPECT_FALSE(shared.chosen_by_hand);
  for (const QComboBox* box : window.page(PageId::kSpeedup).findChildren<QComboBox*>()) {
    if (box->accessibleName() != QStringLiteral("Runs that this page is about")) continue;
    EXPECT_EQ(box->currentData().toStringList().at(1).toStdString(), shared.subject.sweep_id);
  }
  shared.choose_runs({all[4].run().id, all[5].run().id});
  bring(RunList(all.begin() + 5, all.end()));
  EXPECT_EQ(shared.selection, (std::set<store::RunId>{all[5].run().id}));
  bring(RunList(all.begin() + 6, all.end()));
  EXPECT_TRUE(shared.selection.empty());
  EXPECT_EQ(shared.subject.kind, Subject::Kind::kSweep);
}

TEST(Refreshed, TheCaseOfAHistoryStaysWhenRunsAreAdded) {
  const ScratchDirectory directory;
  const std::filesystem::path file = directory / "history.db";
  int number = 0;
  const auto add = [&](int gpus) {
    auto store = store::RunStore::open(file, store::OpenMode::kReadWrite);
    test::SampleRun run;
    run.number = number++;
    run.run_case.gpus_per_node = gpus;
    run.run_case.steps = 5;
    test::add_sample_run(store, run);
  };
  for (const int gpus : {1, 1, 1, 1, 2, 2}) add(gpus);
  MainWindow window({file, nullptr});
  window.show();
  window.open_page(PageId::kRegressions);
  settle(window);
  auto& page = static_cast<RegressionsPage&>(window.page(PageId::kRegressions));
  const auto points = [&] { return page.history().view().figure().series.at(0).points.size(); };
  ASSERT_EQ(page.series_box().count(), 2);
  EXPECT_EQ(points(), 4U) << "the longest history comes first";
  page.series_box().setCurrentIndex(1);
  Q_EMIT page.series_box().activated(1);
  EXPECT_EQ(points(), 2U);
  const QVariant chosen = page.series_box().currentData();
  add(2);  // the box then says "3 runs"
  ASSERT_TRUE(wait_until([&] { return window.workspace().runs->size() == 7 && window.is_settled(); }));
  EXPECT_EQ(page.series_box().currentData(), chosen);
  EXPECT_EQ(points(), 3U);
}

}  // namespace
}  // namespace ddbench::gui
