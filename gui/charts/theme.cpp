#include "gui/charts/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QStyleFactory>
#include <QStyleHints>

namespace ddbench::gui {
namespace {

Theme light_theme() {
  Theme t;
  t.background = QColor(0xf4f6f9);
  t.surface = QColor(0xffffff);
  t.raised = QColor(0xf0f3f7);
  t.border = QColor(0xdde3ea);
  t.grid = QColor(0xe7ebf0);
  t.text = QColor(0x17202c);
  t.muted = QColor(0x5a6675);
  t.accent = QColor(0x0b66b0);
  t.accent_soft = QColor(0xe3eef8);
  t.good = QColor(0x00714f);
  t.warning = QColor(0x8a5a00);
  t.bad = QColor(0xb3261e);
  return t;
}

Theme dark_theme() {
  Theme t;
  t.dark = true;
  t.background = QColor(0x101317);
  t.surface = QColor(0x181c22);
  t.raised = QColor(0x222831);
  t.border = QColor(0x2d343f);
  t.grid = QColor(0x272d36);
  t.text = QColor(0xe9edf3);
  t.muted = QColor(0x9da8b7);
  t.accent = QColor(0x5aa9e6);
  t.accent_soft = QColor(0x1d3348);
  t.good = QColor(0x3cc99a);
  t.warning = QColor(0xffc24d);
  t.bad = QColor(0xff8a80);
  return t;
}

bool dark_now = false;

/// %name% in the sheet is a colour of the theme.
constexpr const char* kSheet = R"(
* { outline: none; }
QWidget { color: %text%; }
QMainWindow, #page, #pageBody, QStackedWidget, QScrollArea, #scrollBody { background: %background%; border: none; }
#rail { background: %surface%; border: none; border-right: 1px solid %border%; }
#brand { font-size: 17px; font-weight: 700; color: %text%; padding: 0 4px; }
QPushButton#railButton { text-align: left; padding: 9px 12px; border: 2px solid transparent; border-radius: 8px; font-size: 13px;
  color: %muted%; background: transparent; font-weight: 500; }
QPushButton#railButton:hover { background: %raised%; color: %text%; }
QPushButton#railButton:checked { background: %accent_soft%; color: %accent%; font-weight: 600; }
QPushButton#railButton:focus { border-color: %accent%; }
#pageTitle { font-size: 21px; font-weight: 700; }
#pageSubtitle, #muted, #note { color: %muted%; font-size: 12px; }
#card { background: %surface%; border: 1px solid %border%; border-radius: 10px; }
#cardTitle { font-size: 14px; font-weight: 600; }
#statLabel { color: %muted%; font-size: 12px; font-weight: 500; }
#statValue { font-size: 20px; font-weight: 700; }
#statDetail { color: %muted%; font-size: 12px; }
#emptyTitle { font-size: 18px; font-weight: 700; }
#emptyText { color: %muted%; font-size: 13px; }
#command { font-family: "DejaVu Sans Mono", monospace; font-size: 12px; background: %raised%; border: 1px solid %border%;
  border-radius: 6px; padding: 8px 12px; color: %text%; }
#badge { border-radius: 9px; padding: 1px 8px; font-size: 11px; font-weight: 600; background: %raised%; color: %muted%; }
#pass { border-radius: 9px; padding: 2px 10px; font-weight: 700; background: %raised%; color: %good%; }
#fail { border-radius: 9px; padding: 2px 10px; font-weight: 700; background: %raised%; color: %bad%; }
#undecided { border-radius: 9px; padding: 2px 10px; font-weight: 700; background: %raised%; color: %warning%; }
#errorBar { background: %raised%; border: 1px solid %border%; border-left: 4px solid %bad%; border-radius: 6px; }
#statusBar { background: %surface%; border-top: 1px solid %border%; }
#statusText { color: %muted%; font-size: 12px; }
QLineEdit, QComboBox, QSpinBox { background: %surface%; border: 1px solid %border%; border-radius: 6px;
  padding: 5px 9px; min-height: 19px; selection-background-color: %accent%; selection-color: %surface%; }
QLineEdit:focus, QComboBox:focus, QSpinBox:focus { border: 1px solid %accent%; }
QComboBox:hover, QLineEdit:hover { border-color: %muted%; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow { image: none; width: 0; height: 0; border-left: 4px solid %surface%; border-right: 4px solid %surface%;
  border-top: 5px solid %muted%; margin-right: 9px; }
QComboBox QAbstractItemView { background: %surface%; border: 1px solid %border%; selection-background-color: %accent_soft%;
  selection-color: %text%; padding: 4px; }
QPushButton { background: %surface%; border: 1px solid %border%; border-radius: 6px; padding: 6px 14px; font-weight: 500; }
QPushButton:hover { background: %raised%; }
QPushButton:focus { border-color: %accent%; }
QPushButton:disabled { color: %muted%; }
QPushButton#primary { background: %accent%; border-color: %accent%; color: %surface%; font-weight: 600; }
QPushButton#primary:focus { border: 2px solid %text%; padding: 5px 13px; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 4px 8px; color: %muted%; }
QToolButton:hover { background: %raised%; color: %text%; }
QToolButton:focus { border-color: %accent%; }
QToolButton:disabled { color: %border%; }
QToolButton::menu-indicator { image: none; width: 0; }
QToolButton#legend { color: %text%; font-size: 12px; padding: 2px 7px; }
QToolButton#legend:!checked { color: %muted%; }
QToolButton#more-series { color: %accent%; font-size: 12px; padding: 2px 7px; }
QToolButton#segment { border: 1px solid %border%; border-radius: 6px; padding: 5px 11px; background: %surface%; }
QToolButton#segment:checked { background: %accent_soft%; color: %accent%; border-color: %accent%; font-weight: 600; }
QTreeView, QTableView { background: %surface%; alternate-background-color: %surface%; border: none; gridline-color: %grid%;
  selection-background-color: %accent_soft%; selection-color: %text%; font-size: 12px; }
QTreeView::item, QTableView::item { padding: 4px 8px; border-bottom: 1px solid %grid%; }
QTreeView::item:hover, QTableView::item:hover { background: %raised%; }
QTreeView::item:selected, QTableView::item:selected { background: %accent_soft%; color: %text%; }
QHeaderView, QHeaderView::section { background: %surface%; color: %muted%; font-size: 12px; font-weight: 600; border: none; }
QHeaderView::section { border-bottom: 1px solid %border%; padding: 7px 8px; }
QHeaderView::section:hover { color: %text%; }
QHeaderView::up-arrow, QHeaderView::down-arrow { width: 0; height: 0; }
QTableCornerButton::section { background: %surface%; border: none; }
QMenu { background: %surface%; border: 1px solid %border%; border-radius: 8px; padding: 6px; }
QMenu::item { padding: 6px 20px 6px 12px; border-radius: 5px; }
QMenu::item:selected { background: %accent_soft%; }
QMenu::separator { height: 1px; background: %border%; margin: 5px 6px; }
QToolTip { background: %raised%; color: %text%; border: 1px solid %border%; padding: 5px; }
QProgressBar { background: %raised%; border: none; border-radius: 3px; max-height: 6px; min-height: 6px; }
QProgressBar::chunk { background: %accent%; border-radius: 3px; }
QScrollBar:vertical { background: transparent; width: %scroll_bar%px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: %scroll_bar%px; margin: 0; }
QScrollBar::handle { background: %border%; border-radius: 4px; min-height: 30px; min-width: 30px; margin: 1px; }
QScrollBar::handle:hover { background: %muted%; }
QScrollBar::handle:disabled { background: transparent; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QSplitter::handle { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QSlider::groove:horizontal { height: 4px; background: %border%; border-radius: 2px; }
QSlider::sub-page:horizontal { background: %accent%; border-radius: 2px; }
QSlider::handle:horizontal { width: 14px; margin: -5px 0; border-radius: 7px; background: %accent%; }
QSlider::handle:horizontal:focus { background: %text%; }
QCheckBox { spacing: 7px; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid %muted%; border-radius: 4px; background: %surface%; }
QCheckBox::indicator:checked { background: %accent%; border-color: %accent%; }
QCheckBox::indicator:focus { border: 2px solid %accent%; }
#plain { border: none; background: transparent; }
)";

}  // namespace

QColor Theme::ink(const reports::Ink& ink) const {
  const std::string_view hex = dark ? ink.dark : ink.light;
  return QColor(QString::fromUtf8(hex.data(), static_cast<qsizetype>(hex.size())));
}

const Theme& theme_of(bool dark) {
  static const Theme kLight = light_theme();
  static const Theme kDark = dark_theme();
  return dark ? kDark : kLight;
}

bool system_is_dark() {
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
  const Qt::ColorScheme scheme = QGuiApplication::styleHints()->colorScheme();
  if (scheme != Qt::ColorScheme::Unknown) return scheme == Qt::ColorScheme::Dark;
#endif
  QApplication::setPalette(QPalette());  // the desktop's own, not the one that set_theme gave
  return QApplication::palette().color(QPalette::Window).lightness() < 128;
}

QFont base_font() {
  static const QString kFamily = [] {
    const QStringList known = QFontDatabase::families();
    for (const char* wanted : {"Inter", "Segoe UI", "Noto Sans", "Cantarell", "Ubuntu", "Open Sans"}) {
      if (known.contains(QLatin1String(wanted))) return QString::fromLatin1(wanted);
    }
    return QFontDatabase::systemFont(QFontDatabase::GeneralFont).family();
  }();
  QFont font(kFamily);
  font.setPixelSize(13);
  return font;
}

QFont font_of(double pixels, QFont::Weight weight) {
  QFont font = base_font();
  font.setPixelSize(static_cast<int>(pixels));
  font.setWeight(weight);
  return font;
}

QPalette palette_of(const Theme& t) {
  QPalette palette;
  palette.setColor(QPalette::Window, t.background);
  palette.setColor(QPalette::WindowText, t.text);
  palette.setColor(QPalette::Base, t.surface);
  palette.setColor(QPalette::AlternateBase, t.raised);
  palette.setColor(QPalette::Text, t.text);
  palette.setColor(QPalette::Button, t.surface);
  palette.setColor(QPalette::ButtonText, t.text);
  palette.setColor(QPalette::Highlight, t.accent_soft);
  palette.setColor(QPalette::HighlightedText, t.text);
  palette.setColor(QPalette::PlaceholderText, t.muted);
  palette.setColor(QPalette::ToolTipBase, t.raised);
  palette.setColor(QPalette::ToolTipText, t.text);
  palette.setColor(QPalette::Link, t.accent);
  return palette;
}

QString style_sheet_of(const Theme& t) {
  QString sheet = QString::fromUtf8(kSheet);
  const std::pair<const char*, QColor> kColors[] = {{"background", t.background},
                                                    {"surface", t.surface},
                                                    {"raised", t.raised},
                                                    {"border", t.border},
                                                    {"grid", t.grid},
                                                    {"text", t.text},
                                                    {"muted", t.muted},
                                                    {"accent", t.accent},
                                                    {"accent_soft", t.accent_soft},
                                                    {"good", t.good},
                                                    {"warning", t.warning},
                                                    {"bad", t.bad}};
  for (const auto& [name, color] : kColors) {
    sheet.replace(QLatin1Char('%') + QLatin1String(name) + QLatin1Char('%'), color.name());
  }
  sheet.replace(QLatin1String("%scroll_bar%"), QString::number(kScrollBarWidth));
  return sheet;
}

const Theme& theme() {
  return theme_of(dark_now);
}

void set_theme(bool dark) {
  dark_now = dark;
  // Only without a style sheet: with one, the style is the sheet's wrapper, which must not be replaced.
  if (qApp->styleSheet().isEmpty()) QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  QApplication::setFont(base_font());
  QApplication::setPalette(palette_of(theme()));
  // The same sheet again would style every widget again.
  if (const QString sheet = style_sheet_of(theme()); sheet != qApp->styleSheet()) qApp->setStyleSheet(sheet);
}

}  // namespace ddbench::gui
