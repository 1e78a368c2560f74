#include "gui/workspace/page.h"

#include <QComboBox>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QStackedLayout>
#include <QVBoxLayout>

#include "gui/charts/figure_card.h"
#include "gui/charts/flow_layout.h"
#include "gui/charts/theme.h"
#include "gui/models/run_columns.h"
#include "gui/models/tool_tip.h"
#include "gui/tables/table_card.h"
#include "gui/workspace/field_box.h"

namespace ddbench::gui {
namespace {

constexpr int kBoxFrame = 44;  ///< padding and arrow of a combo box

QStringList data_of(const Subject& subject) {
  return {QString::number(static_cast<int>(subject.kind)), QString::fromStdString(subject.sweep_id)};
}

Subject subject_from(const QStringList& data) {
  return {static_cast<Subject::Kind>(data.at(0).toInt()), data.at(1).toStdString()};
}

/// Newest first.
std::vector<BoxItem> run_items(const Entries& runs) {
  std::vector<BoxItem> items;
  for (auto entry = runs.rbegin(); entry != runs.rend(); ++entry) {
    const store::RunRecord& run = (*entry)->run();
    QString text = size_text(run) + QStringLiteral(" · ") + QString::fromStdString(work_name(run.run_case.work));
    if (!run.run_case.link.empty()) text += QStringLiteral(" · ") + QString::fromStdString(run.run_case.link);
    text += QStringLiteral(" · ") + short_date_text(run.started_wall_ns);
    items.push_back({text, QString::fromStdString(run.id), {}});
  }
  return items;
}

QLabel* label(const char* name, const QString& text = {}) {
  auto* made = new QLabel(text);
  made->setObjectName(QString::fromLatin1(name));
  made->setTextFormat(Qt::PlainText);
  return made;
}

}  // namespace

Page::Page(Workspace& workspace, const QString& title, const QString& about) : workspace_(workspace) {
  setObjectName(QStringLiteral("page"));
  setAccessibleName(title);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(kPagePadding, 18, kPagePadding - kScrollBarWidth, 14);
  column->setSpacing(12);
  make_head(title, about);
  error_ = new QFrame;
  error_->setObjectName(QStringLiteral("errorBar"));
  auto* error_row = new QHBoxLayout(error_);
  error_label_ = new QLabel;
  error_label_->setWordWrap(true);
  error_label_->setTextFormat(Qt::PlainText);
  error_label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* again = new QPushButton(QStringLiteral("Try again"));
  connect(again, &QPushButton::clicked, this, [this] { reload(); });
  error_row->addWidget(error_label_, 1);
  error_row->addWidget(again);
  error_->hide();
  auto* error_line = new QHBoxLayout;
  error_line->setContentsMargins(0, 0, kScrollBarWidth, 0);
  error_line->addWidget(error_);
  column->addLayout(error_line);
  auto* holder = new QWidget;
  stack_ = new QStackedLayout(holder);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  // Its room is in the padding, always: a bar that took width from the cards could make their notes wrap, and only so be needed.
  scroll->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  QScrollBar* bar = scroll->verticalScrollBar();
  bar->setEnabled(false);
  connect(bar, &QScrollBar::rangeChanged, bar, [bar](int least, int most) { bar->setEnabled(most > least); });
  auto* inner = new QWidget;
  inner->setObjectName(QStringLiteral("scrollBody"));
  body_ = new QVBoxLayout(inner);
  body_->setContentsMargins(0, 0, 0, 0);
  body_->setSpacing(14);
  scroll->setWidget(inner);
  stack_->addWidget(scroll);
  make_message();
  column->addWidget(holder, 1);
}

void Page::make_head(const QString& title, const QString& about) {
  auto* words = new QVBoxLayout;
  words->setSpacing(1);
  words->addWidget(label("pageTitle", title));
  words->addWidget(label("pageSubtitle", about));
  controls_ = new QWidget;
  controls_->setLayout(new FlowLayout(kGap, kGap));
  controls_->hide();
  auto* column = static_cast<QVBoxLayout*>(layout());
  column->addLayout(words);
  auto* controls_line = new QHBoxLayout;
  controls_line->setContentsMargins(0, 0, kScrollBarWidth, 0);
  controls_line->addWidget(controls_);
  column->addLayout(controls_line);
}

void Page::add_control(QWidget* control) {
  controls_->layout()->addWidget(control);
  controls_->show();
}

void Page::make_message() {
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->addStretch(2);
  message_title_ = label("emptyTitle");
  message_text_ = label("emptyText");
  message_text_->setWordWrap(true);
  message_text_->setAlignment(Qt::AlignHCenter);
  message_text_->setFixedWidth(620);
  message_command_ = label("command");
  message_command_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  for (QLabel* each : {message_title_, message_text_, message_command_}) {
    auto* row = new QHBoxLayout;
    row->addStretch(1);
    row->addWidget(each);
    row->addStretch(1);
    column->addLayout(row);
    column->addSpacing(8);
  }
  column->addStretch(3);
  stack_->addWidget(page);
}

void Page::show_message(const QString& title, const QString& text, const QString& command) {
  message_title_->setText(title);
  message_text_->setText(text);
  message_command_->setText(command);
  message_command_->setVisible(!command.isEmpty());
  message_slot_ = delivering_;
  stack_->setCurrentIndex(1);
}

void Page::show_body() {
  message_slot_.clear();
  stack_->setCurrentIndex(0);
}

void Page::deliver(const std::string& slot, const std::function<void()>& show) {
  errors_.erase(slot);
  show_errors();
  if (message_slot_.empty() || message_slot_ == slot) show_body();
  delivering_ = slot;
  show();
  delivering_.clear();
}

void Page::stop(const std::string& slot) {
  workspace_.jobs.cancel(this, slot);
  errors_.erase(slot);
  show_errors();
}

QString Page::error_text() const {
  return error_->isHidden() ? QString() : error_label_->text();
}

void Page::show_failure(const std::string& slot, const JobFailure& failure) {
  errors_[slot] = failure.message;
  show_errors();
}

void Page::show_errors() {
  QStringList lines;
  for (const auto& [slot, message] : errors_) lines << message;
  error_label_->setText(lines.join(QLatin1Char('\n')));
  error_->setVisible(!lines.isEmpty());
}

void Page::refresh() {
  if (!isVisible()) return;
  subject_ = workspace_.subject_for([this](const Entries& runs) { return suits(runs); });
  fill_boxes();
  std::string now = key();
  if (loaded_ && now == loaded_key_) return;
  loaded_key_ = std::move(now);
  loaded_ = true;
  errors_.clear();
  show_errors();
  cancel_outdated();  // load() need not start every slot again
  load();
}

void Page::unload(const QString& title, const QString& text) {
  workspace_.jobs.cancel(this);
  errors_.clear();
  show_errors();
  if (std::exchange(loaded_, false)) clear_cards();
  run_box_key_.reset();
  show_message(title, text);
}

/// So that the first slot to deliver does not bring back what the others showed.
void Page::clear_cards() {
  for (QFrame* frame : findChildren<QFrame*>()) {  // cards have no meta object of their own
    if (auto* figure = dynamic_cast<FigureCard*>(frame)) figure->set_figure({});
    if (auto* table = dynamic_cast<TableCard*>(frame)) {
      table->set_words({});
      table->set_table({});
    }
  }
}

std::string Page::run_key() const {
  const RunEntry* run = current_run();
  return workspace_.key_of(subject_) + (run == nullptr ? std::string() : "|" + run->run().id);
}

void Page::reload() {
  loaded_ = false;
  refresh();
}

void Page::showEvent(QShowEvent*) {
  refresh();
}

void Page::add_subject_box() {
  subject_box_ = new QComboBox;
  subject_box_->setAccessibleName(QStringLiteral("Runs that this page is about"));
  subject_box_->setMaximumWidth(460);
  subject_box_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  add_control(subject_box_);
  connect(subject_box_, &QComboBox::activated, this, [this](int index) {
    workspace_.choose_subject(subject_from(subject_box_->itemData(index).toStringList()));
  });
}

void Page::fill_subject_box() {
  std::vector<BoxItem> items;
  const auto add = [&](const QString& text, const Subject& choice) {
    const int room = subject_box_->maximumWidth() - kBoxFrame;
    items.push_back({subject_box_->fontMetrics().elidedText(text, Qt::ElideMiddle, room), data_of(choice), tool_tip(text)});
  };
  for (const SweepChoice& sweep : workspace_.index.sweeps()) {
    add(QStringLiteral("Sweep ") + sweep.label, {Subject::Kind::kSweep, sweep.id});
  }
  if (!workspace_.selection.empty()) {
    add(QStringLiteral("Selected runs (%1)").arg(workspace_.selection.size()),
        {Subject::Kind::kSelection, {}});
  }
  add(QStringLiteral("All runs (%1)").arg(workspace_.runs->size()), {Subject::Kind::kAll, {}});
  offer_items(*subject_box_, items, data_of(subject_));
  subject_box_->setToolTip(subject_box_->currentData(Qt::ToolTipRole).toString());
}

void Page::add_run_box() {
  run_box_ = new QComboBox;
  run_box_->setAccessibleName(QStringLiteral("Run that this page shows"));
  run_box_->setMaximumWidth(400);
  run_box_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  add_control(run_box_);
  connect(run_box_, &QComboBox::activated, this, [this](int index) {
    const Subject shown = subject_;  // before the run is another
    workspace_.choose_run(run_box_->itemData(index).toString().toStdString(), shown);
  });
}

void Page::fill_run_box() {
  const RunEntry* current = current_run();
  const QString chosen = current == nullptr ? QString() : QString::fromStdString(current->run().id);
  std::string now = workspace_.key_of(subject_);
  if (run_box_key_ == now) {  // thousands of runs need not be put into words again
    select_item(*run_box_, chosen);
  } else {
    run_box_key_ = std::move(now);
    offer_items(*run_box_, run_items(workspace_.runs_of(subject_)), chosen);
  }
  run_box_->setToolTip(tool_tip(run_box_->currentText()));
}

void Page::fill_boxes() {
  if (subject_box_ != nullptr) fill_subject_box();
  if (run_box_ != nullptr) fill_run_box();
}

}  // namespace ddbench::gui
