#include "gui/pages/what_if_page.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "analyzer/predict/advice.h"
#include "analyzer/predict/path/critical_path.h"
#include "analyzer/predict/rebucket.h"
#include "analyzer/predict/recording.h"
#include "analyzer/predict/what_if_figure.h"
#include "gui/charts/figure_card.h"
#include "gui/tables/table_card.h"
#include "reports/tables/prediction_content.h"

namespace ddbench::gui {

/// The recorded step of a run: loaded once, shared with the jobs that replay it.
struct WhatIfStep {
  Measured<analyzer::StepRecording> recording = Measured<analyzer::StepRecording>::missing("not loaded");
  analyzer::CollectiveCosts costs;
  Measured<analyzer::AdviceReport> advice = Measured<analyzer::AdviceReport>::missing("not loaded");
  std::int64_t batch_per_gpu = 0;
  bool has_buckets = false;
};

namespace {

constexpr std::size_t kSteps = 64;
constexpr double kMegabyte = 1 << 20;
constexpr double kBucketsMb[] = {0, 0.5, 1, 2, 5, 10, 25, 50, 100};  // the first value: as recorded
constexpr int kMostNodesLog2 = 9;
constexpr int kSliderHeight = 28;  ///< handle and ticks

WhatIfStep load_step(JobContext& context, const store::RunRecord& run) {
  WhatIfStep step;
  step.batch_per_gpu = run.run_case.batch_per_gpu;
  step.recording = analyzer::recording_of(context.store(), run, kSteps);
  context.check();
  if (!step.recording) return step;
  analyzer::add_costs(*step.recording, step.costs);
  step.advice = analyzer::advise(*step.recording, step.costs, run);
  step.has_buckets = std::any_of(step.recording->collectives.begin(), step.recording->collectives.end(),
                                 analyzer::reduces_gradients);
  return step;
}

QString factor_in_words(double factor) {
  return QStringLiteral("× %1").arg(factor, 0, 'g', 3);
}

QString joined(const std::vector<std::string>& lines) {
  QStringList words;
  for (const std::string& line : lines) {
    if (!line.empty()) words.append(QString::fromStdString(line));
  }
  return words.join(QStringLiteral(" · "));
}

}  // namespace

WhatIfPage::WhatIfPage(Workspace& workspace)
    : Page(workspace, QStringLiteral("What if"),
           QStringLiteral("The recorded step, replayed on other sizes and networks. All figures but the recorded one are predicted.")) {
  add_subject_box();
  add_run_box();
  throughput_ = new FigureCard;
  advice_ = new TableCard(QStringLiteral("What to change first"));
  path_ = new TableCard(QStringLiteral("Critical path across ranks"));
  auto* controls = new QFrame;
  controls->setObjectName(QStringLiteral("card"));
  controls->setMinimumWidth(330);
  auto* grid = new QGridLayout(controls);
  grid->setContentsMargins(16, 14, 16, 14);
  make_controls(*grid);
  auto* row = new QHBoxLayout;
  row->setSpacing(14);
  row->addWidget(throughput_, 3);
  row->addWidget(controls, 1);
  body()->addLayout(row, 3);
  for (TableCard* card : {advice_, path_}) {
    card->setMinimumHeight(210);
    body()->addWidget(card, 2);
  }
}

WhatIfPage::~WhatIfPage() = default;

WhatIfPage::Control WhatIfPage::add_slider(QGridLayout& grid, int row, const QString& name, int low, int high) {
  Control control{new QSlider(Qt::Horizontal), new QLabel};
  control.slider->setRange(low, high);
  control.slider->setAccessibleName(name);
  control.slider->setPageStep(1);
  control.slider->setTickPosition(QSlider::TicksBelow);
  control.slider->setTickInterval(1);
  control.slider->setMinimumHeight(kSliderHeight);
  control.value->setAlignment(Qt::AlignRight);
  control.value->setMinimumWidth(110);
  grid.addWidget(new QLabel(name), 2 * row, 0);
  grid.addWidget(control.value, 2 * row, 1);
  grid.addWidget(control.slider, 2 * row + 1, 0, 1, 2);
  connect(control.slider, &QSlider::valueChanged, this, [this] { predict(); });
  return control;
}

void WhatIfPage::make_controls(QGridLayout& grid) {
  nodes_ = add_slider(grid, 0, QStringLiteral("Nodes, at most"), 0, kMostNodesLog2);
  bandwidth_ = add_slider(grid, 1, QStringLiteral("Network bandwidth"), -6, 6);
  latency_ = add_slider(grid, 2, QStringLiteral("Network latency"), -6, 6);
  batch_ = add_slider(grid, 3, QStringLiteral("Batch per GPU"), -3, 4);
  bucket_ = add_slider(grid, 4, QStringLiteral("Gradient buckets"), 0, static_cast<int>(std::size(kBucketsMb)) - 1);
  int row = 10;
  const auto box = [&](const char* text) {
    auto* check = new QCheckBox(QString::fromLatin1(text));
    grid.addWidget(check, row++, 0, 1, 2);
    connect(check, &QCheckBox::toggled, this, [this] { predict(); });
    return check;
  };
  stragglers_ = box("No rank slower than the median rank");
  data_wait_ = box("No wait for data");
  host_ = box("No time of the host between operators");
  grid.setRowStretch(row, 1);
  const QSignalBlocker quiet(nodes_.slider);
  nodes_.slider->setValue(6);
}

std::string WhatIfPage::key() const {
  return run_key();
}

void WhatIfPage::show_values() {
  const auto factor = [](const Control& control) { return std::exp2(control.slider->value() / 2.0); };
  nodes_.value->setText(QString::number(1 << nodes_.slider->value()));
  bandwidth_.value->setText(factor_in_words(factor(bandwidth_)));
  latency_.value->setText(factor_in_words(factor(latency_)));
  const double batch = std::exp2(batch_.slider->value());
  const auto samples = step_ == nullptr ? 0.0 : batch * static_cast<double>(step_->batch_per_gpu);
  batch_.value->setText(samples >= 1 ? QString::number(std::llround(samples)) : factor_in_words(batch));
  const double megabytes = kBucketsMb[bucket_.slider->value()];
  bucket_.value->setText(megabytes == 0 ? QStringLiteral("as recorded") : QStringLiteral("%1 MiB").arg(megabytes));
}

void WhatIfPage::load() {
  step_.reset();  // the controls wait for the step of the run that is shown now
  const RunEntry* run = current_run();
  if (run == nullptr) {
    return show_message(QStringLiteral("No run to replay"),
                        QStringLiteral("None of the chosen runs is there any more. Choose others above."));
  }
  start<std::shared_ptr<const WhatIfStep>>(
      "recording",
      [record = run->run()](JobContext& context) {
        return std::make_shared<const WhatIfStep>(load_step(context, record));
      },
      [this, record = run->run()](const std::shared_ptr<const WhatIfStep>& step) {
        step_ = step;
        throughput_->set_figure({});  // until their own jobs deliver
        path_->set_table({});
        if (!step->recording) {
          return show_message(QStringLiteral("This run cannot be replayed"), QString::fromStdString(step->recording.reason()),
                              QStringLiteral("ddbench run --nodes 2 --gpus 2"));
        }
        const bool network = step->recording->shape.nodes > 1;
        bandwidth_.slider->setEnabled(network);
        latency_.slider->setEnabled(network);
        bucket_.slider->setEnabled(step->has_buckets);
        show_advice(*step);
        predict();
        show_path(record);
      });
}

void WhatIfPage::show_advice(const WhatIfStep& step) {
  reports::DataTable table = step.advice ? reports::advice_data(*step.advice) : reports::DataTable{};
  std::vector<std::string> words{step.advice ? table.detail : step.advice.reason()};
  if (step.advice) words.insert(words.end(), step.advice->notes.begin(), step.advice->notes.end());
  advice_->set_words(joined(words));
  advice_->set_table(std::move(table));
}

/// By a job of its own: it reads operators, and the curve need not wait for them.
void WhatIfPage::show_path(const store::RunRecord& run) {
  using Path = Measured<analyzer::CriticalPath>;
  start<std::shared_ptr<const Path>>(
      "critical path",
      [run](JobContext& context) { return std::make_shared<const Path>(analyzer::critical_path_of(context.store(), run)); },
      [this](const std::shared_ptr<const Path>& path) {
        reports::DataTable table = *path ? reports::path_data(**path) : reports::DataTable{};
        std::vector<std::string> words{*path ? table.detail : path->reason()};
        if (*path) words.insert(words.end(), (*path)->notes.begin(), (*path)->notes.end());
        path_->set_words(joined(words));
        path_->set_table(std::move(table));
      });
}

void WhatIfPage::predict() {
  show_values();
  if (step_ == nullptr || !step_->recording) return;
  analyzer::WhatIfQuestion question;
  if (bandwidth_.slider->isEnabled()) {
    question.per_byte = std::exp2(-bandwidth_.slider->value() / 2.0);
    question.latency = std::exp2(latency_.slider->value() / 2.0);
  }
  question.what_if.batch_factor = std::exp2(batch_.slider->value());
  if (const double megabytes = kBucketsMb[bucket_.slider->value()]; megabytes > 0 && bucket_.slider->isEnabled())
    question.what_if.bucket_bytes = megabytes * kMegabyte;
  question.what_if.without_stragglers = stragglers_->isChecked();
  question.what_if.without_data_wait = data_wait_->isChecked();
  question.what_if.without_host = host_->isChecked();
  start<analyzer::Figure>(
      "what if",
      [step = step_, question, most = 1 << nodes_.slider->value()](JobContext& context) {
        const auto unchanged = analyzer::what_if_curve(*step->recording, step->costs, {}, most, analyzer::kWhatIfBudget);
        context.check();
        const auto changed = analyzer::what_if_curve(*step->recording, step->costs, question, most, analyzer::kWhatIfBudget);
        return analyzer::what_if_figure(*step->recording, unchanged, changed);
      },
      [this](analyzer::Figure figure) { throughput_->set_figure(std::move(figure)); });
}

}  // namespace ddbench::gui
