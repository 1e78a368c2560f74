#include "gui/window/status_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>

#include "gui/charts/theme.h"
#include "gui/models/tool_tip.h"

namespace ddbench::gui {
namespace {

QLabel* plain_label() {
  auto* label = new QLabel;
  label->setObjectName(QStringLiteral("statusText"));
  label->setTextFormat(Qt::PlainText);
  // A long text is cut rather than making the window wider.
  label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  return label;
}

}  // namespace

StatusBar::StatusBar(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("statusBar"));
  setFixedHeight(30);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(kPagePadding, 0, 12, 0);
  store_ = plain_label();
  hint_ = plain_label();
  hint_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  hint_->setText(QStringLiteral("F1: keys and gestures"));
  progress_ = new QProgressBar;
  progress_->setFixedWidth(140);
  progress_->setTextVisible(false);
  progress_->setAccessibleName(QStringLiteral("Progress of loading"));
  cancel_ = new QPushButton(QStringLiteral("Cancel"));
  cancel_->setStyleSheet(QStringLiteral("padding: 1px 10px; font-size: 12px;"));
  row->addWidget(store_, 1);
  row->addWidget(hint_, 1);
  row->addWidget(progress_);
  row->addWidget(cancel_);
  progress_->hide();
  cancel_->hide();
  connect(cancel_, &QPushButton::clicked, this, [this] {
    if (on_cancel) on_cancel();
  });
}

void StatusBar::show_store(const QString& text) {
  store_->setText(text);
  store_->setToolTip(tool_tip(text));
}

void StatusBar::show_hint(const QString& text) {
  hint_->setText(text.isEmpty() ? QStringLiteral("F1: keys and gestures") : text);
}

void StatusBar::show_activity(const JobActivity& activity) {
  const bool busy = activity.jobs > 0;
  progress_->setVisible(busy);
  cancel_->setVisible(busy);
  progress_->setRange(0, activity.total);
  progress_->setValue(activity.done);
}

}  // namespace ddbench::gui
