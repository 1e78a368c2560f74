#include "gui/tables/table_card.h"

#include <QLabel>
#include <QVBoxLayout>

namespace ddbench::gui {

TableCard::TableCard(const QString& title, QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("card"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(14, 10, 12, 10);
  column->setSpacing(4);
  title_ = new QLabel(title);
  title_->setObjectName(QStringLiteral("cardTitle"));
  title_->setTextFormat(Qt::PlainText);
  words_ = new QLabel;
  words_->setObjectName(QStringLiteral("note"));
  words_->setTextFormat(Qt::PlainText);
  words_->setWordWrap(true);
  words_->hide();
  table_ = new TableView(title);
  table_->on_fit = [this] { show_words(); };
  column->addWidget(title_);
  column->addWidget(words_);
  column->addWidget(table_, 1);
  spare_ = new QWidget;
  spare_->hide();
  column->addWidget(spare_, 1);
}

void TableCard::set_title(const QString& title) {
  title_->setText(title);
  table_->setAccessibleName(title);
}

void TableCard::set_table(reports::DataTable table) {
  table_->setVisible(!table.rows.empty());
  spare_->setVisible(table.rows.empty());
  table_->set_table(std::move(table));
}

void TableCard::set_words(const QString& words) {
  text_ = words;
  show_words();
}

void TableCard::show_words() {
  QStringList parts{text_, table_->legend()};
  parts.removeAll(QString());
  words_->setText(parts.join(QStringLiteral(" · ")));
  words_->setVisible(!parts.isEmpty());
}

}  // namespace ddbench::gui
