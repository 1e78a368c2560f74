#include "gui/pages/collectives_page.h"

#include <QGridLayout>

#include "analyzer/catalogue/rated_link.h"
#include "analyzer/comparison/collective_curves.h"
#include "analyzer/scaling/run_set_figures.h"
#include "core/run_case/program_case.h"
#include "gui/charts/figure_card.h"
#include "gui/tables/table_card.h"
#include "reports/tables/analysis/analysis_tables.h"
#include "reports/tables/run_content.h"
#include "reports/text/phrases.h"

namespace ddbench::gui {
namespace {

struct Loaded {
  analyzer::Figure bandwidth;
  analyzer::Figure time;
  reports::DataTable buckets;
  QString bucket_title;
  reports::DataTable fits;
};

/// Each curve's fits, by its label.
std::vector<analyzer::GroupFit> fits_of(const analyzer::CollectiveCurves& curves) {
  std::vector<analyzer::GroupFit> fits;
  for (const analyzer::CollectiveCurve& curve : curves.curves) {
    for (const analyzer::AlphaBetaFit& fit : curve.fits) fits.push_back({curve.label, fit.ranks, "", fit});
  }
  return fits;
}

Loaded load_collectives(JobContext& context, const std::vector<store::RunRecord>& runs,
                        const store::RunId& run) {
  std::vector<analyzer::RunSummary> summaries;
  std::vector<analyzer::MicroTable> micro;
  for (const store::RunRecord& record : runs) {
    if (record.state != store::RunState::kDone || !record.valid) continue;
    context.check();
    if (is_micro(record.run_case)) {
      micro.push_back(analyzer::micro_table(context.store(), record));
    } else {
      summaries.push_back(analyzer::summarize_briefly(context.store(), record));
    }
    context.progress(static_cast<int>(summaries.size() + micro.size()), static_cast<int>(runs.size()));
  }
  const analyzer::CollectiveCurves curves = analyzer::collective_curves(summaries, micro);
  Loaded loaded;
  loaded.bandwidth = analyzer::collective_bandwidth_figure(curves);
  loaded.time = analyzer::collective_time_figure(curves);
  loaded.fits = reports::fits_data(fits_of(curves), "");
  const analyzer::RunSummary summary = analyzer::summarize(context.store(), run);
  const auto link = analyzer::rated_link(summary.run, analyzer::SkuCatalogue::load());
  loaded.buckets = reports::collectives_data(summary, &link);
  loaded.bucket_title =
      QStringLiteral("Collectives of run ") + QString::fromStdString(analyzer::short_label(summary.run));
  return loaded;
}

}  // namespace

CollectivesPage::CollectivesPage(Workspace& workspace)
    : Page(workspace, QStringLiteral("Collectives"),
           QStringLiteral("Collective bandwidth by message size, against link limits.")) {
  add_subject_box();
  add_run_box();
  bandwidth_ = new FigureCard;
  time_ = new FigureCard;
  buckets_ = new TableCard(QStringLiteral("Collectives of the run"));
  fits_ = new TableCard(QStringLiteral("Latency and bandwidth (α–β fit)"));
  auto* grid = new QGridLayout;
  grid->setSpacing(14);
  // In tenths of the width: the table of collectives has more columns than the table of fits.
  grid->addWidget(bandwidth_, 0, 0, 1, 5);
  grid->addWidget(time_, 0, 5, 1, 5);
  grid->addWidget(buckets_, 1, 0, 1, 7);
  grid->addWidget(fits_, 1, 7, 1, 3);
  grid->setRowStretch(0, 2);
  grid->setRowStretch(1, 1);
  for (int i = 0; i < 10; ++i) grid->setColumnStretch(i, 1);
  for (TableCard* card : {buckets_, fits_}) card->setMinimumHeight(190);
  body()->addLayout(grid, 1);
}

std::string CollectivesPage::key() const {
  return run_key();
}

void CollectivesPage::load() {
  const RunEntry* run = current_run();
  if (run == nullptr) {
    return show_message(QStringLiteral("No run to look at"),
                        QStringLiteral("None of the chosen runs is there any more. Choose others above."));
  }
  const std::vector<store::RunRecord> runs = subject_records();
  const store::RunId id = run->run().id;
  start<Loaded>(
      "collectives", [runs, id](JobContext& context) { return load_collectives(context, runs, id); },
      [this](Loaded loaded) {
        bandwidth_->set_figure(std::move(loaded.bandwidth));
        time_->set_figure(std::move(loaded.time));
        buckets_->set_title(loaded.bucket_title);
        buckets_->set_table(std::move(loaded.buckets));
        fits_->set_words(
            loaded.fits.rows.empty()
                ? QStringLiteral("No fit: that takes three sizes of one collective. "
                                 "`ddbench micro` measures many sizes on the same ranks and links.")
                : QString());
        fits_->set_table(std::move(loaded.fits));
      });
}

}  // namespace ddbench::gui
