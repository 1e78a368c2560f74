#include "gui/pages/speedup_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <algorithm>

#include "analyzer/scaling/curve_groups.h"
#include "core/text/quantity.h"
#include "gui/charts/figure_card.h"
#include "gui/models/at_first.h"
#include "gui/workspace/field_box.h"
#include "gui/tables/table_card.h"
#include "reports/tables/analysis/analysis_tables.h"

namespace ddbench::gui {
namespace {

struct Loaded {
  analyzer::Figure speedup;
  analyzer::Figure efficiency;
  reports::DataTable rows;
  QString laws;
};

QString law_in_words(const analyzer::CurveGroup& group) {
  QString words =
      group.label.empty() ? QString() : QString::fromStdString(group.label) + QStringLiteral(": ");
  if (!group.curve.model) return {};
  const analyzer::ScalingFit& fit = group.curve.model->best;
  const std::string_view name = analyzer::to_string(fit.model);
  words += QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
  for (const Metric& parameter : fit.parameters) {
    if (parameter.name == "lambda") continue;
    words += QStringLiteral(", %1 %2").arg(QString::fromStdString(parameter.name),
                                           QString::fromStdString(number(parameter.value)));
    if (parameter.interval) {
      words += QStringLiteral(" [%1, %2]")
                   .arg(QString::fromStdString(number(parameter.interval->low)),
                        QString::fromStdString(number(parameter.interval->high)));
    }
  }
  return words;
}

QString why_no_law(const analyzer::CurveGroups& groups) {
  const std::string& reason = groups.groups.front().curve.model.reason();
  if (reason.find("mixed provenances") != std::string::npos) {
    return QStringLiteral(
        "No law is fitted over sizes of mixed provenance. \"Law over mixed provenance\" fits one all the "
        "same.");
  }
  return QStringLiteral("No law: ") + QString::fromStdString(reason);
}

Loaded load_curves(JobContext& context, const std::vector<store::RunRecord>& runs,
                   std::vector<std::string> fields, const analyzer::CurveOptions& options) {
  const analyzer::CurveGroups groups = analyzer::curve_groups(context.store(), runs, fields, options);
  Loaded loaded;
  loaded.speedup = analyzer::speedup_figure(groups);
  loaded.efficiency = analyzer::efficiency_figure(groups);
  std::vector<reports::NamedCurve> curves;
  QStringList laws;
  for (const analyzer::CurveGroup& group : groups.groups) {
    curves.push_back({group.label, &group.curve});
    const QString law = law_in_words(group);
    if (!law.isEmpty()) laws << law;
  }
  if (const qsizetype more = laws.size() - shown_at_first(laws.size()); more > 0) {
    laws.resize(laws.size() - more);
    laws << QStringLiteral("%1 more laws: choose fewer runs").arg(more);
  }
  loaded.laws = laws.join(QStringLiteral("   ·   "));
  loaded.rows = reports::curve_data(curves);
  if (loaded.laws.isEmpty()) loaded.laws = why_no_law(groups);
  return loaded;
}

}  // namespace

SpeedupPage::SpeedupPage(Workspace& workspace)
    : Page(workspace, QStringLiteral("Speedup"),
           QStringLiteral("What more GPUs bring, against the ideal, and the law that the runs follow.")) {
  any_provenance_ = new QCheckBox(QStringLiteral("Law over mixed provenance"));
  any_provenance_->setToolTip(
      QStringLiteral("Fit a scaling law even though some sizes were emulated or oversubscribed"));
  split_ = new QComboBox;
  split_->setAccessibleName(QStringLiteral("One curve for each"));
  split_->addItem(QStringLiteral("A curve each"), QStringLiteral("*"));
  split_->addItem(QStringLiteral("One curve"), QString());
  baseline_ = new QComboBox;
  baseline_->setAccessibleName(QStringLiteral("What efficiency is stated against"));
  baseline_->addItem(QStringLiteral("Against 1 GPU or smallest"), QString());
  baseline_->addItem(QStringLiteral("Against smallest"), QStringLiteral("smallest"));
  baseline_->addItem(QStringLiteral("Against one node"), QStringLiteral("node"));
  add_subject_box();
  add_control(split_);
  add_control(baseline_);
  add_control(any_provenance_);
  connect(any_provenance_, &QCheckBox::toggled, this, [this] { reload(); });
  connect(split_, &QComboBox::activated, this, [this] { reload(); });
  connect(baseline_, &QComboBox::activated, this, [this] { reload(); });

  auto* row = new QHBoxLayout;
  row->setSpacing(14);
  speedup_ = new FigureCard;
  efficiency_ = new FigureCard;
  row->addWidget(speedup_, 1);
  row->addWidget(efficiency_, 1);
  body()->addLayout(row, 3);
  rows_ = new TableCard(QStringLiteral("Sizes"));
  rows_->setMinimumHeight(210);
  body()->addWidget(rows_, 2);
}

bool SpeedupPage::suits(const Entries& runs) const {
  return std::any_of(runs.begin(), runs.end(), [&runs](const RunEntry* entry) {
    return entry->run().run_case.world_size() != runs.front()->run().run_case.world_size();
  });
}

void SpeedupPage::load() {
  const std::vector<store::RunRecord> runs = subject_records();
  std::vector<std::string> fields = analyzer::varied_fields(runs);
  offer_fields(*split_, 2, fields);
  const QString split = split_->currentData().toString();
  if (split.isEmpty()) {
    fields.clear();
  } else if (split != QLatin1String("*")) {
    fields = {split.toStdString()};
  }
  analyzer::CurveOptions options;
  options.baseline = baseline_->currentData().toString().toStdString();
  options.any_provenance = any_provenance_->isChecked();
  start<Loaded>(
      "curves",
      [runs, fields, options](JobContext& context) { return load_curves(context, runs, fields, options); },
      [this](Loaded loaded) {
        speedup_->set_figure(std::move(loaded.speedup));
        efficiency_->set_figure(std::move(loaded.efficiency));
        rows_->set_words(loaded.laws);
        rows_->set_table(std::move(loaded.rows));
      });
}

}  // namespace ddbench::gui
