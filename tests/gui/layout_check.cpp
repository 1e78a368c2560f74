#include "layout_check.h"

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QStyleOptionComboBox>
#include <QTableView>
#include <QTextDocument>
#include <QTreeView>

#include "painted_texts.h"

namespace ddbench::gui {
namespace {

constexpr int kCellPadding = 8;  ///< of the style sheet, left and right

QString plain(const QString& text) {
  QTextDocument document;
  Qt::mightBeRichText(text) ? document.setHtml(text) : document.setPlainText(text);
  return document.toPlainText();
}

bool tip_has(const QString& tip, const QString& text) {
  return plain(tip).contains(plain(text).trimmed());
}

bool lies_within_its_parents(const QWidget& widget) {
  QRect area = widget.rect();
  const QWidget* inner = &widget;
  for (const QWidget* outer = widget.parentWidget(); outer != nullptr; inner = outer, outer = outer->parentWidget()) {
    if (qobject_cast<const QAbstractScrollArea*>(outer->parentWidget()) != nullptr) return true;  // it scrolls
    area = QRect(inner->mapToParent(area.topLeft()), area.size());
    if (!outer->rect().adjusted(-1, -1, 1, 1).contains(area)) return false;
    if (outer->isWindow()) return true;
  }
  return true;
}

void check_labels(const QWidget& window, QStringList& found) {
  for (const QLabel* label : window.findChildren<QLabel*>()) {
    if (!label->isVisible() || label->text().isEmpty()) continue;
    const bool wraps = label->wordWrap();
    const int height = wraps ? label->heightForWidth(label->width()) : label->sizeHint().height();
    const bool fits = (wraps || label->width() >= label->sizeHint().width()) && label->height() >= height;
    if (!fits && !tip_has(label->toolTip(), label->text())) found << QStringLiteral("label is cut: ") + plain(label->text());
    if (!lies_within_its_parents(*label)) found << QStringLiteral("label beyond its parent: ") + plain(label->text());
  }
}

void check_buttons(const QWidget& window, QStringList& found) {
  for (const QAbstractButton* button : window.findChildren<QAbstractButton*>()) {
    if (!button->isVisible() || button->text().isEmpty()) continue;
    const QSize least = button->minimumSizeHint();
    const bool fits = button->width() >= least.width() && button->height() >= least.height();
    if (!fits && !tip_has(button->toolTip(), button->text())) found << QStringLiteral("button is cut: ") + button->text();
    if (!lies_within_its_parents(*button)) found << QStringLiteral("button beyond its parent: ") + button->text();
  }
}

void check_fields(const QWidget& window, QStringList& found) {
  for (const QComboBox* box : window.findChildren<QComboBox*>()) {
    if (!box->isVisible()) continue;
    QStyleOptionComboBox option;
    option.initFrom(box);
    option.editable = box->isEditable();
    const int room = box->style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, box).width();
    const QString whole = box->currentData(Qt::ToolTipRole).isValid() ? box->currentData(Qt::ToolTipRole).toString() : box->currentText();
    const bool fits = whole == box->currentText() && box->fontMetrics().horizontalAdvance(whole) <= room;
    if (!fits && !tip_has(box->toolTip(), whole)) found << QStringLiteral("choice is cut: ") + box->currentText();
    if (!lies_within_its_parents(*box)) found << QStringLiteral("choice beyond its parent: ") + box->currentText();
  }
  for (const QLineEdit* field : window.findChildren<QLineEdit*>()) {
    if (!field->isVisible()) continue;
    for (const QString& text : {field->text(), field->placeholderText()}) {
      const int room = field->width() - 2 * 12 - (field->isClearButtonEnabled() && !field->text().isEmpty() ? 22 : 0);
      if (field->fontMetrics().horizontalAdvance(text) > room && !tip_has(field->toolTip(), text))
        found << QStringLiteral("field is too narrow for: ") + text;
    }
  }
}

void check_cells(const QAbstractItemView& view, const QHeaderView& header, QStringList& found) {
  const QAbstractItemModel& model = *view.model();
  QFont bold = header.font();
  bold.setBold(true);
  const QFontMetrics headings(bold);
  const QFontMetrics cells(view.font());
  for (int column = 0; column < model.columnCount(); ++column) {
    if (header.isSectionHidden(column)) continue;
    const int room = header.sectionSize(column) - 2 * kCellPadding;
    const QString title = model.headerData(column, Qt::Horizontal).toString();
    if (headings.horizontalAdvance(title) > room) found << QStringLiteral("heading is cut: ") + title;
    for (QModelIndex at = view.indexAt(QPoint(2, 2)); at.isValid(); at = at.siblingAtRow(at.row() + 1)) {
      const QModelIndex cell = at.siblingAtColumn(column);
      const QRect box = view.visualRect(cell);
      if (box.top() > view.viewport()->height()) break;
      const QString text = cell.data().toString();
      // A row that heads a group spans what follows it.
      if (cells.horizontalAdvance(text) <= room || model.hasChildren(cell.siblingAtColumn(0))) continue;
      const QVariant whole = cell.data(Qt::EditRole);
      if (!tip_has(cell.data(Qt::ToolTipRole).toString(), whole.isValid() ? whole.toString() : text))
        found << QStringLiteral("cell is cut, without a tip: ") + title + QStringLiteral(": ") + text;
    }
  }
}

void check_tables(const QWidget& window, QStringList& found) {
  for (const QTableView* table : window.findChildren<QTableView*>()) {
    if (table->isVisible() && table->model() != nullptr) check_cells(*table, *table->horizontalHeader(), found);
  }
  for (const QTreeView* tree : window.findChildren<QTreeView*>()) {
    if (tree->isVisible() && tree->model() != nullptr) check_cells(*tree, *tree->header(), found);
  }
}

/// Charts whose bars or lines have next to no room beside their labels, and texts in them that meet.
void check_charts(const QWidget& window, QStringList& found) {
  for (FigureCard* card : cards_of(window)) {
    ChartView& view = card->view();
    if (!card->isVisible()) continue;
    const QString title = QString::fromStdString(view.figure().title) + QStringLiteral(": ");
    const QRectF plot = view.QChartView::chart()->plotArea();
    if (!view.chart().empty() && (plot.height() < 60 || plot.width() < 120)) found << title + QStringLiteral("no room for its values");
    const auto texts = painted_texts(view.viewport()->size(), [&](QPainter& painter) {
      static_cast<QGraphicsView&>(view).render(&painter, QRectF(view.viewport()->rect()), view.viewport()->rect());
    });
    if (texts.empty()) found << title + QStringLiteral("no text at all");
    for (const QString& problem : misplaced(texts, view.viewport()->size())) found << title + problem;
  }
}

void check_siblings(const QWidget& window, QStringList& found) {
  const auto name = [](const QWidget& widget) {
    const QVariant text = widget.property("text");
    return QString::fromLatin1(widget.metaObject()->className()) + QLatin1Char(' ') + widget.objectName() + QLatin1Char(' ') +
           (text.isValid() ? text.toString() : widget.accessibleName());
  };
  auto parents = window.findChildren<const QWidget*>();
  parents.prepend(&window);
  for (const QWidget* parent : parents) {
    if (!parent->isVisible() || qobject_cast<const QAbstractScrollArea*>(parent) != nullptr) continue;
    const auto inner = parent->findChildren<QWidget*>(Qt::FindDirectChildrenOnly);
    for (qsizetype a = 0; a < inner.size(); ++a) {
      for (qsizetype b = a + 1; b < inner.size(); ++b) {
        const bool both = inner[a]->isVisible() && inner[b]->isVisible() && !inner[a]->isWindow() && !inner[b]->isWindow();
        if (both && inner[a]->geometry().intersects(inner[b]->geometry()))
          found << name(*inner[a]) + QStringLiteral(" lies on ") + name(*inner[b]);
      }
    }
  }
}

/// Pages that are wider than the window: their right edge is cut.
void check_width(const QWidget& window, QStringList& found) {
  for (const QScrollArea* area : window.findChildren<QScrollArea*>()) {
    if (area->isVisible() && area->widget() != nullptr && area->widget()->width() > area->viewport()->width())
      found << QStringLiteral("the page is wider than the window");
  }
}

}  // namespace

std::vector<FigureCard*> cards_of(const QWidget& window) {
  std::vector<FigureCard*> cards;
  for (QFrame* frame : window.findChildren<QFrame*>()) {
    if (auto* card = dynamic_cast<FigureCard*>(frame)) cards.push_back(card);
  }
  return cards;
}

QStringList layout_problems(const QWidget& window) {
  QStringList found;
  check_labels(window, found);
  check_buttons(window, found);
  check_fields(window, found);
  check_tables(window, found);
  check_charts(window, found);
  check_siblings(window, found);
  check_width(window, found);
  return found;
}

}  // namespace ddbench::gui
