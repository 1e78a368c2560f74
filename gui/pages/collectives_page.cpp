#include "gui/pages/collectives_page.h"

#include <QGridLayout>

#include "analyzer/comparison/collective_curves.h"
#include "analyzer/scaling/run_set_figures.h"
#include "gui/charts/figure_card.h"
#include "gui/tables/cells.h"
#include "gui/tables/table_card.h"
#include "reports/text/phrases.h"

namespace ddbench::gui {
namespace {

struct Loaded {
  analyzer::Figure bandwidth;
  analyzer::Figure time;
  CellTable buckets;
  QString bucket_title;
  CellTable fits;
};

Cell time_cell(const Measured<std::int64_t>& time_ns) {
  if (time_ns) return quantity_cell(static_cast<double>(*time_ns), "ns");
  Cell cell = missing_cell(time_ns.reason());
  cell.text = QString::fromStdString(time_ns.reason());
  return cell;
}

CellTable bucket_table(const analyzer::RunSummary& summary) {
  CellTable table;
  for (const char* title :
       {"Collective", "Bucket", "Size", "Count", "Transfer", "Peer wait", "Bus bandwidth"}) {
    table.columns.push_back(QString::fromLatin1(title));
  }
  const bool manners = analyzer::tells_manners(summary);
  if (manners) table.columns.push_back(QStringLiteral("Manner"));
  const bool communicators = analyzer::names_communicators(summary);
  if (communicators) table.columns.insert(table.columns.begin() + 1, QStringLiteral("Communicator"));
  for (const analyzer::CollectiveSummary& collective : summary.collectives) {
    const store::CollectiveRecord& record = collective.record;
    table.rows.push_back(
        {{QString::fromStdString(record.function), {}, {}, false},
         record.bucket < 0 ? missing_cell("not a gradient bucket") : count_cell(record.bucket),
         quantity_cell(static_cast<double>(record.bytes), "B"),
         count_cell(static_cast<double>(record.count)),
         time_cell(collective.transfer_ns),
         time_cell(collective.peer_wait_ns),
         collective.busbw_gb_per_s ? quantity_cell(*collective.busbw_gb_per_s * 1e9, "B/s")
                                   : missing_cell(collective.busbw_gb_per_s.reason())});
    std::vector<Cell>& row = table.rows.back();
    if (manners)
      row.push_back(record.manner.empty() ? missing_cell("not reported by NCCL") : text_cell(record.manner));
    if (communicators)
      row.insert(row.begin() + 1, text_cell(reports::communicator_in_words(collective.communicator)));
  }
  return table;
}

/// "12.3 GB/s" of nanoseconds per byte, with the interval turned over.
Cell bandwidth_cell(const analyzer::AlphaBetaRegime& regime) {
  if (!(regime.ns_per_byte > 0)) return missing_cell("the times do not grow with the size");
  if (!regime.per_byte || regime.per_byte->interval.low <= 0)
    return quantity_cell(1e9 / regime.ns_per_byte, "B/s");
  ConfidenceInterval interval = regime.per_byte->interval;
  const double low = 1e9 / interval.high;
  interval.high = 1e9 / interval.low;
  interval.low = low;
  return interval_cell(1e9 / regime.ns_per_byte, interval, "B/s");
}

CellTable fit_table(const analyzer::CollectiveCurves& curves) {
  CellTable table;
  for (const char* title : {"Collective", "From", "To", "Latency α", "Bandwidth 1/β", "R²"}) {
    table.columns.push_back(QString::fromUtf8(title));
  }
  for (const analyzer::CollectiveCurve& curve : curves.curves) {
    for (const analyzer::AlphaBetaFit& fit : curve.fits) {
      for (const analyzer::AlphaBetaRegime& regime : fit.regimes) {
        table.rows.push_back({{QString::fromStdString(curve.label), {}, {}, false},
                              quantity_cell(regime.from_bytes, "B"),
                              quantity_cell(regime.to_bytes, "B"),
                              regime.latency
                                  ? interval_cell(regime.latency_ns, regime.latency->interval, "ns")
                                  : quantity_cell(regime.latency_ns, "ns"),
                              bandwidth_cell(regime),
                              number_cell(regime.r_squared, QString::number(regime.r_squared, 'f', 3))});
      }
    }
  }
  return table;
}

Loaded load_collectives(JobContext& context, const std::vector<store::RunRecord>& runs,
                        const store::RunId& run) {
  std::vector<analyzer::RunSummary> summaries;
  std::vector<analyzer::MicroTable> micro;
  for (const store::RunRecord& record : runs) {
    if (record.state != store::RunState::kDone || !record.valid) continue;
    context.check();
    if (record.run_case.workload == analyzer::kMicroWorkload) {
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
  loaded.fits = fit_table(curves);
  const analyzer::RunSummary summary = analyzer::summarize(context.store(), run);
  loaded.buckets = bucket_table(summary);
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
  grid->addWidget(bandwidth_, 0, 0);
  grid->addWidget(time_, 0, 1);
  grid->addWidget(buckets_, 1, 0);
  grid->addWidget(fits_, 1, 1);
  grid->setRowStretch(0, 2);
  grid->setRowStretch(1, 1);
  for (int i = 0; i < 2; ++i) grid->setColumnStretch(i, 1);
  for (TableCard* card : {buckets_, fits_}) card->setMinimumHeight(190);
  body()->addLayout(grid, 1);
}

std::string CollectivesPage::key() const {
  const RunEntry* run = workspace().current_run();
  return workspace().subject_key() + (run == nullptr ? std::string() : "|" + run->run().id);
}

void CollectivesPage::load() {
  const RunEntry* run = workspace().current_run();
  if (run == nullptr) {
    return show_message(QStringLiteral("No run to look at"),
                        QStringLiteral("None of the chosen runs is there any more. Choose others above."));
  }
  const std::vector<store::RunRecord> runs = workspace().subject_records();
  const store::RunId id = run->run().id;
  start<Loaded>(
      "collectives", [runs, id](JobContext& context) { return load_collectives(context, runs, id); },
      [this](Loaded loaded) {
        bandwidth_->set_figure(std::move(loaded.bandwidth));
        time_->set_figure(std::move(loaded.time));
        buckets_->set_title(loaded.bucket_title);
        buckets_->table().set_table(std::move(loaded.buckets));
        fits_->set_words(
            loaded.fits.rows.empty()
                ? QStringLiteral("No fit: that takes three sizes of one collective. "
                                 "`ddbench micro` measures many sizes on the same ranks and links.")
                : QString());
        fits_->table().set_table(std::move(loaded.fits));
      });
}

}  // namespace ddbench::gui
