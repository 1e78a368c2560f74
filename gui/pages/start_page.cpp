#include "gui/pages/start_page.h"

#include <QCoreApplication>
#include <QFile>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/charts/theme.h"

namespace ddbench::gui {
namespace {

QString quoted(const std::filesystem::path& path) {
  const QString text = QString::fromStdString(path.string());
  return text.contains(QLatin1Char(' ')) ? QLatin1Char('\'') + text + QLatin1Char('\'') : text;
}

}  // namespace

StartPage::StartPage() : program(QCoreApplication::applicationDirPath() + QStringLiteral("/ddbench")) {
  setObjectName(QStringLiteral("page"));
  setAccessibleName(QStringLiteral("Start"));
  auto* column = new QVBoxLayout(this);
  auto* card = new QFrame;
  card->setObjectName(QStringLiteral("card"));
  card->setFixedWidth(640);
  auto* inner = new QVBoxLayout(card);
  inner->setContentsMargins(36, 30, 36, 30);
  inner->setSpacing(14);
  title_ = new QLabel;
  title_->setObjectName(QStringLiteral("emptyTitle"));
  text_ = new QLabel;
  text_->setObjectName(QStringLiteral("emptyText"));
  text_->setWordWrap(true);
  commands_ = new QLabel;
  commands_->setObjectName(QStringLiteral("command"));
  commands_->setWordWrap(true);
  progress_ = new QLabel;
  progress_->setObjectName(QStringLiteral("note"));
  progress_->setWordWrap(true);
  progress_->hide();
  progress_->setTextFormat(Qt::PlainText);
  for (QLabel* each : {title_, text_, commands_}) {
    each->setTextFormat(Qt::PlainText);
    each->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    inner->addWidget(each);
  }
  auto* buttons = new QHBoxLayout;
  demo_ = new QPushButton(QStringLiteral("Run the small demo"));
  demo_->setObjectName(QStringLiteral("primary"));
  again_ = new QPushButton(QStringLiteral("Try again"));
  open_ = new QPushButton(QStringLiteral("Open another store…"));
  for (QPushButton* button : {demo_, again_, open_}) buttons->addWidget(button);
  buttons->addStretch(1);
  inner->addLayout(buttons);
  inner->addWidget(progress_);
  column->addStretch(2);
  // No alignment: Qt does not ask an aligned widget for the height of its text at this width.
  auto* row = new QHBoxLayout;
  row->addStretch(1);
  row->addWidget(card);
  row->addStretch(1);
  column->addLayout(row);
  column->addStretch(3);
  connect(demo_, &QPushButton::clicked, this, [this] { run_demo(); });
  connect(again_, &QPushButton::clicked, this, [this] { try_again(); });
  connect(open_, &QPushButton::clicked, this, [this] { open_other(); });
  process_.setProcessChannelMode(QProcess::MergedChannels);
  connect(&process_, &QProcess::readyRead, this, [this] { show_demo_output(); });
  connect(&process_, &QProcess::finished, this, [this](int exit_code) {
    demo_->setEnabled(true);
    if (exit_code == 0) progress_->hide();
    try_again();
  });
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;  // after the others it still finishes
    demo_->setEnabled(true);
    progress_->setText(QStringLiteral("%1 could not be started: %2").arg(program, process_.errorString()));
  });
}

StartPage::~StartPage() {
  if (process_.state() == QProcess::NotRunning) return;
  process_.disconnect();
  process_.terminate();  // ddbench then stops its workers and removes what it created
  process_.waitForFinished(5000);
}

QString StartPage::text() const {
  return title_->text() + QLatin1Char('\n') + text_->text();
}

void StartPage::show_state(const std::filesystem::path& store, const JobFailure* failure) {
  const bool failed = failure != nullptr;
  show_words(store, failed ? QStringLiteral("This store cannot be shown") : QStringLiteral("No runs yet"),
             failed ? failure->message
                    : QStringLiteral("Runs that are written to %1 appear here while they go on. Make the first one "
                                     "in a terminal, or let this window run a small one: two processes on this "
                                     "machine, a few seconds.")
                          .arg(QString::fromStdString(store.string())));
  commands_->setText(QStringLiteral("ddbench run --nodes 1 --gpus 2 --db %1\n"
                                    "ddbench sweep --nodes 1,2,4 --gpus 1,2 --db %1\n"
                                    "ddbench import table results.csv --db %1")
                         .arg(quoted(store)));
  show_offers(!failed, failed);
}

void StartPage::show_reading(const std::filesystem::path& store) {
  show_words(store, QStringLiteral("Reading…"), QString::fromStdString(store.string()));
  show_offers(false, false);
}

void StartPage::show_cancelled(const std::filesystem::path& store) {
  show_words(store, QStringLiteral("Reading was cancelled"), QString::fromStdString(store.string()));
  show_offers(false, true);
}

void StartPage::show_words(const std::filesystem::path& store, const QString& title, const QString& text) {
  store_ = store;  // the small demo is written to it
  title_->setText(title);
  text_->setText(text);
}

void StartPage::show_offers(bool to_make_runs, bool to_try_again) {
  commands_->setVisible(to_make_runs);
  demo_->setVisible(to_make_runs && QFile::exists(program));
  again_->setVisible(to_try_again);
}

void StartPage::run_demo() {
  demo_->setEnabled(false);
  progress_->setText(QStringLiteral("starting…"));
  progress_->show();
  process_.start(program, {QStringLiteral("sweep"), QStringLiteral("--nodes"), QStringLiteral("1"), QStringLiteral("--gpus"),
                           QStringLiteral("1,2"), QStringLiteral("--steps"), QStringLiteral("30"), QStringLiteral("--repeat"),
                           QStringLiteral("2"), QStringLiteral("--db"), QString::fromStdString(store_.string())});
}

void StartPage::show_demo_output() {
  const QList<QByteArray> lines = process_.readAll().trimmed().split('\n');
  if (!lines.isEmpty() && !lines.back().isEmpty())
    progress_->setText(QString::fromUtf8(lines.back().trimmed()));
}

}  // namespace ddbench::gui
