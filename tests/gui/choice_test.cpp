// What is chosen on one page holds on the others; columns of tables are chosen by the user.

#include <gtest/gtest.h>

#include <QHeaderView>
#include <QMenu>
#include <QSettings>
#include <QTreeView>
#include <algorithm>
#include <string>

#include "gui/pages/overview_page.h"
#include "gui/pages/speedup_page.h"
#include "gui/tables/column_choice.h"
#include "gui/tables/table_card.h"
#include "gui_window.h"

namespace ddbench::gui {
namespace {

class Choice : public testing::Test {
 protected:
  Choice()
      : settings(QString::fromStdString((directory / "state.ini").string()), QSettings::IniFormat),
        window({sample_store_file(), &settings}) {
    window.show();
    settle(window);
  }

  OverviewPage& overview() { return static_cast<OverviewPage&>(window.page(PageId::kOverview)); }
  const RunEntry& entry(bool in_sweep) {
    for (const RunEntry& each : *window.workspace().runs) {
      if (each.run().sweep_id.empty() != in_sweep && each.run().state == store::RunState::kDone) return each;
    }
    throw std::runtime_error("no such run");
  }
  std::string shown_run() {
    const Workspace& shared = window.workspace();
    return shared.current_run(shared.subject)->run().id;
  }

  ScratchDirectory directory;
  QSettings settings;
  MainWindow window;
};

TEST_F(Choice, ARunIsShownOnAllPagesAndKeepsAScopeThatHasIt) {
  Workspace& shared = window.workspace();
  const store::RunId oldest = shared.records_of({}).front().id;
  shared.choose_subject({});
  shared.choose_runs({oldest});
  EXPECT_EQ(shared.subject.kind, Subject::Kind::kAll) << "all runs contain it";
  EXPECT_EQ(shown_run(), oldest);
  const RunEntry& of_sweep = entry(true);
  shared.choose_subject({Subject::Kind::kSweep, "of no run"});
  shared.choose_runs({of_sweep.run().id});
  EXPECT_EQ(shared.subject, (Subject{Subject::Kind::kSweep, of_sweep.run().sweep_id}));
  EXPECT_EQ(shown_run(), of_sweep.run().id);
}

TEST_F(Choice, SeveralRunsAreTheSubjectUntilNoneIsSelected) {
  Workspace& shared = window.workspace();
  const auto all = shared.records_of({});
  shared.choose_runs({all[0].id, all[1].id});
  EXPECT_EQ(shared.subject.kind, Subject::Kind::kSelection);
  EXPECT_EQ(shared.records_of(shared.subject).size(), 2U);
  shared.choose_runs({all[1].id});
  EXPECT_NE(shared.subject.kind, Subject::Kind::kSelection);
  EXPECT_EQ(shown_run(), all[1].id);
  shared.choose_runs({all[0].id, all[1].id});
  shared.choose_runs({});
  EXPECT_EQ(shared.subject, Subject{});
}

TEST_F(Choice, TheOverviewShowsWhatAnotherPageChose) {
  Workspace& shared = window.workspace();
  const store::RunId oldest = shared.records_of({}).front().id;
  window.open_page(PageId::kSpeedup);
  settle(window);
  shared.choose_subject({});
  shared.choose_runs({oldest});
  window.open_page(PageId::kOverview);
  settle(window);
  const auto rows = overview().tree().selectionModel()->selectedRows();
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(overview().rows().entry(rows.front())->run().id, oldest);
}

TEST_F(Choice, AnotherSweepIsOnlyShownUntilOneIsChosenByHand) {
  Workspace& shared = window.workspace();
  const std::string wanted = sweeps_of(*shared.runs).back().id;
  const auto suits = [&wanted](const Entries& runs) {
    return !runs.empty() && std::all_of(runs.begin(), runs.end(), [&wanted](const RunEntry* each) {
      return each->run().sweep_id == wanted || each->run().is_baseline;
    });
  };
  EXPECT_EQ(shared.subject_for(suits).sweep_id, wanted);
  EXPECT_EQ(shared.subject_for([](const auto&) { return false; }), shared.subject);
  shared.choose_subject({});
  EXPECT_EQ(shared.subject_for(suits), Subject{});
}

TEST_F(Choice, ARunOfAPagesBoxCountsAsChosenByHand) {
  Workspace& shared = window.workspace();
  const Subject sweep{Subject::Kind::kSweep, entry(true).run().sweep_id};
  const store::RunId oldest = shared.records_of(sweep).front().id;
  shared.chosen_by_hand = false;
  shared.choose_run(oldest, sweep);
  EXPECT_TRUE(shared.chosen_by_hand);
  EXPECT_EQ(shared.subject, sweep);
  EXPECT_EQ(shown_run(), oldest);
}

TEST_F(Choice, ColumnsAreHiddenRememberedAndReset) {
  constexpr int kNameColumn = static_cast<int>(RunColumn::kWorkload);
  EXPECT_FALSE(overview().tree().isColumnHidden(kNameColumn));
  overview().columns().choose(kNameColumn, false);
  EXPECT_TRUE(overview().tree().isColumnHidden(kNameColumn));
  QMenu menu;
  overview().columns().fill(menu);
  EXPECT_FALSE(menu.actions()[kNameColumn]->isChecked());
  {
    MainWindow other({sample_store_file(), &settings});
    other.show();
    settle(other);
    auto& page = static_cast<OverviewPage&>(other.page(PageId::kOverview));
    EXPECT_TRUE(page.tree().isColumnHidden(kNameColumn));
    page.columns().reset();
    EXPECT_FALSE(page.tree().isColumnHidden(kNameColumn));
  }
  MainWindow again({sample_store_file(), &settings});
  again.show();
  settle(again);
  EXPECT_FALSE(static_cast<OverviewPage&>(again.page(PageId::kOverview)).tree().isColumnHidden(kNameColumn));
}

TEST_F(Choice, TheLastColumnStaysAndAChoiceOutlivesARefresh) {
  window.open_page(PageId::kSpeedup);
  settle(window);
  auto& page = static_cast<SpeedupPage&>(window.page(PageId::kSpeedup));
  TableView& table = page.rows().table();
  ColumnChoice choice(*table.horizontalHeader(), QStringLiteral("test"), nullptr);
  for (int i = 0; i < table.model()->columnCount(); ++i) choice.choose(i, false);
  EXPECT_EQ(table.horizontalHeader()->hiddenSectionCount(), table.model()->columnCount() - 1);
  page.reload();
  settle(window);
  EXPECT_EQ(table.horizontalHeader()->hiddenSectionCount(), table.model()->columnCount() - 1);
}

TEST_F(Choice, MainColumnsAreInViewAt1280Pixels) {
  window.resize(1280, 800);
  window.open_page(PageId::kOverview);
  settle(window);
  const QTreeView& tree = overview().tree();
  for (const RunColumn column : {RunColumn::kWorkload, RunColumn::kSize, RunColumn::kEfficiency, RunColumn::kThroughput,
                                 RunColumn::kStepTime}) {
    const int i = static_cast<int>(column);
    EXPECT_LE(tree.columnViewportPosition(i) + tree.columnWidth(i), tree.viewport()->width()) << i;
  }
}

}  // namespace
}  // namespace ddbench::gui
