#include "gui/charts/figure_card.h"

#include <QAction>
#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPrintDialog>
#include <QPrinter>
#include <QToolButton>
#include <algorithm>

#include "core/error.h"
#include "gui/charts/figure_csv.h"
#include "gui/charts/flow_layout.h"
#include "gui/charts/ink_shapes.h"
#include "gui/charts/save_dialog.h"
#include "gui/models/at_first.h"
#include "reports/chart/svg.h"
#include "reports/text/output_file.h"

namespace ddbench::gui {
namespace {

constexpr QSize kPictureSize(960, 600);
constexpr double kPictureScale = 2;
constexpr std::size_t kNotesAtFirst = 1;
constexpr qsizetype kNoteLength = 90;

QToolButton* small_button(const QString& text, const QString& name) {
  auto* button = new QToolButton;
  button->setText(text);
  button->setAccessibleName(name);
  button->setToolTip(name);
  button->setFocusPolicy(Qt::StrongFocus);
  return button;
}

constexpr const char* kMoreSeries = "more-series";

/// What a button of the legend is about, across legends of other series.
QString key_of(const QWidget& button) {
  return button.objectName() == QLatin1String(kMoreSeries) ? button.objectName() : button.accessibleName();
}

/// Of the button in this legend that has the focus of its window; empty if none has.
QString key_of_focus(const QWidget& legend) {
  const QWidget* focus = legend.window()->focusWidget();
  return focus != nullptr && legend.isAncestorOf(focus) ? key_of(*focus) : QString();
}

QString file_stem(const std::string& title) {
  QString stem;
  for (const QChar c : QString::fromStdString(title).toLower()) {
    stem += c.isLetterOrNumber() && c.unicode() < 128 ? c : QLatin1Char('-');
  }
  return stem;
}

}  // namespace

FigureCard::FigureCard(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("card"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(kGutter, 10, 10, 12);
  column->setSpacing(6);
  auto* head = new QHBoxLayout;
  title_ = new QLabel;
  title_->setObjectName(QStringLiteral("cardTitle"));
  title_->setTextFormat(Qt::PlainText);
  all_ = small_button(QStringLiteral("Show all"), QStringLiteral("Show all of the chart"));
  menu_ = small_button(QStringLiteral("Export ▾"), QStringLiteral("Export, copy or print this chart"));
  head->addWidget(title_, 1);
  head->addWidget(all_);
  head->addWidget(menu_);
  column->addLayout(head);
  legend_ = new QWidget;
  legend_->hide();
  column->addWidget(legend_);
  view_ = new ChartView;
  column->addWidget(view_, 1);
  notes_ = new QLabel;
  notes_->setObjectName(QStringLiteral("note"));
  notes_->setWordWrap(true);
  notes_->setTextFormat(Qt::RichText);
  column->addWidget(notes_);
  all_->hide();
  connect(all_, &QToolButton::clicked, this, [this] { view_->show_all(); });
  connect(notes_, &QLabel::linkActivated, this, [this] {
    all_notes_ = !all_notes_;
    show_notes();
  });
  view_->on_menu = [this](QPoint at, const std::optional<QString>& value) { show_menu(at, value); };
  view_->on_zoom = [this] { all_->setVisible(view_->is_zoomed()); };
  make_menu();
}

void FigureCard::make_menu() {
  auto* menu = new QMenu(this);
  menu_->setPopupMode(QToolButton::InstantPopup);
  menu_->setMenu(menu);
  add_exports(*menu);
}

void FigureCard::add_exports(QMenu& menu) {
  menu.addAction(QStringLiteral("Copy image"), this, [this] { copy(); });
  menu.addSeparator();
  for (const char* suffix : {"png", "svg", "csv"}) {
    const QString name = QString::fromLatin1(suffix);
    menu.addAction(QStringLiteral("Save as %1…").arg(name.toUpper()), this,
                   [this, name] { ask_and_export(name); });
  }
  menu.addSeparator();
  menu.addAction(QStringLiteral("Print…"), this, [this] { print(); });
}

void FigureCard::show_menu(QPoint at, const std::optional<QString>& value) {
  QMenu menu;
  const auto add = [&](const QString& text, bool enabled, auto act) {
    menu.addAction(text, this, act)->setEnabled(enabled);
  };
  const auto add_switch = [&](const QString& text, bool on, auto act) {
    QAction* action = menu.addAction(text, this, act);
    action->setCheckable(true);
    action->setChecked(on);
  };
  add(QStringLiteral("Copy value"), value.has_value(),
      [value] { QApplication::clipboard()->setText(value.value_or(QString())); });
  add(QStringLiteral("Copy data"), !view_->chart().empty(), [this] { copy_data(); });
  add(QStringLiteral("Show all"), view_->is_zoomed(), [this] { view_->show_all(); });
  menu.addSeparator();
  if (view_->can_switch_x()) {
    const bool on = view_->chart().log_x;
    add_switch(QStringLiteral("Logarithmic x axis"), on, [this, on] { view_->set_log_x(!on); });
  }
  if (view_->can_switch_y()) {
    const bool on = view_->chart().log_y;
    add_switch(QStringLiteral("Logarithmic y axis"), on, [this, on] { view_->set_log_y(!on); });
  }
  menu.addSeparator();
  add_exports(menu);
  menu.exec(at);
}

void FigureCard::copy_data() const {
  QApplication::clipboard()->setText(QString::fromStdString(figure_csv(view_->shown_figure())));
}

void FigureCard::set_figure(analyzer::Figure figure) {
  title_->setText(QString::fromStdString(figure.title));
  view_->set_figure(std::move(figure));
  const bool zooms = !view_->chart().empty() && view_->chart().bands.empty();
  view_->setStatusTip(zooms
                          ? QStringLiteral("Drag or wheel: zoom · double click: show all · right click: more")
                          : QStringLiteral("Right click: copy values or data, save"));
  make_legend();
  show_notes();
}

void FigureCard::make_legend() {
  const auto same = [](const reports::svg::LegendEntry& a, const reports::svg::LegendEntry& b) {
    return a.name == b.name && a.ink == b.ink && a.is_line == b.is_line && a.joined == b.joined;
  };
  // A refreshed figure keeps its buttons and their focus; new icons would fill Qt's cache of pixmaps (10 MB).
  const auto& wanted = view_->legend();
  if (std::equal(wanted.begin(), wanted.end(), drawn_legend_.begin(), drawn_legend_.end(), same)) return;
  drawn_legend_ = wanted;
  const QString focused = key_of_focus(*legend_);
  legend_->hide();  // a visible one would lay out the card, chart included, for each button
  delete legend_->layout();
  qDeleteAll(legend_->findChildren<QToolButton*>());
  auto* flow = new FlowLayout(2, 2);
  legend_->setLayout(flow);
  QList<QWidget*> more;
  for (const auto& entry : wanted) {
    const QString name = QString::fromStdString(entry.name);
    QToolButton* button = small_button(QString(name).replace(QLatin1Char('&'), QStringLiteral("&&")), name);
    button->setObjectName(QStringLiteral("legend"));
    button->setToolTip(QStringLiteral("<qt>Show or hide %1</qt>").arg(name.toHtmlEscaped()));
    button->setAccessibleName(QStringLiteral("Series %1").arg(name));
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setIconSize(QSize(18, 14));
    button->setCheckable(true);
    const bool shown = view_->hidden().count(entry.name) == 0;
    button->setChecked(shown);
    button->setIcon(QIcon(legend_swatch(entry, theme(), shown, 2)));
    connect(button, &QToolButton::toggled, this, [this, entry, button](bool on) {
      std::set<std::string> hidden = view_->hidden();
      on ? void(hidden.erase(entry.name)) : void(hidden.insert(entry.name));
      button->setIcon(QIcon(legend_swatch(entry, theme(), on, 2)));
      view_->set_hidden(std::move(hidden));
    });
    flow->addWidget(button);
    if (flow->count() > shown_at_first(static_cast<qsizetype>(wanted.size()))) more << button;
  }
  if (!more.isEmpty() && !(for_picture_ && all_series_)) flow->addWidget(switch_of(more));
  legend_->setVisible(!wanted.empty());
  if (focused.isEmpty()) return;
  QWidget* next = view_;
  for (QToolButton* button : legend_->findChildren<QToolButton*>()) {
    if (key_of(*button) == focused && !button->isHidden()) next = button;
  }
  next->setFocus();
}

QToolButton* FigureCard::switch_of(const QList<QWidget*>& more) {
  QToolButton* button = small_button({}, {});
  button->setObjectName(QString::fromLatin1(kMoreSeries));
  const auto show = [this, more, button] {
    for (QWidget* entry : more) entry->setVisible(all_series_);
    button->setText(all_series_ ? QStringLiteral("fewer series") : QStringLiteral("%1 more series").arg(more.size()));
    const QString acts = all_series_ ? QStringLiteral("Show fewer series in the legend")
                                     : QStringLiteral("Show %1 more series in the legend").arg(more.size());
    button->setAccessibleName(acts);
    button->setToolTip(acts);
  };
  connect(button, &QToolButton::clicked, this, [this, show] {
    all_series_ = !all_series_;
    show();
  });
  show();
  return button;
}

void FigureCard::show_notes() {
  std::vector<std::string> notes = reports::figure_notes(view_->figure());
  if (view_->nothing_to_draw() && !notes.empty())
    notes.erase(notes.begin());  // it is shown in place of the chart
  const std::size_t shown = all_notes_ ? notes.size() : std::min(notes.size(), kNotesAtFirst);
  QString text;
  bool cut = notes.size() > shown;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += QStringLiteral("<br>");
    QString note = QString::fromStdString(notes[i]);
    if (!all_notes_ && note.size() > kNoteLength) {
      note = note.left(kNoteLength - 1).trimmed() + QStringLiteral("…");
      cut = true;
    }
    text += note.toHtmlEscaped();
  }
  if (!for_picture_ && (cut || (all_notes_ && notes.size() > kNotesAtFirst))) {
    const QString link = all_notes_             ? QStringLiteral("fewer notes")
                         : notes.size() > shown ? QStringLiteral("%1 more note%2").arg(notes.size() - shown).arg(QLatin1String(notes.size() == shown + 1 ? "" : "s"))
                                                : QStringLiteral("all of it");
    text += QStringLiteral(" <a href=\"notes\" style=\"color:%1\">%2</a>").arg(theme().accent.name(), link);
  }
  notes_->setText(text);
  notes_->setVisible(!text.isEmpty());
}

void FigureCard::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) {
    // Deferred: the application is iterating over all widgets, and this recreates the legend's widgets.
    QMetaObject::invokeMethod(
        this,
        [this] {
          drawn_legend_.clear();
          make_legend();
          show_notes();
        },
        Qt::QueuedConnection);
  }
  QFrame::changeEvent(event);
}

QImage FigureCard::picture() const {
  FigureCard copy;
  copy.all_notes_ = true;
  copy.for_picture_ = true;
  copy.all_series_ = all_series_;
  copy.view_->set_hidden(view_->hidden());
  copy.set_figure(view_->figure());
  copy.view_->show_like(*view_);
  copy.menu_->hide();
  copy.all_->hide();
  copy.setAttribute(Qt::WA_DontShowOnScreen);
  copy.resize(kPictureSize);
  copy.show();
  QImage image(kPictureSize * kPictureScale, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(kPictureScale);
  image.fill(theme().surface);
  copy.render(&image);
  return image;
}

void FigureCard::copy() const {
  QApplication::clipboard()->setImage(picture());
}

void FigureCard::export_to(const std::string& file) const {
  const QString suffix = QFileInfo(QString::fromStdString(file)).suffix().toLower();
  std::string content;
  if (suffix == QLatin1String("svg")) {
    content = reports::figure_svg(view_->shown_figure());
  } else if (suffix == QLatin1String("csv")) {
    content = figure_csv(view_->shown_figure());
  } else if (suffix == QLatin1String("png")) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    if (!picture().save(&buffer, "PNG"))
      throw Error(ErrorCode::kRunFailed, "cannot make a PNG of the chart: is there enough memory?");
    content = bytes.toStdString();
  } else {
    throw Error(ErrorCode::kBadInput,
                "cannot export to " + file + ": its name must end in .png, .svg or .csv");
  }
  reports::OutputFile output(file);
  output.write(content);
  output.commit();
}

void FigureCard::ask_and_export(const QString& suffix) {
  save_by_dialog(this, QStringLiteral("chart"), file_stem(view_->figure().title) + QLatin1Char('.') + suffix, suffix,
                 [this](const std::string& file) { export_to(file); });
}

void FigureCard::print() {
  QPrinter printer(QPrinter::HighResolution);
  printer.setPageOrientation(QPageLayout::Landscape);
  QPrintDialog dialog(&printer, this);
  if (dialog.exec() != QDialog::Accepted) return;
  const QImage image = picture();
  QPainter painter(&printer);
  const QRect page = painter.viewport();
  const QSize size = image.size().scaled(page.size(), Qt::KeepAspectRatio);
  painter.drawImage(QRect(QPoint((page.width() - size.width()) / 2, 0), size), image);
}

}  // namespace ddbench::gui
