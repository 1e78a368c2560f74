// What a reader would call broken in how pages look: cut, clipped or overlapping texts, and charts without room.

#include <gtest/gtest.h>

#include <QApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <algorithm>
#include <cmath>

#include "gui/charts/theme.h"
#include "gui/window/all_pages.h"
#include "gui_window.h"
#include "layout_check.h"
#include "painted_texts.h"
#include "sample_store.h"

namespace ddbench::gui {
namespace {

void expect_readable(const std::filesystem::path& store) {
  qApp->setStyleSheet({});  // as for the first window of a process
  QApplication::setFont(QFont(QStringLiteral("Sans Serif"), 9));
  MainWindow window({store, nullptr});
  window.show();
  settle(window);
  for (const QSize size : {QSize(1280, 800), QSize(2560, 1440)}) {
    window.resize(size);
    for (int i = 0; i < kPageCount; ++i) {
      const auto page = static_cast<PageId>(i);
      window.open_page(page);
      settle(window);
      EXPECT_EQ(layout_problems(window).join(QLatin1Char('\n')).toStdString(), "")
          << page_title(page).toStdString() << ", " << size.width() << " pixels";
    }
  }
}

/// Of WCAG 2: from 1 (the same colour) to 21.
double contrast(const QColor& a, const QColor& b) {
  const auto luminance = [](const QColor& color) {
    const auto linear = [](double part) { return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
  };
  const auto [darker, lighter] = std::minmax({luminance(a), luminance(b)});
  return (lighter + 0.05) / (darker + 0.05);
}

// A theme is colours only: places and sizes are the same in both, so that they are checked in one.
TEST(Layout, TextsStandOutFromWhatIsBehindThemInBothThemes) {
  for (const bool dark : {false, true}) {
    const Theme& t = theme_of(dark);
    for (const QColor& behind : {t.background, t.surface, t.raised, t.accent_soft}) {
      for (const QColor& text : {t.text, t.muted, t.accent, t.good, t.warning, t.bad})
        EXPECT_GE(contrast(text, behind), 4.5) << text.name().toStdString() << " on " << behind.name().toStdString();
    }
    EXPECT_GE(contrast(t.surface, t.accent), 4.5) << "the main button, and selected letters";
  }
}

TEST(Layout, OfTheExampleStoreIsReadableInBothSizes) {
  const ScratchDirectory directory;  // a reader of a store leaves files beside it
  std::filesystem::copy_file(DDBENCH_DEMO_STORE, directory / "demo.db");
  expect_readable(directory / "demo.db");
}

TEST(Layout, OfSweepsOverLinksIsReadable) {
  expect_readable(sample_store_file());
}

TEST(Layout, OfOneSmallRunIsReadable) {
  const ScratchDirectory directory;
  {
    auto store = store::RunStore::open(directory / "one.db", store::OpenMode::kReadWrite);
    test::SampleRun run;
    run.run_case.steps = 5;
    test::add_sample_run(store, run);
  }
  expect_readable(directory / "one.db");
}

TEST(Layout, WithoutRunsIsReadable) {
  const ScratchDirectory directory;
  MainWindow window({directory / "none.db", nullptr});
  window.show();
  settle(window);
  EXPECT_EQ(layout_problems(window).join(QLatin1Char('\n')).toStdString(), "");
}

// The checks themselves find what they look for.

TEST(LayoutChecks, FindCutTextsButNotThoseWithATip) {
  QWidget window;
  auto* row = new QHBoxLayout(&window);
  auto* label = new QLabel(QStringLiteral("a text of some length"));
  auto* button = new QPushButton(QStringLiteral("Another text of some length"));
  for (QWidget* widget : {static_cast<QWidget*>(label), static_cast<QWidget*>(button)}) {
    widget->setFixedWidth(40);
    row->addWidget(widget);
  }
  window.show();
  EXPECT_EQ(layout_problems(window).size(), 2);
  label->setToolTip(QStringLiteral("here is a text of some length"));
  button->setToolTip(QStringLiteral("Other words"));
  EXPECT_EQ(layout_problems(window).join(QString()), QStringLiteral("button is cut: Another text of some length"));
}

TEST(LayoutChecks, FindWidgetsOnEachOther) {
  QWidget window;
  window.resize(300, 100);
  for (const int x : {10, 30}) (new QLabel(QStringLiteral("text"), &window))->setGeometry(x, 10, 60, 30);
  window.show();
  EXPECT_EQ(layout_problems(window).size(), 1);
}

TEST(LayoutChecks, FindPaintedTextsOnEachOtherAndBeyondTheEdge) {
  const auto problems = [](QPointF first, QPointF second, double turned) {
    const QSize size(400, 100);
    return misplaced(painted_texts(size, [&](QPainter& painter) {
                       painter.setFont(font_of(12));
                       painter.drawText(first, QStringLiteral("first text"));
                       painter.translate(second);
                       painter.rotate(turned);
                       painter.drawText(QPointF(), QStringLiteral("second text"));
                     }), size).size();
  };
  EXPECT_EQ(problems({10, 50}, {150, 50}, 0), 0);
  EXPECT_EQ(problems({10, 50}, {40, 52}, 0), 1);
  EXPECT_EQ(problems({10, 50}, {380, 50}, 0), 1);
  EXPECT_EQ(problems({10, 50}, {10, 80}, -45), 1) << "a turned text crosses the other";
  EXPECT_EQ(problems({10, 20}, {100, 95}, -45), 0) << "its box is turned with it";
}

}  // namespace
}  // namespace ddbench::gui
