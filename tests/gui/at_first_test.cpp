// Long lists show a few entries at first and leave room for what they are about.
#include "gui/models/at_first.h"

#include <gtest/gtest.h>

#include <QLineEdit>
#include <QtTest/QTest>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/run_case/records.h"
#include "gui/charts/figure_card.h"
#include "gui/tables/table_view.h"

namespace ddbench::gui {
namespace {

analyzer::Figure of_series(int count) {
  analyzer::Figure figure;
  figure.title = "Speedup over GPUs";
  figure.x = {"GPUs", "1", true};
  figure.y = {"speedup", "1", true};
  for (int i = 0; i < count; ++i)
    figure.series.push_back({"curve " + std::to_string(i), analyzer::SeriesShape::kPoints, {{1, 1, {}, {}}, {2, 1.8, {}, {}}}, {}});
  return figure;
}

QToolButton* entry(FigureCard& card, const QString& series) {
  for (auto* button : card.findChildren<QToolButton*>(QStringLiteral("legend"))) {
    if (button->text() == series) return button;
  }
  return nullptr;
}

std::ptrdiff_t visible_entries(FigureCard& card) {
  const auto buttons = card.findChildren<QToolButton*>(QStringLiteral("legend"));
  return std::count_if(buttons.begin(), buttons.end(), [](const QToolButton* button) { return button->isVisible(); });
}

QToolButton* more_of(FigureCard& card) { return card.findChild<QToolButton*>(QStringLiteral("more-series")); }

void expose(QWidget& widget) {
  widget.resize(700, 480);
  widget.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&widget));
}

TEST(AtFirst, OneMoreIsShownRatherThanAnnounced) {
  EXPECT_EQ(shown_at_first(0), 0);
  EXPECT_EQ(shown_at_first(12), 12);
  EXPECT_EQ(shown_at_first(13), 13);
  EXPECT_EQ(shown_at_first(14), 12);
  EXPECT_EQ(shown_at_first(5000), 12);
}

TEST(AtFirst, EveryPartOfAStepIsNamed) {
  FigureCard card;
  card.set_figure(of_series(static_cast<int>(store::kStepPartCount) + 1));  // and what they sum up to
  expose(card);
  EXPECT_EQ(visible_entries(card), static_cast<std::ptrdiff_t>(store::kStepPartCount) + 1);
  EXPECT_EQ(more_of(card), nullptr);
}

TEST(AtFirst, ALegendOfManySeriesLeavesRoomForTheChart) {
  FigureCard card;
  card.set_figure(of_series(112));
  expose(card);
  ASSERT_TRUE(more_of(card) != nullptr && more_of(card)->isVisible());
  EXPECT_EQ(visible_entries(card), 12);
  EXPECT_EQ(more_of(card)->text(), QStringLiteral("100 more series"));
  EXPECT_EQ(more_of(card)->accessibleName(), QStringLiteral("Show 100 more series in the legend"));
  EXPECT_EQ(card.view().chart().lines.size(), 112U) << "all are drawn";
  EXPECT_GT(card.view().height(), card.height() / 2);
  const QImage short_one = card.picture();
  more_of(card)->click();
  EXPECT_EQ(visible_entries(card), 112);
  EXPECT_EQ(more_of(card)->text(), QStringLiteral("fewer series"));
  EXPECT_EQ(more_of(card)->accessibleName(), QStringLiteral("Show fewer series in the legend"));
  EXPECT_NE(card.picture(), short_one) << "a picture has the names that the card has";
  entry(card, QStringLiteral("curve 111"))->click();
  EXPECT_EQ(card.view().hidden(), std::set<std::string>{"curve 111"});
  card.set_figure(of_series(111));
  EXPECT_EQ(visible_entries(card), 111) << "a refresh leaves the legend as it was switched";
  more_of(card)->click();
  EXPECT_EQ(visible_entries(card), 12);
  for (const int count : {13, 2}) {
    card.set_figure(of_series(count));
    EXPECT_EQ(visible_entries(card), count);
    EXPECT_EQ(more_of(card), nullptr);
  }
}

TEST(AtFirst, ALegendThatGrowsKeepsTheFocusThatItHas) {
  QWidget window;
  auto* column = new QVBoxLayout(&window);
  auto* other = new QLineEdit;
  auto* card = new FigureCard;
  column->addWidget(other);
  column->addWidget(card);
  card->set_figure(of_series(3));
  expose(window);
  entry(*card, QStringLiteral("curve 1"))->setFocus();
  card->set_figure(of_series(20));
  EXPECT_EQ(window.focusWidget(), entry(*card, QStringLiteral("curve 1")));
  more_of(*card)->setFocus();
  card->set_figure(of_series(30));
  EXPECT_EQ(window.focusWidget(), more_of(*card));
  card->set_figure(of_series(3));
  EXPECT_EQ(window.focusWidget(), &card->view()) << "where there is no such entry";
  other->setFocus();
  card->set_figure(of_series(20));
  EXPECT_EQ(window.focusWidget(), other);
}

TEST(AtFirst, ATableExplainsItsFirstCases) {
  for (const auto& [lines, last] : std::vector<std::pair<int, QString>>{
           {13, QStringLiteral("case 13: batch 13")}, {14, QStringLiteral("2 more: point at a cell")}, {30, QStringLiteral("18 more: point at a cell")}}) {
    reports::DataTable table;
    table.columns = {{.title = "case"}, {.title = "name"}};
    for (int i = 1; i <= lines; ++i) {
      reports::DataCell cell = reports::text_cell("batch " + std::to_string(i) + std::string(200, 'x'));
      cell.brief = std::to_string(i);
      table.rows.push_back({cell, reports::text_cell("name")});
      table.legend.push_back("case " + std::to_string(i) + ": batch " + std::to_string(i));
    }
    TableView view(QStringLiteral("Cases"));
    view.resize(300, 300);
    view.set_table(table);
    const QStringList shown = view.legend().split(QStringLiteral(" · "));
    EXPECT_EQ(shown.size(), std::min(lines, 13));
    EXPECT_EQ(shown.front(), QStringLiteral("case 1: batch 1"));
    EXPECT_EQ(shown.back(), last);
  }
}

}  // namespace
}  // namespace ddbench::gui
