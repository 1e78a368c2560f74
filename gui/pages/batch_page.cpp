#include "gui/pages/batch_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <algorithm>

#include "analyzer/batch/batch_figures.h"
#include "gui/charts/figure_card.h"
#include "gui/tables/table_card.h"
#include "gui/workspace/field_box.h"
#include "reports/tables/analysis/analysis_tables.h"

namespace ddbench::gui {

struct BatchPage::Curve {
  QString name;
  analyzer::Figure steps;
  analyzer::Figure time;
  reports::DataTable rows;
  QString words;
};

struct BatchPage::Loaded {
  std::vector<Curve> curves;
};

namespace {

QString critical_in_words(const analyzer::BatchCurve& curve) {
  if (!curve.critical)
    return QStringLiteral("No critical batch: ") + QString::fromStdString(curve.critical.reason());
  const auto& batch = curve.critical->batch;
  if (!batch) return QStringLiteral("No critical batch: ") + QString::fromStdString(batch.reason());
  return QStringLiteral(
             "Critical batch: %1 samples. There training takes twice the fewest steps and twice the fewest "
             "samples.")
      .arg(QString::fromStdString(fmt::format("{} ({} to {})", number(batch->value), number(batch->interval.low), number(batch->interval.high))));
}

analyzer::Figure steps_figure(const analyzer::BatchCurve& curve) {
  analyzer::Figure figure = analyzer::batch_figure(curve);
  if (figure.title.empty()) figure.title = "Steps and samples to the target";
  return figure;
}

}  // namespace

BatchPage::Loaded BatchPage::load_batches(JobContext& context, const std::vector<store::RunRecord>& runs) {
  const analyzer::BatchAnalysis analysis =
      analyzer::batch_analysis(context.store(), runs, analyzer::SkuCatalogue::load());
  Loaded loaded;
  for (const analyzer::BatchCurve& curve : analysis.curves) {
    Curve shown;
    shown.name =
        curve.variant.empty() ? QStringLiteral("All batches") : QString::fromStdString(curve.variant);
    shown.steps = steps_figure(curve);
    shown.time = analyzer::time_to_target_figure(curve);
    shown.rows = reports::batch_data(curve);
    shown.words = critical_in_words(curve);
    if (curve.pays_up_to) {
      shown.words += QStringLiteral(" More GPUs still pay up to a global batch of %1.")
                         .arg(*curve.pays_up_to, 0, 'f', 0);
    }
    loaded.curves.push_back(std::move(shown));
  }
  return loaded;
}

BatchPage::BatchPage(Workspace& workspace)
    : Page(workspace, QStringLiteral("Batch & LR"),
           QStringLiteral("What larger batches cost and bring until the loss is down at its target.")) {
  curve_ = new QComboBox;
  curve_->setAccessibleName(QStringLiteral("Which runs are drawn"));
  curve_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  add_subject_box();
  add_control(curve_);
  connect(curve_, &QComboBox::activated, this, [this] { show_curve(); });
  auto* row = new QHBoxLayout;
  row->setSpacing(14);
  steps_ = new FigureCard;
  time_ = new FigureCard;
  row->addWidget(steps_, 1);
  row->addWidget(time_, 1);
  body()->addLayout(row, 3);
  rows_ = new TableCard(QStringLiteral("Batches"));
  rows_->setMinimumHeight(200);
  body()->addWidget(rows_, 2);
}

bool BatchPage::suits(const Entries& runs) const {
  return std::any_of(runs.begin(), runs.end(),
                     [](const RunEntry* entry) { return entry->run().run_case.target_loss > 0; });
}

void BatchPage::load() {
  const std::vector<store::RunRecord> runs = subject_records();
  start<Loaded>(
      "batches", [runs](JobContext& context) { return load_batches(context, runs); },
      [this](Loaded loaded) {
        curves_ = std::move(loaded.curves);
        std::vector<BoxItem> items;
        for (const Curve& curve : curves_) items.push_back({curve.name, curve.name, {}});
        offer_items(*curve_, items, curve_->currentData());
        curve_->setVisible(curves_.size() > 1);
        show_curve();
      });
}

void BatchPage::show_failure(const std::string& slot, const JobFailure& failure) {
  if (failure.code != ErrorCode::kBadInput) return Page::show_failure(slot, failure);
  show_message(
      QStringLiteral("No batch-size data in these runs"),
      failure.message + QStringLiteral("\n\nTrain several batch sizes to a target loss:"),
      QStringLiteral("ddbench sweep --gpus 2 --batch-per-gpu 16,32,64,128 --target-loss 1.5 --steps 500"));
}

void BatchPage::show_curve() {
  if (curves_.empty()) {
    return show_message(QStringLiteral("No batch-size data in these runs"),
                        QStringLiteral("None of them went on until the loss had come down to a target."));
  }
  const Curve& curve = curves_[static_cast<std::size_t>(std::max(curve_->currentIndex(), 0))];
  steps_->set_figure(curve.steps);
  time_->set_figure(curve.time);
  rows_->set_words(curve.words);
  rows_->set_table(curve.rows);
}

}  // namespace ddbench::gui
