#include "gui/pages/breakdown_page.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <algorithm>

#include "analyzer/collectives/micro_table.h"
#include "analyzer/diagnose/diagnose_run.h"
#include "analyzer/diagnose/stragglers.h"
#include "analyzer/run/run_figures.h"
#include "analyzer/scaling/curve_groups.h"
#include "analyzer/scaling/run_set_figures.h"
#include "core/error.h"
#include "core/run_case/program_case.h"
#include "gui/charts/figure_card.h"
#include "gui/workspace/field_box.h"

namespace ddbench::gui {
namespace {

constexpr int kStragglerSteps = 200;

struct Loaded {
  analyzer::Figure sizes;
  std::vector<store::RunId> size_runs;
  std::vector<std::string> size_labels;
  analyzer::Figure waterfall;
  analyzer::Figure ranks;
  std::vector<analyzer::Figure> thirds;  ///< stragglers, step times, loss
};

/// The newest finished run of each case, smallest first.
std::vector<store::RunRecord> newest_of_each_case(std::vector<store::RunRecord> runs) {
  std::erase_if(runs, [](const store::RunRecord& run) {
    return run.state != store::RunState::kDone || !run.valid ||
           is_micro(run.run_case);
  });
  const std::vector<std::string> labels = analyzer::distinguishing_labels(runs);
  std::map<std::tuple<int, int, std::string>, store::RunRecord> found;
  for (std::size_t i = 0; i < runs.size(); ++i)
    found[{runs[i].run_case.world_size(), runs[i].run_case.nodes, labels[i]}] = runs[i];
  std::vector<store::RunRecord> newest;
  for (auto& [key, run] : found) newest.push_back(std::move(run));
  return newest;
}

analyzer::Figure empty_waterfall(const char* why) {
  analyzer::Figure figure;
  figure.title = "Step time lost";
  figure.notes = {why};
  return figure;
}

/// The waterfall of the run's curve, against the run at `against`; empty: against the run's own baseline.
analyzer::Figure waterfall_of(JobContext& context, const std::vector<store::RunRecord>& runs,
                              const analyzer::RunSummary& summary, const store::RunId& against) {
  if (against.empty() && summary.efficiency) return analyzer::waterfall_figure(summary);
  analyzer::CurveOptions options;
  options.baseline = against;
  const analyzer::CurveGroups groups =
      analyzer::curve_groups(context.store(), runs, analyzer::varied_fields(runs), options);
  for (const analyzer::CurveGroup& group : groups.groups) {
    for (std::size_t row = 0; row < group.curve.rows.size(); ++row) {
      const auto& ids = group.curve.rows[row].runs;
      if (std::find(ids.begin(), ids.end(), summary.run.id) == ids.end()) continue;
      if (group.curve.rows[row].is_baseline)
        return empty_waterfall("nothing is lost: this run is what the others are counted against");
      return analyzer::waterfall_figure(group.curve, row);
    }
  }
  return empty_waterfall("this run lies on no scaling curve of the chosen runs");
}

/// If one figure cannot be made, its place shows the reason; the other figures of the page are still shown.
template <typename Make>
analyzer::Figure or_reason(const char* title, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    analyzer::Figure figure;
    figure.title = title;
    figure.notes = {error.message()};
    return figure;
  }
}

analyzer::Figure stragglers_of(JobContext& context, const store::RunId& run) {
  const auto report = analyzer::find_stragglers(context.store(), run, kStragglerSteps);
  if (report) {
    analyzer::Figure figure = analyzer::straggler_figure(*report);
    if (const auto diagnosis = analyzer::diagnose_run(context.store(), run))
      figure.notes.insert(figure.notes.begin(), analyzer::verdict_in_words(*diagnosis));
    return figure;
  }
  analyzer::Figure figure;
  figure.title = "Wait that each rank caused";
  figure.notes = {report.reason()};
  return figure;
}

Loaded load_breakdown(JobContext& context, const std::vector<store::RunRecord>& runs, const store::RunId& run,
                      const store::RunId& against) {
  Loaded loaded;
  std::vector<analyzer::RunSummary> summaries;
  std::vector<store::RunRecord> newest = newest_of_each_case(runs);
  loaded.size_labels = analyzer::distinguishing_labels(newest);
  for (store::RunRecord& record : newest) {
    context.check();
    loaded.size_runs.push_back(record.id);
    summaries.push_back(analyzer::summarize_briefly(context.store(), std::move(record)));
  }
  loaded.sizes = analyzer::partitions_figure(summaries);
  const analyzer::RunSummary summary = analyzer::summarize(context.store(), run);
  const auto steps = context.store().steps(run);
  // A size that these runs do not have was chosen for others: the box then shows the baseline.
  const auto& sizes = loaded.size_runs;
  const bool offered = std::find(sizes.begin(), sizes.end(), against) != sizes.end();
  loaded.waterfall = or_reason(
      "Step time lost", [&] { return waterfall_of(context, runs, summary, offered ? against : store::RunId()); });
  context.check();
  loaded.ranks = analyzer::rank_partition_figure(summary, steps);
  loaded.thirds = {or_reason("Wait that each rank caused", [&] { return stragglers_of(context, run); }),
                   analyzer::step_time_figure(summary, steps), analyzer::loss_figure(summary, steps)};
  return loaded;
}

}  // namespace

BreakdownPage::BreakdownPage(Workspace& workspace)
    : Page(workspace, QStringLiteral("Breakdown"),
           QStringLiteral("Each instant of a step belongs to one part. Choose a bar to look at that run.")) {
  against_ = new QComboBox;
  against_->setAccessibleName(QStringLiteral("What the lost time is counted against"));
  against_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  against_->addItem(QStringLiteral("Lost against its baseline"), QString());
  which_third_ = new QComboBox;
  which_third_->setAccessibleName(QStringLiteral("What the last chart shows"));
  for (const char* name : {"Stragglers", "Step times", "Loss"})
    which_third_->addItem(QString::fromLatin1(name));
  auto* timeline = new QPushButton(QStringLiteral("Open timeline"));
  add_subject_box();
  add_run_box();
  add_control(against_);
  add_control(which_third_);
  add_control(timeline);
  connect(against_, &QComboBox::activated, this, [this] { reload(); });
  connect(which_third_, &QComboBox::activated, this, [this] { show_third(); });
  connect(timeline, &QPushButton::clicked, this, [this] { this->workspace().open_page(PageId::kTimeline); });

  sizes_ = new FigureCard;
  waterfall_ = new FigureCard;
  ranks_ = new FigureCard;
  third_ = new FigureCard;
  auto* grid = new QGridLayout;
  grid->setSpacing(14);
  grid->addWidget(sizes_, 0, 0);
  grid->addWidget(waterfall_, 0, 1);
  grid->addWidget(ranks_, 1, 0);
  grid->addWidget(third_, 1, 1);
  for (int i = 0; i < 2; ++i) grid->setRowStretch(i, 1), grid->setColumnStretch(i, 1);
  body()->addLayout(grid, 1);
  sizes_->view().on_click = [this](const ChartSpot& spot) {
    for (std::size_t i = 0; i < size_runs_.size(); ++i) {
      if (!spot.is_bar || spot.band != i) continue;
      const Subject shown = subject();
      return this->workspace().choose_run(size_runs_[i], shown);
    }
  };
  ranks_->view().on_click = [this](const ChartSpot&) { this->workspace().open_page(PageId::kTimeline); };
}

std::string BreakdownPage::key() const {
  return run_key();
}

void BreakdownPage::load() {
  const RunEntry* run = current_run();
  if (run == nullptr) {
    return show_message(QStringLiteral("No run to take apart"),
                        QStringLiteral("None of the chosen runs is there any more. Choose others above."));
  }
  const std::vector<store::RunRecord> runs = subject_records();
  const store::RunId id = run->run().id;
  const store::RunId against = against_->currentData().toString().toStdString();
  start<Loaded>(
      "breakdown",
      [runs, id, against](JobContext& context) { return load_breakdown(context, runs, id, against); },
      [this](Loaded loaded) {
        size_runs_ = std::move(loaded.size_runs);
        size_labels_ = std::move(loaded.size_labels);
        std::vector<BoxItem> items{{QStringLiteral("Lost against its baseline"), QString(), {}}};
        for (std::size_t i = 0; i < size_runs_.size(); ++i) {
          items.push_back({QStringLiteral("Lost against ") + QString::fromStdString(size_labels_[i]),
                           QString::fromStdString(size_runs_[i]), {}});
        }
        offer_items(*against_, items, against_->currentData());
        sizes_->set_figure(std::move(loaded.sizes));
        waterfall_->set_figure(std::move(loaded.waterfall));
        ranks_->set_figure(std::move(loaded.ranks));
        thirds_ = std::move(loaded.thirds);
        show_third();
      });
}

void BreakdownPage::show_third() {
  const auto index = static_cast<std::size_t>(which_third_->currentIndex());
  if (index < thirds_.size()) third_->set_figure(thirds_[index]);
}

}  // namespace ddbench::gui
