#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSlider>
#include <QTest>
#include <QTreeView>
#include <cstdint>
#include <set>

#include "gui/charts/figure_card.h"
#include "gui/pages/batch_page.h"
#include "gui/pages/breakdown_page.h"
#include "gui/pages/collectives_page.h"
#include "gui/pages/cost_page.h"
#include "gui/pages/network_page.h"
#include "gui/pages/overview_page.h"
#include "gui/pages/regressions_page.h"
#include "gui/pages/speedup_page.h"
#include "gui/pages/timeline_page.h"
#include "gui/pages/what_if_page.h"
#include "gui/tables/table_view.h"
#include "gui/tables/table_card.h"
#include "gui/timeline/timeline_view.h"
#include "gui/window/all_pages.h"
#include "gui_window.h"
#include "sample_store.h"

namespace ddbench::gui {
namespace {

class Pages : public testing::Test {
 protected:
  Pages() : window({sample_store_file(), nullptr}) {
    window.show();
    window.activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(&window)) << "shortcuts are for the window that has the keyboard";
    settle(window);
  }

  template <typename Kind>
  Kind& open(PageId page) {
    window.open_page(page);
    settle(window);
    EXPECT_EQ(window.page(page).error_text(), QString());
    return static_cast<Kind&>(window.page(page));
  }

  MainWindow window;
};

TEST_F(Pages, OpenByMouseAndKeyboardWithoutAnError) {
  for (int i = 0; i < kPageCount; ++i) {
    QTest::keyClick(&window, static_cast<Qt::Key>(Qt::Key_0 + (i + 1) % 10), Qt::ControlModifier);
    settle(window);
    EXPECT_EQ(window.page_id(), static_cast<PageId>(i));
    EXPECT_EQ(window.page(window.page_id()).error_text(), QString())
        << page_title(window.page_id()).toStdString();
  }
  for (auto* button : window.findChildren<QPushButton*>(QStringLiteral("railButton"))) {
    QTest::mouseClick(button, Qt::LeftButton);
    settle(window);
    EXPECT_EQ(QStringLiteral("Page ") + page_title(window.page_id()), button->accessibleName());
  }
}

TEST_F(Pages, StartWithTheNewestSweep) {
  EXPECT_EQ(window.workspace().subject.kind, Subject::Kind::kSweep);
  auto& overview = open<OverviewPage>(PageId::kOverview);
  EXPECT_EQ(overview.rows().visible_runs().size(), window.workspace().runs->size());
  EXPECT_FALSE(overview.comparison_card().view().chart().empty());
}

TEST_F(Pages, OverviewFiltersGroupsUndoesAndKeepsTheSelection) {
  auto& overview = open<OverviewPage>(PageId::kOverview);
  const std::size_t all = overview.rows().visible_runs().size();
  auto* field = overview.findChild<QLineEdit*>();
  overview.focus_filter();
  QTest::keyClicks(field, QStringLiteral("@1gbit"));
  const std::size_t some = overview.rows().visible_runs().size();
  EXPECT_GT(some, 0U);
  EXPECT_LT(some, all);
  RunFilter filter = overview.filter();
  filter.group = RunColumn::kNetwork;
  overview.change_filter(filter);
  EXPECT_EQ(overview.rows().visible_runs().size(), some);
  overview.undo();
  overview.undo();
  EXPECT_EQ(overview.rows().visible_runs().size(), all);
  EXPECT_EQ(field->text(), QString());
  overview.redo();
  EXPECT_EQ(overview.rows().visible_runs().size(), some);
  overview.undo();

  QTreeView& tree = overview.tree();
  tree.setFocus();
  tree.setCurrentIndex(overview.rows().index(2, 0));
  QTest::keyClick(&tree, Qt::Key_Down, Qt::ShiftModifier);
  settle(window);
  EXPECT_EQ(window.workspace().selection.size(), 2U);
  EXPECT_FALSE(overview.comparison_card().view().chart().empty());
  EXPECT_GT(overview.comparison_table().model()->rowCount(), 3);
  overview.change_filter(filter);
  EXPECT_EQ(window.workspace().selection.size(), 2U) << "filtering is no choosing";
}

TEST_F(Pages, SpeedupHasACurveForEachLinkAndTheFiguresPoints) {
  auto& page = open<SpeedupPage>(PageId::kSpeedup);
  const auto& lines = page.speedup().view().chart().lines;
  ASSERT_GE(lines.size(), 3U) << "the ideal and two links";
  const analyzer::Figure& figure = page.speedup().view().figure();
  for (const auto& line : lines) {
    const auto series = std::find_if(
        figure.series.begin(), figure.series.end(),
        [&](const analyzer::Series& each) { return reports::svg::display_name(each.name) == line.name; });
    ASSERT_NE(series, figure.series.end()) << line.name;
    ASSERT_EQ(series->points.size(), line.marks.size());
  }
  EXPECT_GE(page.rows().table().model()->rowCount(), 4);
  page.split_box().setCurrentIndex(page.split_box().findData(QString()));
  Q_EMIT page.split_box().activated(page.split_box().currentIndex());
  settle(window);
  EXPECT_NE(page.error_text().indexOf(QStringLiteral("not one curve")), -1)
      << page.error_text().toStdString();
  page.split_box().setCurrentIndex(0);
  Q_EMIT page.split_box().activated(0);
  settle(window);
  EXPECT_EQ(page.error_text(), QString());
}

TEST_F(Pages, BreakdownFollowsAClickOnABar) {
  auto& page = open<BreakdownPage>(PageId::kBreakdown);
  ASSERT_FALSE(page.sizes().view().spots().empty());
  EXPECT_FALSE(page.ranks().view().chart().empty());
  EXPECT_FALSE(page.waterfall().view().chart().empty());
  const ChartSpot first = page.sizes().view().spots().front();
  QTest::mouseClick(page.sizes().view().viewport(), Qt::LeftButton, {}, first.anchor.toPoint());
  settle(window);
  ASSERT_NE(window.workspace().current_run(window.workspace().subject), nullptr);
  EXPECT_EQ(window.workspace().current_run(window.workspace().subject)->run().run_case.world_size(), 1);
  EXPECT_TRUE(page.error_text().isEmpty());
}

TEST_F(Pages, WhatIfRedrawsWhenASliderMoves) {
  auto& page = open<WhatIfPage>(PageId::kWhatIf);
  const auto& figure = page.throughput().view().figure();
  ASSERT_EQ(figure.series.size(), 3U);
  EXPECT_FALSE(figure.series[0].points.empty());
  EXPECT_EQ(figure.series[2].name, "recorded");
  EXPECT_EQ(figure.series[0].points.size(), figure.series[1].points.size());
  EXPECT_DOUBLE_EQ(figure.series[0].points.back().y, figure.series[1].points.back().y);
  EXPECT_GT(page.advice().table().cells().rowCount(), 0);
  const auto& path = page.path().table().cells().table();
  EXPECT_EQ(path.caption, "Critical path across ranks");
  const RunEntry* run = window.workspace().current_run(window.workspace().subject);
  ASSERT_NE(run, nullptr);
  EXPECT_GE(path.rows.size(), static_cast<std::size_t>(run->run().run_case.world_size())) << "ranks, then collectives and operators";
  ASSERT_TRUE(page.batch().isEnabled());
  page.batch().setValue(3);
  settle(window);
  const auto& changed = page.throughput().view().figure();
  EXPECT_GT(changed.series[1].points.back().y, changed.series[0].points.back().y);
  EXPECT_EQ(page.error_text(), QString());
}

TEST_F(Pages, TimelineShowsAllSpansOfTheRunAndSearches) {
  auto& page = open<TimelinePage>(PageId::kTimeline);
  const RunEntry* run = window.workspace().current_run(window.workspace().subject);
  ASSERT_NE(run, nullptr);
  const auto store = store::RunStore::open(sample_store_file(), store::OpenMode::kReadOnly);
  std::size_t spans = 0;
  std::set<std::uint32_t> with_spans;
  for (const store::RankRecord& rank : store.ranks(run->run().id)) {
    for (const Span& span : store.spans(run->run().id, rank.rank)) {
      if (span.kind == SpanKind::kStep) continue;
      ++spans;
      with_spans.insert(span.step);
    }
  }
  EXPECT_EQ(page.view().timeline().spans, spans);
  std::set<std::uint32_t> without_spans;
  for (const store::StepRecord& step : store.steps(run->run().id)) {
    if (!with_spans.contains(step.step)) without_spans.insert(step.step);
  }
  EXPECT_EQ(page.view().timeline().steps_without_probes, without_spans.size());
  QTest::keyClicks(&page.search_field(), QStringLiteral("all_reduce"));
  QTest::keyClick(&page.search_field(), Qt::Key_Return);
  EXPECT_TRUE(page.view().selected());
}

TEST_F(Pages, CollectivesShowBucketsAndBandwidth) {
  auto& page = open<CollectivesPage>(PageId::kCollectives);
  EXPECT_FALSE(page.bandwidth().view().chart().empty());
  EXPECT_FALSE(page.time().view().chart().empty());
  EXPECT_GT(page.buckets().table().model()->rowCount(), 0);
}

TEST_F(Pages, NetworkComparesEqualCasesOverTheLinks) {
  auto& page = open<NetworkPage>(PageId::kNetwork);
  EXPECT_GE(page.throughput().view().chart().lines.size(), 2U);
  EXPECT_FALSE(page.bandwidth().view().chart().empty());
  EXPECT_GT(page.rows().table().model()->rowCount(), 3);
  for (const auto* box : page.findChildren<QComboBox*>()) {
    if (box->accessibleName() != QStringLiteral("What the runs are compared by")) continue;
    EXPECT_EQ(box->itemData(1).toString(), QStringLiteral("link"));
    EXPECT_EQ(box->findData(QStringLiteral("provenance")), -1);
    return;
  }
  FAIL() << "no box of fields";
}

TEST_F(Pages, BatchSaysWhatItWouldTake) {
  open<BatchPage>(PageId::kBatch);
  bool reported = false;
  for (auto* label : window.page(PageId::kBatch).findChildren<QLabel*>(QStringLiteral("command"))) {
    reported |= label->isVisible() && label->text().contains(QStringLiteral("--target-loss"));
  }
  EXPECT_TRUE(reported);
}

TEST(CostPages, APriceThatIsChangedMovesTheFront) {
  const ScratchDirectory directory;
  {
    auto store = store::RunStore::open(directory / "skus.db", store::OpenMode::kReadWrite);
    int number = 0;
    for (const char* sku : {"Standard_ND96asr_v4", "Standard_ND40rs_v2"}) {
      test::SampleRun run;
      run.number = number++;
      run.run_case.sku = sku;
      run.run_case.gpus_per_node = 2;
      run.run_case.steps = 5;
      run.compute_ms = number == 1 ? 10 : 20;
      run.sweep_id = "sweep-20261121T020000-0a1b2c3d";
      test::add_sample_run(store, run);
    }
  }
  MainWindow window({directory / "skus.db", nullptr});
  window.show();
  window.open_page(PageId::kCost);
  settle(window);
  auto& page = static_cast<CostPage&>(window.page(PageId::kCost));
  ASSERT_EQ(page.prices().table().model()->rowCount(), 2);
  const auto& front = [&]() -> const std::vector<analyzer::Point>& {
    return page.cost().view().figure().series[1].points;
  };
  EXPECT_FALSE(page.set_price("Standard_ND96asr_v4", QStringLiteral("cheap")));
  const auto write_price = [&](const QString& price) {
    auto* model = page.prices().table().model();
    for (int row = 0; row < 2; ++row) {
      if (model->index(row, 0).data().toString() != QStringLiteral("Standard_ND96asr_v4")) continue;
      EXPECT_TRUE(model->setData(model->index(row, 1), price));
      break;
    }
    QApplication::processEvents();
    settle(window);
  };
  write_price(QStringLiteral("500"));
  EXPECT_EQ(front().size(), 2U) << "the faster one is dearer";
  write_price(QStringLiteral("0.5"));
  EXPECT_EQ(front().size(), 1U) << "now it is cheaper and faster";
  page.samples_field().setText(QStringLiteral("1e6"));
  QTest::keyClick(&page.samples_field(), Qt::Key_Return);
  settle(window);
  const auto costs_a_training = [&] { return page.cost().view().figure().title.find("to train") != std::string::npos; };
  EXPECT_TRUE(costs_a_training());
  page.samples_field().setText(QStringLiteral("many"));
  QTest::keyClick(&page.samples_field(), Qt::Key_Return);
  settle(window);
  EXPECT_TRUE(page.error_text().contains(QStringLiteral("\"many\" is no number"))) << page.error_text().toStdString();
  EXPECT_FALSE(costs_a_training());
  page.samples_field().setText(QStringLiteral("3e8"));
  QTest::keyClick(&page.samples_field(), Qt::Key_Return);
  settle(window);
  EXPECT_EQ(page.error_text(), QString());
  EXPECT_TRUE(costs_a_training());
}

TEST_F(Pages, RegressionsDrawTheHistoryAndJudgeTwoSides) {
  auto& page = open<RegressionsPage>(PageId::kRegressions);
  EXPECT_FALSE(page.history().view().chart().empty());
  page.judge(QStringLiteral("nodes=2,gpus_per_node=1"), QStringLiteral("nodes=4,gpus_per_node=1"));
  settle(window);
  EXPECT_EQ(page.outcome().text(), QStringLiteral("INCONCLUSIVE"))
      << "sides of different sizes are not compared";
  EXPECT_EQ(page.verdict().table().model()->rowCount(), 2);
  page.judge(QStringLiteral("colour=red"), QStringLiteral("last"));
  settle(window);
  EXPECT_NE(page.error_text().indexOf(QStringLiteral("colour")), -1) << page.error_text().toStdString();
  EXPECT_TRUE(page.outcome().isHidden()) << "it is of other sides";
  EXPECT_EQ(page.verdict().table().model()->rowCount(), 0);
  page.judge(QStringLiteral("nodes=2,gpus_per_node=1"), QStringLiteral("nodes=4,gpus_per_node=1"));
  settle(window);
  EXPECT_FALSE(page.outcome().isHidden());
  page.judge(QStringLiteral("nodes=4,gpus_per_node=1"), QStringLiteral("nodes=2,gpus_per_node=1"));
  page.judge(QString(), QString());  // while a verdict is on its way
  settle(window);
  EXPECT_TRUE(page.outcome().isHidden());
  EXPECT_EQ(page.verdict().table().model()->rowCount(), 0);
  EXPECT_EQ(page.error_text(), QString());
}

TEST_F(Pages, ChangeTheirColoursWithTheTheme) {
  open<SpeedupPage>(PageId::kSpeedup);
  window.set_theme_choice(ThemeChoice::kDark);
  settle(window);
  EXPECT_LT(window.grab().toImage().pixelColor(5, 300).lightness(), 60);
  window.set_theme_choice(ThemeChoice::kLight);
  settle(window);
  EXPECT_GT(window.grab().toImage().pixelColor(5, 300).lightness(), 200);
}

}  // namespace
}  // namespace ddbench::gui
