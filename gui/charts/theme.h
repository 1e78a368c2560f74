#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QString>

#include "reports/chart/palette.h"

namespace ddbench::gui {

enum class ThemeChoice { kLight, kDark, kSystem };

/// Colours of the whole dashboard. Text on `surface` and `background` has a contrast of 4.5:1 or more.
struct Theme {
  bool dark = false;
  QColor background;  ///< behind the cards
  QColor surface;     ///< of cards, tables and the rail
  QColor raised;      ///< of fields, tooltips and hovered rows
  QColor border;
  QColor grid;
  QColor text;
  QColor muted;
  QColor accent;
  QColor accent_soft;  ///< background of selected items
  QColor good;
  QColor warning;
  QColor bad;

  QColor ink(const reports::Ink& ink) const;
};

const Theme& theme_of(bool dark);
/// The desktop's preference: whether its window colour is dark. Call set_theme afterwards: this resets the
/// palette.
bool system_is_dark();

/// Spacing in pixels, the same everywhere.
inline constexpr int kGap = 8;
inline constexpr int kGutter = 16;
inline constexpr int kPagePadding = 24;
inline constexpr int kScrollBarWidth = 10;

QFont base_font();
QFont font_of(double pixels, QFont::Weight weight = QFont::Normal);
QPalette palette_of(const Theme& theme);
QString style_sheet_of(const Theme& theme);

/// The theme that the application has now; pages repaint when set_theme changed it.
const Theme& theme();
void set_theme(bool dark);  ///< palette, style sheet and font of the QApplication

}  // namespace ddbench::gui
