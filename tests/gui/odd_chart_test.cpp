// Figures, sizes and orders of events that a chart is not made for.

#include <gtest/gtest.h>

#include <QApplication>
#include <QImage>
#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QTest>
#include <QTextDocument>
#include <QToolButton>
#include <QVBoxLayout>
#include <QtCharts/QAreaSeries>
#include <QtCharts/QCategoryAxis>
#include <QtCharts/QLineSeries>
#include <cmath>
#include <limits>

#include "gui/charts/figure_card.h"
#include "gui/charts/theme.h"

namespace ddbench::gui {
namespace {

using analyzer::Figure;
using analyzer::SeriesShape;

Figure times(double scale = 1) {
  Figure figure;
  figure.title = "Step time over GPUs";
  figure.x = {"GPUs", "1"};
  figure.y = {"step time", "ms"};
  figure.series = {{"a", SeriesShape::kLine, {}, {}}, {"b", SeriesShape::kLine, {}, {}}};
  for (const double at : {1, 2, 4, 8}) {
    figure.series[0].points.push_back({at, at * scale, {}, {}});
    figure.series[1].points.push_back({at, at * scale / 2, {}, {}});
  }
  return figure;
}

Figure bars(const std::vector<double>& values, const std::string& label, std::size_t parts = 1) {
  Figure figure;
  figure.title = "Bars";
  figure.y = {"mean step", "ms"};
  for (std::size_t part = 0; part < parts; ++part) {
    figure.series.push_back({"part " + std::to_string(part), SeriesShape::kStackedBars, {}, {}});
    for (std::size_t i = 0; i < values.size(); ++i) {
      figure.series.back().points.push_back(
          {static_cast<double>(i), values[i], {}, label + std::to_string(i)});
    }
  }
  return figure;
}

void open(QWidget& widget) {
  widget.resize(600, 400);
  widget.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&widget));
}

QChart& drawn(ChartView& view) {
  return *static_cast<QChartView&>(view).chart();
}

/// What a reader sees of a text that Qt Charts takes for HTML.
QString seen(const QString& html) {
  QTextDocument document;
  document.setHtml(html);
  return document.toPlainText();
}

QColor pixel(const QImage& image, QPointF at) {
  return image.pixelColor((at * image.devicePixelRatio()).toPoint());
}

int pixels_of(const QImage& image, QRect area, const QColor& color) {
  int found = 0;
  for (int x = area.left(); x <= area.right(); ++x) {
    for (int y = area.top(); y <= area.bottom(); ++y) found += image.pixelColor(x, y) == color;
  }
  return found;
}

/// Pixels that differ from the background.
int written(const QImage& image, QRect area) {
  area &= image.rect();
  return area.width() * area.height() - pixels_of(image, area, image.pixelColor(6, 6));
}

TEST(OddCharts, TextsAreShownAsTheyAre) {
  FigureCard card;
  open(card);
  Figure figure = bars({1, 2, 3, 4}, "<b>a</b> & b<");
  figure.title = "lr < <i>0.1</i>";
  figure.x.label = "a<b";
  figure.y.label = "rate <GB/s>";
  figure.series[0].name = "R&D";
  figure.series.push_back(figure.series[0]);
  figure.series[1].name = "<u>other</u>";
  card.set_figure(figure);
  auto& axis = static_cast<QCategoryAxis&>(*drawn(card.view()).axes(Qt::Horizontal).front());
  ASSERT_EQ(axis.categoriesLabels().size(), 4);
  EXPECT_EQ(seen(axis.categoriesLabels()[2]), QStringLiteral("<b>a</b> & b<2"));
  EXPECT_EQ(seen(axis.titleText()), QStringLiteral("a<b"));
  EXPECT_EQ(seen(drawn(card.view()).axes(Qt::Vertical).front()->titleText()),
            QStringLiteral("rate <GB/s> [ms]"));
  EXPECT_EQ(card.findChild<QLabel*>(QStringLiteral("cardTitle"))->textFormat(), Qt::PlainText);
  QStringList legend;
  for (auto* button : card.findChildren<QToolButton*>(QStringLiteral("legend"))) legend << button->text();
  EXPECT_EQ(legend, QStringList({QStringLiteral("R&&D"), QStringLiteral("<u>other</u>")}))
      << "one & is the key of a button";
}

TEST(OddCharts, TurnedLabelsEndAtTheirTicks) {
  ChartView view;
  open(view);
  view.clearFocus();
  Figure figure = bars(std::vector<double>(25, 1), "20261123T0238-run-");
  figure.series.push_back({"level", SeriesShape::kLine, figure.series[0].points, {}});  // no rows
  view.set_figure(figure);
  const QImage image = view.grab().toImage();
  const QRectF last = view.spots()[24].area;
  const QRect below(5, static_cast<int>(last.bottom()) + 14, image.width() - 10, 40);
  EXPECT_GT(written(image, below), 0);
  EXPECT_EQ(written(image, below.intersected(QRect(static_cast<int>(last.right()) + 12, 0, 40, 400))), 0);
}

TEST(OddCharts, EachRowHasItsLabel) {
  ChartView view;
  open(view);
  view.clearFocus();
  view.set_figure(bars(std::vector<double>(25, 1), "20261123T0238-run-"));
  const QImage image = view.grab().toImage();
  ASSERT_EQ(view.spots().size(), 25U);
  for (const ChartSpot& spot : view.spots()) {
    const QRect area = spot.area.toRect();
    const QRect left_of_it(10, area.top(), area.left() - 20, area.height());
    EXPECT_GT(written(image, left_of_it), 50) << spot.tip.toStdString();
  }
}

TEST(OddCharts, NothingIsCutAtTheEndsOfTheValueAxis) {
  ChartView view;
  open(view);
  Figure figure = times();
  figure.series[0].points = {{1, 100, {}, {}}, {8, 0, {}, {}}};
  figure.series.resize(1);
  view.set_figure(figure);
  QImage image = view.grab().toImage();
  const QColor ink = theme().ink(*view.chart().lines[0].ink);
  ASSERT_EQ(view.spots().size(), 2U);
  for (const ChartSpot& spot : view.spots()) {
    EXPECT_EQ(pixel(image, spot.anchor - QPointF(0, 2.5)), ink);
    EXPECT_EQ(pixel(image, spot.anchor + QPointF(0, 2.5)), ink);
  }
  view.set_figure(bars({5, 4, 3}, "n"));  // the value above the first bar
  image = view.grab().toImage();
  EXPECT_GT(pixels_of(image, QRect(0, 0, image.width(), 30), theme().text), 0);
  EXPECT_EQ(pixels_of(image, QRect(0, 0, image.width(), 1), theme().text), 0);
}

TEST(OddCharts, ThePictureShowsWhatIsSeen) {
  FigureCard card;
  open(card);
  card.set_figure(times());
  const QImage whole = card.picture();
  EXPECT_EQ(card.picture(), whole);
  card.view().set_log_y(true);
  const QImage logarithmic = card.picture();
  EXPECT_NE(logarithmic, whole);
  card.view().zoom(3);
  EXPECT_NE(card.picture(), logarithmic);
  card.view().show_all();
  card.view().set_log_y(false);
  EXPECT_EQ(card.picture(), whole);
}

TEST(OddCharts, ARefreshKeepsTheZoomWhileItShowsAValue) {
  ChartView view;
  open(view);
  view.set_figure(times());
  view.zoom(1.5);
  const AxisRange before = view.x_range();
  view.set_figure(times(1.01));
  EXPECT_TRUE(view.is_zoomed());
  EXPECT_DOUBLE_EQ(view.x_range().low, before.low);
  EXPECT_DOUBLE_EQ(view.x_range().high, before.high);
  set_theme(true);
  QApplication::processEvents();
  EXPECT_DOUBLE_EQ(view.x_range().low, before.low) << "the theme says nothing about the zoom";
  set_theme(false);
  view.set_figure(times(100));
  EXPECT_FALSE(view.is_zoomed()) << "none of its values would be seen";
  view.zoom(1.5);
  view.set_figure(times(10'000));
  EXPECT_FALSE(view.is_zoomed()) << "milliseconds are seconds now";
  view.zoom(1.5);
  Figure other = times(10'000);
  other.title = "Another one";
  view.set_figure(other);
  EXPECT_FALSE(view.is_zoomed());
}

TEST(OddCharts, AZoomEndsWhereHidingASeriesChangesTheUnit) {
  ChartView view;
  open(view);
  Figure figure = times();
  for (auto& point : figure.series[0].points) point.y *= 10'000;
  view.set_figure(figure);
  view.zoom(1.5);
  view.set_hidden({"a"});
  EXPECT_FALSE(view.is_zoomed());
  EXPECT_EQ(view.spots().size(), 4U);
}

TEST(OddCharts, AnEmptyFigureSaysWhyThoughSeriesAreHidden) {
  Figure empty = times();
  for (auto& series : empty.series) series.points.clear();
  empty.notes = {"no collectives were recorded"};
  ChartView plain;
  ChartView with_hidden;
  with_hidden.set_hidden({"a"});
  for (ChartView* view : {&plain, &with_hidden}) {
    open(*view);
    view->set_figure(empty);
    view->clearFocus();
  }
  EXPECT_EQ(with_hidden.grab().toImage(), plain.grab().toImage());
  FigureCard card;
  open(card);
  card.view().set_hidden({"a", "b"});
  Figure noted = times();
  noted.notes = {"a caveat"};
  card.set_figure(noted);
  EXPECT_TRUE(card.view().chart().empty());
  EXPECT_TRUE(card.findChild<QLabel*>(QStringLiteral("note"))->text().contains(QStringLiteral("a caveat")));
}

TEST(OddCharts, ASeriesThatIsAloneIsShownThoughItWasHidden) {
  ChartView view;
  open(view);
  view.set_figure(times());
  view.set_hidden({"b"});
  Figure alone = times();
  alone.series.erase(alone.series.begin());
  view.set_figure(alone);
  ASSERT_TRUE(view.legend().empty()) << "there is nothing to click";
  EXPECT_FALSE(view.chart().empty());
  view.set_figure(times());
  EXPECT_EQ(view.chart().lines.size(), 1U);
}

TEST(OddCharts, AScaleThatTheValuesDoNotAllowIsNotUsed) {
  ChartView view;
  open(view);
  view.set_figure(times());
  view.set_log_y(true);
  view.set_log_x(true);
  Figure with_zero = times();
  with_zero.series[0].points[0] = {0, 0, {}, {}};
  view.set_figure(with_zero);
  EXPECT_FALSE(view.chart().log_x);
  EXPECT_FALSE(view.chart().log_y);
  EXPECT_EQ(view.chart().left_out, 0U);
  view.set_figure(times());
  EXPECT_TRUE(view.chart().log_y);
  Figure named = times();
  named.x.logarithmic = true;
  for (auto& point : named.series[0].points) point.label = "SKU";
  view.set_figure(named);
  EXPECT_FALSE(view.can_switch_x()) << "a linear axis would make bands of named points";
  view.set_log_x(false);
  EXPECT_TRUE(view.chart().bands.empty());
}

TEST(OddCharts, ASwitchedScaleLeavesNoCrosshairBehind) {
  QWidget page;
  auto* row = new QVBoxLayout(&page);
  auto* first = new ChartView;
  auto* second = new ChartView;
  for (ChartView* view : {first, second}) {
    row->addWidget(view);
    view->set_figure(times());
  }
  open(page);
  QTest::mouseMove(first->viewport(), first->spots()[1].anchor.toPoint());
  ASSERT_TRUE(second->crosshair().has_value());
  first->set_log_x(true);
  EXPECT_FALSE(first->crosshair().has_value());
  EXPECT_FALSE(second->crosshair().has_value());
  delete first;
  QTest::mouseMove(second->viewport(), second->spots()[1].anchor.toPoint());
  EXPECT_TRUE(second->crosshair().has_value());
}

TEST(OddCharts, KeysThatAChartHasNoUseForScrollThePage) {
  QScrollArea page;
  auto* content = new QWidget;
  content->setFixedSize(500, 3000);
  auto* view = new ChartView(content);
  view->resize(500, 300);
  page.setWidget(content);
  open(page);
  view->set_figure(times());
  QTest::keyClick(view, Qt::Key_PageDown);
  EXPECT_GT(page.verticalScrollBar()->value(), 0);
}

TEST(OddCharts, ManyBarsAreDrawnInPieces) {
  ChartView view;
  open(view);
  const Figure figure = bars(std::vector<double>(512, 1), "rank ", 9);
  qsizetype series = 0;
  for (int time = 0; time < 3; ++time) {
    view.set_figure(figure);
    qsizetype corners = 0;
    for (QAbstractSeries* area : drawn(view).series()) {
      const qsizetype count = static_cast<QAreaSeries*>(area)->upperSeries()->count();
      EXPECT_LE(count, 4 * 16) << "the time to fill a path grows with the square of its edges";
      corners += count;
    }
    EXPECT_EQ(corners, 4 * 9 * 512);
    if (time == 0) series = drawn(view).series().size();
    EXPECT_EQ(drawn(view).series().size(), series) << "those of before are gone";
  }
  EXPECT_EQ(drawn(view).axes().size(), 2);
}

TEST(OddCharts, AnySizeAndAnyValueCanBeDrawn) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Figure wide = times();
  wide.x.logarithmic = wide.y.logarithmic = true;
  wide.series[0].points = {
      {1e-300, 1e-300, {}, {}}, {1e199, 1e199, {}, {}}, {nan, 1, {}, {}}, {1, inf, {}, {}}};
  ChartView view;
  open(view);
  for (const Figure& figure : {wide, times(), bars({-1, 0, nan, inf, 2}, ""), Figure{}, times()}) {
    for (const QSize size : {QSize(60, 40), QSize(1, 1), QSize(3000, 20), QSize(600, 400)}) {
      view.resize(size);
      view.set_figure(figure);
      for (int i = 0; i < 30; ++i) {
        view.zoom(2);
        QTest::keyClick(&view, i % 2 != 0 ? Qt::Key_Left : Qt::Key_Up, Qt::ShiftModifier);
      }
      EXPECT_TRUE(std::isfinite(view.x_range().low) && std::isfinite(view.x_range().high));
      view.grab();
      view.show_all();
      EXPECT_FALSE(view.is_zoomed());
    }
  }
}

}  // namespace
}  // namespace ddbench::gui
