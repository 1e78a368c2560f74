#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QImage>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>
#include <cmath>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "gui/charts/figure_card.h"
#include "gui/charts/figure_csv.h"
#include "gui/charts/theme.h"
#include "gui_window.h"

namespace ddbench::gui {
namespace {

using analyzer::Figure;
using analyzer::Series;
using analyzer::SeriesShape;

Figure speedups() {
  Figure figure;
  figure.title = "Speedup over GPUs";
  figure.x = {"GPUs", "1", true};
  figure.y = {"speedup", "1", true};
  figure.series = {{"ideal", SeriesShape::kLine, {{1, 1, {}, {}}, {8, 8, {}, {}}}, {}},
                   {"measured",
                    SeriesShape::kPoints,
                    {{1, 1, {}, {}}, {2, 1.8, ConfidenceInterval{1.7, 1.9, 0.95, "t"}, {}}, {8, 5.5, {}, {}}},
                    {Provenance::kMeasured}}};
  return figure;
}

Figure parts() {
  Figure figure;
  figure.title = "Where a step goes";
  figure.y = {"mean step", "ms"};
  figure.series = {{"forward", SeriesShape::kStackedBars, {{0, 2, {}, "a"}, {1, 3, {}, "b"}}, {}},
                   {"idle", SeriesShape::kStackedBars, {{0, 1, {}, "a"}, {1, 4, {}, "b"}}, {}}};
  return figure;
}

std::string content_of(const std::filesystem::path& file) {
  std::ostringstream all;
  all << std::ifstream(file).rdbuf();
  return all.str();
}

void show(QWidget& widget) {
  widget.resize(700, 480);
  widget.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&widget));
}

/// What a place in the plot stands for, by the frame's own axes.
double value_at(double pixel, double low_pixel, double high_pixel, AxisRange range) {
  return std::pow(10, range.low + (pixel - low_pixel) / (high_pixel - low_pixel) * (range.high - range.low));
}

void click_legend(FigureCard& card, const QString& series) {
  for (auto* button : card.findChildren<QToolButton*>(QStringLiteral("legend"))) {
    if (button->text() == series) button->click();
  }
}

/// Where Qt Charts draws a point of ours, both in positions of the axes.
QPointF drawn_at(const ChartView& view, double x, double y) {
  QChart& chart = *static_cast<const QChartView&>(view).chart();
  return chart.mapToPosition({x, y}, chart.series().front());
}

TEST(Charts, PointsDrawnAreThoseOfTheFigure) {
  ChartView view;
  show(view);
  const Figure figure = speedups();
  view.set_figure(figure);
  const auto& lines = view.chart().lines;
  ASSERT_EQ(lines.size(), 2U);
  for (std::size_t series = 0; series < 2; ++series) {
    ASSERT_EQ(lines[series].marks.size(), figure.series[series].points.size());
    for (std::size_t i = 0; i < lines[series].marks.size(); ++i) {
      EXPECT_DOUBLE_EQ(lines[series].marks[i].x, figure.series[series].points[i].x);
      EXPECT_DOUBLE_EQ(lines[series].marks[i].y, figure.series[series].points[i].y);
    }
  }
  EXPECT_DOUBLE_EQ(lines[1].marks[1].interval->low, 1.7);
  EXPECT_DOUBLE_EQ(lines[1].marks[1].interval->high, 1.9);
  // Where they are drawn: equal ratios lie equally far apart on logarithmic axes.
  const auto& spots = view.spots();
  ASSERT_EQ(spots.size(), 5U);
  const QPointF one = spots[2].anchor;
  const QPointF two = spots[3].anchor;
  const QPointF eight = spots[4].anchor;
  EXPECT_NEAR((eight.x() - one.x()) / (two.x() - one.x()), 3, 0.01);
  EXPECT_NEAR((one.y() - eight.y()) / (one.y() - two.y()), std::log(5.5) / std::log(1.8), 0.01);
  EXPECT_NEAR(value_at(two.x(), one.x(), eight.x(), {0, std::log10(8)}), 2, 0.01);
  // What Qt Charts draws lies where the callouts point to.
  const QPointF by_qt = drawn_at(view, std::log10(2), std::log10(1.8));
  EXPECT_NEAR(by_qt.x(), two.x(), 0.5);
  EXPECT_NEAR(by_qt.y(), two.y(), 0.5);
  EXPECT_NE(spots[3].tip.indexOf(QStringLiteral("1.80")), -1) << spots[3].tip.toStdString();
  EXPECT_NE(spots[3].tip.indexOf(QStringLiteral("95%")), -1) << spots[3].tip.toStdString();
}

TEST(Charts, StackedBarsStandOnEachOther) {
  ChartView view;
  show(view);
  view.set_figure(parts());
  const auto& bars = view.chart().bars;
  ASSERT_EQ(bars.size(), 4U);
  EXPECT_DOUBLE_EQ(bars[2].from, 2);
  EXPECT_DOUBLE_EQ(bars[2].to, 3);
  EXPECT_DOUBLE_EQ(bars[3].from, 3);
  EXPECT_DOUBLE_EQ(bars[3].to, 7);
  for (const ChartSpot& spot : view.spots()) EXPECT_TRUE(QRectF(view.rect()).contains(spot.area));
}

/// The colours at the middles of the bars are those of their series: Qt Charts fills what the spots say.
TEST(Charts, BarsAreFilledWhereTheirValuesSay) {
  ChartView view;
  show(view);
  Figure figure = parts();
  for (const bool logarithmic : {false, true}) {
    figure.y.logarithmic = logarithmic;
    for (auto& series : figure.series)
      series.shape = logarithmic ? SeriesShape::kBars : SeriesShape::kStackedBars;
    view.set_figure(figure);
    const QImage image = view.grab().toImage();
    const double scale = image.devicePixelRatio();
    std::size_t bar = 0;
    ASSERT_EQ(view.spots().size(), 4U);
    for (const ChartSpot& spot : view.spots()) {
      const QColor ink = theme().ink(*view.chart().bars[bar++].ink);
      int alike = 0;
      for (int dx = -4; dx <= 4; ++dx) {
        for (int dy = -4; dy <= 4; ++dy) {
          alike += image.pixelColor(((spot.area.center() + QPointF(dx, dy)) * scale).toPoint()) == ink;
        }
      }
      EXPECT_GE(alike, 20) << "bar " << bar << (logarithmic ? ", logarithmic" : "");
      const QPointF outside(spot.area.left() - 4, spot.area.top() - 4);
      EXPECT_NE(image.pixelColor((outside * scale).toPoint()), ink);
    }
  }
}

TEST(Charts, TheScalesCanBeSwitchedAndStaySoWhenTheFigureIsRefreshed) {
  FigureCard card;
  show(card);
  card.set_figure(speedups());
  ChartView& view = card.view();
  ASSERT_TRUE(view.can_switch_x());
  ASSERT_TRUE(view.can_switch_y());
  view.set_log_x(false);
  const auto& spots = view.spots();
  ASSERT_EQ(spots.size(), 5U);
  EXPECT_NEAR((spots[4].anchor.x() - spots[2].anchor.x()) / (spots[3].anchor.x() - spots[2].anchor.x()), 7,
              0.05);
  card.set_figure(speedups());
  EXPECT_FALSE(view.chart().log_x);
  EXPECT_TRUE(view.chart().log_y);
  card.set_figure(parts());
  EXPECT_FALSE(view.can_switch_y()) << "stacked bars have no logarithms";
  Figure negative = speedups();
  negative.series[1].points[0].y = -1;
  card.set_figure(negative);
  EXPECT_FALSE(view.can_switch_y());
}

TEST(Charts, TheWheelZoomsAndLeavesThePageItsTurnsWhenAllIsShown) {
  ChartView view;
  show(view);
  view.set_figure(speedups());
  const auto turn = [&](int by) {
    const QPointF at = QRectF(view.rect()).center();
    QWheelEvent event(at, view.viewport()->mapToGlobal(at), {}, {0, by}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(view.viewport(), &event);
    return event.isAccepted();
  };
  EXPECT_FALSE(turn(-120)) << "nothing to zoom out of: the page scrolls";
  EXPECT_TRUE(turn(120));
  EXPECT_TRUE(view.is_zoomed());
  EXPECT_TRUE(turn(-120));
  EXPECT_FALSE(view.is_zoomed());
}

TEST(Charts, ChartsWithTheSameAxisShareTheCrosshair) {
  QWidget page;
  auto* row = new QHBoxLayout(&page);
  std::vector<ChartView*> views;
  for (int i = 0; i < 3; ++i) row->addWidget(views.emplace_back(new ChartView));
  Figure other = speedups();
  other.x.label = "ranks";
  views[0]->set_figure(speedups());
  views[1]->set_figure(speedups());
  views[2]->set_figure(other);
  page.resize(1000, 400);
  page.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&page));
  QTest::mouseMove(views[0]->viewport(), views[0]->spots()[3].anchor.toPoint());
  ASSERT_TRUE(views[1]->crosshair().has_value());
  EXPECT_NEAR(*views[1]->crosshair(), std::log10(2), 0.02);
  EXPECT_FALSE(views[2]->crosshair().has_value());
  QTest::mouseMove(views[2]->viewport(), views[2]->spots()[3].anchor.toPoint());
  EXPECT_TRUE(views[2]->crosshair().has_value());
}

TEST(Charts, LegendTogglesASeriesAndOthersKeepTheirColour) {
  FigureCard card;
  show(card);
  card.set_figure(speedups());
  const auto* ink = card.view().chart().lines[1].ink;
  click_legend(card, QStringLiteral("ideal"));
  ASSERT_EQ(card.view().chart().lines.size(), 1U);
  EXPECT_EQ(card.view().chart().lines[0].ink, ink);
  const auto buttons = card.findChildren<QToolButton*>(QStringLiteral("legend"));
  card.set_figure(speedups());
  EXPECT_EQ(card.view().chart().lines.size(), 1U) << "a refresh must not bring hidden series back";
  EXPECT_EQ(card.findChildren<QToolButton*>(QStringLiteral("legend")), buttons) << "nor take the focus of a button";
  click_legend(card, QStringLiteral("measured"));
  EXPECT_TRUE(card.view().chart().empty());
  click_legend(card, QStringLiteral("ideal"));
  click_legend(card, QStringLiteral("measured"));
  EXPECT_EQ(card.view().chart().lines.size(), 2U);
}

TEST(Charts, KeyboardGoesFromValueToValueAndZooms) {
  ChartView view;
  show(view);
  view.set_figure(speedups());
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_Right);
  EXPECT_EQ(view.current_spot(), 0);
  QTest::keyClick(&view, Qt::Key_Right);
  QTest::keyClick(&view, Qt::Key_Left);
  EXPECT_EQ(view.current_spot(), 0);
  const double whole = view.x_range().high - view.x_range().low;
  QTest::keyClick(&view, Qt::Key_Plus);
  EXPECT_TRUE(view.is_zoomed());
  EXPECT_NEAR(view.x_range().high - view.x_range().low, whole / 1.5, 1e-9);
  QTest::keyClick(&view, Qt::Key_Right, Qt::ShiftModifier);
  QTest::keyClick(&view, Qt::Key_Home);
  EXPECT_FALSE(view.is_zoomed());
  EXPECT_NEAR(view.x_range().high - view.x_range().low, whole, 1e-9);
}

TEST(Charts, ADragZoomsIntoItsBoxAndADoubleClickShowsAll) {
  ChartView view;
  show(view);
  view.set_figure(speedups());
  const QPoint from = view.spots()[3].anchor.toPoint() + QPoint(-40, -60);
  const QPoint to = view.spots()[3].anchor.toPoint() + QPoint(40, 60);
  QTest::mousePress(view.viewport(), Qt::LeftButton, {}, from);
  QTest::mouseMove(view.viewport(), to);
  QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, to);
  EXPECT_TRUE(view.is_zoomed());
  ASSERT_EQ(view.spots().size(), 1U) << "only the value in the box is left";
  QTest::mouseDClick(view.viewport(), Qt::LeftButton);
  EXPECT_FALSE(view.is_zoomed());
}

TEST(Charts, ExportsWhatIsShown) {
  const ScratchDirectory directory;
  FigureCard card;
  show(card);
  card.set_figure(speedups());
  click_legend(card, QStringLiteral("ideal"));
  for (const char* name : {"chart.png", "chart.svg", "chart.csv", "CHART.SVG"})
    card.export_to((directory / name).string());
  const QImage image(QString::fromStdString((directory / "chart.png").string()));
  EXPECT_EQ(image.size(), QSize(1920, 1200));
  EXPECT_NE(image.pixelColor(960, 600), QColor());
  const std::string svg = content_of(directory / "chart.svg");
  EXPECT_NE(svg.find("<svg"), std::string::npos);
  EXPECT_EQ(content_of(directory / "CHART.SVG"), svg);
  EXPECT_EQ(content_of(directory / "chart.csv"),
            "series,label,GPUs [1],speedup [1],low,high,level,method,provenance\n"
            "measured,,1,1,,,,,measured\n"
            "measured,,2,1.8,1.7,1.9,0.95,t,measured\n"
            "measured,,8,5.5,,,,,measured\n");
  EXPECT_THROW(card.export_to((directory / "chart.doc").string()), Error);
  EXPECT_THROW(card.export_to("/nowhere/chart.csv"), Error);
  card.copy();
  card.copy_data();
  EXPECT_EQ(QApplication::clipboard()->text().toStdString(), content_of(directory / "chart.csv"));
}

TEST(Charts, AnEmptyFigureSaysWhyAndScreenReadersGetIt) {
  FigureCard card;
  show(card);
  Figure figure;
  figure.title = "Nothing";
  figure.notes = {"no collectives were recorded"};
  card.set_figure(figure);
  EXPECT_TRUE(card.view().spots().empty());
  QTest::keyClick(&card.view(), Qt::Key_Right);
  EXPECT_EQ(card.view().current_spot(), -1);
  card.set_figure(speedups());
  EXPECT_EQ(card.view().accessibleName(), QStringLiteral("Speedup over GPUs"));
  EXPECT_FALSE(card.view().accessibleDescription().isEmpty());
}

}  // namespace
}  // namespace ddbench::gui
