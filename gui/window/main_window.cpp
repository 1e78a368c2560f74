#include "gui/window/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QShortcut>
#include <QStackedWidget>
#include <QStatusTipEvent>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <atomic>
#include <memory>

#include "gui/pages/start_page.h"
#include "gui/tables/column_choice.h"
#include "gui/window/all_pages.h"
#include "gui/window/keys.h"
#include "gui/window/status_bar.h"

namespace ddbench::gui {
namespace {

constexpr std::size_t kMeasuredAtOnce = 60;

QString unreadable_text(int runs) {
  if (runs == 0) return {};
  return QStringLiteral(" · ") + runs_text(static_cast<std::size_t>(runs)) +
         QStringLiteral(" cannot be read: `ddbench db check` says why");
}

}  // namespace

MainWindow::MainWindow(WindowOptions options)
    : jobs_(std::move(options.store)), workspace_(jobs_), settings_(options.settings) {
  workspace_.settings = settings_;
  workspace_.changed = [this] { refresh_pages(); };
  workspace_.open_page = [this](PageId page) { open_page(page); };
  auto* central = new QWidget;
  auto* row = new QHBoxLayout(central);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addWidget(make_rail());
  if (settings_ != nullptr) {
    theme_choice_ =
        static_cast<ThemeChoice>(std::clamp(settings_->value(QStringLiteral("theme"), 2).toInt(), 0, 2));
  }
  // Before the pages: a combo box keeps its first size hint, and one from before the style sheet is a few pixels too small.
  set_theme_choice(theme_choice_);
  auto* right = new QVBoxLayout;
  right->setSpacing(0);
  stack_ = new QStackedWidget;
  start_ = new StartPage;
  start_->open_other = [this] { ask_for_store(); };
  start_->try_again = [this] {
    if (shows_start_page()) show_reading();  // the runs of a small demo may be shown already
    list_again();
  };
  stack_->addWidget(start_);
  make_pages();
  right->addWidget(stack_, 1);
  status_ = new StatusBar;
  status_->on_cancel = [this] { cancel(); };
  right->addWidget(status_);
  row->addLayout(right, 1);
  setCentralWidget(central);
  make_shortcuts();
  setMinimumSize(960, 640);
  resize(1280, 800);
  if (settings_ != nullptr) {
    restoreGeometry(settings_->value(QStringLiteral("geometry")).toByteArray());
    page_ = static_cast<PageId>(
        std::clamp(settings_->value(QStringLiteral("page"), 0).toInt(), 0, kPageCount - 1));
  }
  jobs_.on_activity = [this](const JobActivity& activity) { status_->show_activity(activity); };
  watch_.on_change = [this] { list_again(); };
  open_store(jobs_.file());
}

MainWindow::~MainWindow() {
  jobs_.on_activity = nullptr;
}

void MainWindow::make_pages() {
  for (int i = 0; i < kPageCount; ++i) {
    Page* page = pages_[static_cast<std::size_t>(i)] = make_page(static_cast<PageId>(i), workspace_);
    add_column_choices(*page, settings_);
    stack_->addWidget(page);
  }
}

QWidget* MainWindow::make_rail() {
  auto* rail = new QFrame;
  rail->setObjectName(QStringLiteral("rail"));
  rail->setFixedWidth(176);
  auto* column = new QVBoxLayout(rail);
  column->setContentsMargins(10, 18, 10, 12);
  column->setSpacing(2);
  auto* brand = new QLabel(QStringLiteral("ddbench"));
  brand->setObjectName(QStringLiteral("brand"));
  column->addWidget(brand);
  column->addSpacing(12);
  for (int i = 0; i < kPageCount; ++i) {
    auto* button = new QPushButton;
    button->setObjectName(QStringLiteral("railButton"));
    button->setText(page_title(static_cast<PageId>(i)).replace(QLatin1Char('&'), QLatin1String("&&")));
    button->setAccessibleName(QStringLiteral("Page ") + page_title(static_cast<PageId>(i)));
    button->setToolTip(
        QStringLiteral("%1 (Ctrl+%2)").arg(page_title(static_cast<PageId>(i))).arg((i + 1) % 10));
    button->setCheckable(true);
    button->setAutoExclusive(true);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(button, &QPushButton::clicked, this, [this, i] { open_page(static_cast<PageId>(i)); });
    rail_[static_cast<std::size_t>(i)] = button;
    column->addWidget(button);
  }
  column->addStretch(1);
  theme_button_ = new QToolButton;
  theme_button_->setFocusPolicy(Qt::StrongFocus);
  theme_button_->setToolTip(QStringLiteral("Theme: light, dark or system (Ctrl+T)"));
  connect(theme_button_, &QToolButton::clicked, this, [this] { next_theme(); });
  column->addWidget(theme_button_);
  auto* open = new QToolButton;
  open->setText(QStringLiteral("Open store…"));
  open->setToolTip(QStringLiteral("Open another store (Ctrl+O)"));
  open->setFocusPolicy(Qt::StrongFocus);
  connect(open, &QToolButton::clicked, this, [this] { ask_for_store(); });
  column->addWidget(open);
  return rail;
}

void MainWindow::make_shortcuts() {
  for (int i = 0; i < kPageCount; ++i) {
    // Ctrl+1 to Ctrl+9, and Ctrl+0 for the tenth.
    connect(new QShortcut(QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + (i + 1) % 10)), this),
            &QShortcut::activated, this, [this, i] { open_page(static_cast<PageId>(i)); });
  }
  connect(new QShortcut(QKeySequence::Open, this), &QShortcut::activated, this, [this] { ask_for_store(); });
  connect(new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_T), this), &QShortcut::activated, this,
          [this] { next_theme(); });
  connect(new QShortcut(QKeySequence(Qt::Key_F5), this), &QShortcut::activated, this, [this] {
    list_again();
    page(page_).reload();
  });
  connect(new QShortcut(QKeySequence(Qt::Key_F1), this), &QShortcut::activated, this, [this] {
    QMessageBox box(QMessageBox::NoIcon, QStringLiteral("Keys and gestures"), keys_text(), QMessageBox::Close,
                    this);
    box.setTextFormat(Qt::RichText);
    box.exec();
  });
  connect(new QShortcut(QKeySequence::Quit, this), &QShortcut::activated, this, [this] { close(); });
}

void MainWindow::open_store(std::filesystem::path file) {
  setWindowTitle(QStringLiteral("ddbench · ") + QString::fromStdString(file.filename().string()));
  jobs_.set_file(file);
  watch_.set_file(file);
  workspace_.set_runs(std::make_shared<const RunList>());
  workspace_.run.clear();
  for (Page* page : pages_) page->unload(QStringLiteral("Loading…"), {});
  listing_ = false;
  show_reading();
  list_again();
}

/// Until the list of a store comes, nothing is known of it.
void MainWindow::show_reading() {
  start_->show_reading(jobs_.file());
  stack_->setCurrentWidget(start_);
}

void MainWindow::cancel() {
  for (Page* page : pages_) {
    if (page->is_loading()) page->unload(QStringLiteral("Loading was cancelled"), QStringLiteral("F5 loads what was chosen."));
  }
  jobs_.cancel_all();
  listing_ = false;
  list_again_ = false;
  if (shows_start_page()) start_->show_cancelled(jobs_.file());
  status_->show_activity({});
}

void MainWindow::list_again() {
  // A write in the middle of reading the list: it is read once more afterwards, rather than started over.
  if (listing_) {
    list_again_ = true;
    return;
  }
  read_list();
}

void MainWindow::read_list() {
  list_again_ = false;
  // A missing store is an empty one: a run will make it.
  if (std::error_code error; !std::filesystem::exists(jobs_.file(), error)) return take_list({}, true, 0);
  listing_ = true;
  const SharedRunList known = workspace_.runs;
  const auto unreadable = std::make_shared<std::atomic<int>>(0);
  const auto deliver = [this, unreadable](RunList list, bool complete) {
    take_list(std::move(list), complete, *unreadable);
  };
  jobs_.start(
      this, "list",
      [known, deliver, unreadable](JobContext& context) -> StoreJobs::Deliver {
        context.store().on_unreadable([unreadable](const store::UnreadableRun&) { ++*unreadable; });
        RunList list = list_runs(context.store(), *known);
        const auto unmeasured = [](const RunEntry& entry) {
          return !entry.measured && entry.run().state != store::RunState::kRunning;
        };
        const bool slow =
            std::count_if(list.begin(), list.end(), unmeasured) > static_cast<long>(kMeasuredAtOnce);
        if (slow) context.meanwhile([deliver, list] { deliver(list, false); });
        for (std::size_t first = 0; first < list.size(); first += kMeasuredAtOnce) {
          context.check();
          measure_entries(context.store(), list, first, first + kMeasuredAtOnce);
          if (slow)
            context.progress(static_cast<int>(std::min(first + kMeasuredAtOnce, list.size())),
                             static_cast<int>(list.size()));
        }
        return [deliver, list = std::move(list)] { deliver(list, true); };
      },
      [this](const JobFailure& failure) { list_failed(failure); });
}

void MainWindow::take_list(RunList list, bool complete, int unreadable) {
  workspace_.set_runs(std::make_shared<const RunList>(std::move(list)));
  if (complete) listing_ = false;
  if (workspace_.runs->empty()) {
    start_->show_state(jobs_.file(), nullptr);
    stack_->setCurrentWidget(start_);
  } else {
    open_page(page_);
  }
  status_->show_store(QString::fromStdString(jobs_.file().string()) + QStringLiteral(" · ") +
                      runs_text(workspace_.runs->size()) + unreadable_text(unreadable));
  refresh_pages();
  if (complete && list_again_) read_list();
}

void MainWindow::list_failed(const JobFailure& failure) {
  listing_ = false;
  start_->show_state(jobs_.file(), &failure);
  stack_->setCurrentWidget(start_);
  if (list_again_) read_list();
}

void MainWindow::open_page(PageId page) {
  page_ = page;
  QPushButton* button = rail_[static_cast<std::size_t>(page)];
  button->setChecked(true);
  if (std::find(rail_.begin(), rail_.end(), QApplication::focusWidget()) != rail_.end()) button->setFocus();
  if (!workspace_.runs->empty()) stack_->setCurrentWidget(pages_[static_cast<std::size_t>(page)]);
}

bool MainWindow::shows_start_page() const {
  return stack_->currentWidget() == start_;
}

void MainWindow::refresh_pages() {
  for (Page* page : pages_) page->refresh();
}

void MainWindow::ask_for_store() {
  const QString file = QFileDialog::getOpenFileName(this, QStringLiteral("Open store"), {},
                                                    QStringLiteral("ddbench stores (*.db);;All files (*)"));
  if (!file.isEmpty()) open_store(file.toStdString());
}

void MainWindow::set_theme_choice(ThemeChoice choice) {
  theme_choice_ = choice;
  static constexpr const char* kNames[] = {"Theme: light", "Theme: dark", "Theme: system"};
  theme_button_->setText(QString::fromLatin1(kNames[static_cast<int>(choice)]));
  set_theme(choice == ThemeChoice::kDark || (choice == ThemeChoice::kSystem && system_is_dark()));
}

void MainWindow::next_theme() {
  set_theme_choice(static_cast<ThemeChoice>((static_cast<int>(theme_choice_) + 1) % 3));
}

bool MainWindow::event(QEvent* event) {
  if (event->type() == QEvent::StatusTip) {
    status_->show_hint(static_cast<QStatusTipEvent*>(event)->tip());
    return true;
  }
  return QMainWindow::event(event);
}

void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() == QEvent::ThemeChange && theme_choice_ == ThemeChoice::kSystem) {
    set_theme_choice(ThemeChoice::kSystem);
  }
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (settings_ != nullptr) {
    settings_->setValue(QStringLiteral("geometry"), saveGeometry());
    settings_->setValue(QStringLiteral("theme"), static_cast<int>(theme_choice_));
    settings_->setValue(QStringLiteral("page"), static_cast<int>(page_));
  }
  QMainWindow::closeEvent(event);
}

}  // namespace ddbench::gui
