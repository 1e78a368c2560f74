#include "gui/pages/regressions_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>
#include <map>
#include <set>

#include "analyzer/gate/gate.h"
#include "analyzer/gate/run_history.h"
#include "gui/charts/figure_card.h"
#include "gui/models/tool_tip.h"
#include "gui/tables/table_card.h"
#include "gui/workspace/field_box.h"
#include "reports/tables/gate/gate_tables.h"

namespace ddbench::gui {

struct RegressionsPage::Series {
  QString name;   ///< of the case: it is the same as runs are added
  QString label;  ///< with the number of its runs
  analyzer::Figure figure;
  reports::DataTable changes;
  QString about_changes;
};

struct RegressionsPage::Verdict {
  analyzer::GateOutcome outcome = analyzer::GateOutcome::kInconclusive;
  QString words;
  reports::DataTable table;
};

namespace {

constexpr int kSeriesWidth = 860;
constexpr int kReferenceLetters = 28;  ///< a run has 24

QString joined(const std::vector<std::string>& sentences) {
  QStringList lines;
  for (const std::string& sentence : sentences) lines << QString::fromStdString(sentence);
  return lines.join(QLatin1Char('\n'));
}

/// Without the notes that begin with the name of another series, and without its own name.
std::vector<std::string> notes_of(const analyzer::RunHistory& all, const analyzer::HistorySeries& series) {
  std::vector<std::string> notes = all.notes;
  for (const analyzer::HistorySeries& other : all.series) {
    if (other.label == series.label) continue;
    std::erase_if(notes, [&](const std::string& note) { return note.rfind(other.label + ":", 0) == 0; });
  }
  for (std::string& note : notes) {
    if (note.rfind(series.label + ": ", 0) == 0) note.erase(0, series.label.size() + 2);
  }
  return notes;
}

struct References {
  std::vector<QString> all;  ///< newest first
  QString candidate;
  QString baseline;
};

/// The newest name and the one before it under which the same case ran; else the newest two runs of one case.
References references_of(const RunList& list) {
  struct Case {
    std::vector<QString> names;
    std::vector<QString> runs;
  };
  References found;
  std::set<std::string> names;
  std::map<std::string, Case> cases;
  const Case* renamed = nullptr;
  const Case* repeated = nullptr;
  for (const RunEntry& entry : list) {
    const store::RunRecord& run = entry.run();
    if (run.state != store::RunState::kDone || run.is_baseline || !run.valid) continue;
    Case& same = cases[case_key(run.run_case) + run.environment.fingerprint];
    const QString name = QStringLiteral("name=") + QString::fromStdString(run.run_case.name);
    if (!run.run_case.name.empty()) {
      if (names.insert(run.run_case.name).second) found.all.push_back(name);
      if (std::find(same.names.begin(), same.names.end(), name) == same.names.end()) same.names.push_back(name);
      if (renamed == nullptr && same.names.size() == 2) renamed = &same;
    }
    same.runs.push_back(QString::fromStdString(run.id));
    if (repeated == nullptr && same.runs.size() == 2) repeated = &same;
  }
  if (repeated != nullptr) found.all.insert(found.all.end(), repeated->runs.begin(), repeated->runs.begin() + 2);
  const Case* pair = renamed != nullptr ? renamed : repeated;
  if (pair == nullptr) return found;
  found.candidate = (renamed != nullptr ? pair->names : pair->runs)[0];
  found.baseline = (renamed != nullptr ? pair->names : pair->runs)[1];
  return found;
}

std::vector<analyzer::RunMeasures> measures_of(const RunList& list) {
  std::vector<analyzer::RunMeasures> measures;
  for (const RunEntry& entry : list) {
    const store::RunRecord& run = entry.run();
    if (entry.measured && run.state == store::RunState::kDone && run.valid && !run.is_baseline)
      measures.push_back(entry.measures);
  }
  return measures;
}

QComboBox* reference_box(const QString& name) {
  auto* box = new QComboBox;
  box->setEditable(true);
  box->setInsertPolicy(QComboBox::NoInsert);
  box->setAccessibleName(name);
  box->setMinimumContentsLength(kReferenceLetters);
  box->setMinimumWidth(230);
  box->setToolTip(QStringLiteral("The runs of a name (name=main), a named baseline, or one run"));
  box->lineEdit()->setPlaceholderText(QStringLiteral("name=main, a baseline, a run"));
  return box;
}

QString about_changes(const analyzer::HistorySeries& series) {
  if (!series.changes.empty()) return {};
  const std::size_t needed = 2 * analyzer::ChangePointOptions().least_segment;
  return series.points.size() < needed ? QStringLiteral("Not known: %1 runs or more are needed.").arg(needed)
                                       : QStringLiteral("The level has not changed.");
}

}  // namespace

RegressionsPage::RegressionsPage(Workspace& workspace)
    : Page(workspace, QStringLiteral("Regressions"),
           QStringLiteral("Performance history of a case, detected change points, and gate verdicts.")) {
  metric_ = new QComboBox;
  metric_->setAccessibleName(QStringLiteral("Metric"));
  for (const analyzer::RunMetric metric : analyzer::all_run_metrics()) {
    metric_->addItem(spaced(std::string(analyzer::to_string(metric))), static_cast<int>(metric));
  }
  series_box_ = new QComboBox;
  series_box_->setAccessibleName(QStringLiteral("Case whose history is drawn"));
  series_box_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  series_box_->setMaximumWidth(kSeriesWidth);
  add_control(metric_);
  add_control(series_box_);
  connect(metric_, &QComboBox::activated, this, [this] { reload(); });
  connect(series_box_, &QComboBox::activated, this, [this] { show_series(); });

  history_ = new FigureCard;
  history_->setMinimumHeight(340);  // labels of runs are turned
  changes_ = new TableCard(QStringLiteral("Changes of level"));
  changes_->setMinimumHeight(150);
  auto* gate = new QFrame;
  gate->setObjectName(QStringLiteral("card"));
  auto* column = new QVBoxLayout(gate);
  column->setContentsMargins(14, 10, 12, 10);
  auto* row = new QHBoxLayout;
  auto* title = new QLabel(QStringLiteral("Gate"));
  title->setObjectName(QStringLiteral("cardTitle"));
  baseline_ = reference_box(QStringLiteral("Baseline of the gate"));
  candidate_ = reference_box(QStringLiteral("Candidate of the gate"));
  auto* run = new QPushButton(QStringLiteral("Judge"));
  outcome_ = new QLabel;
  outcome_->setObjectName(QStringLiteral("undecided"));
  auto* arrow = new QLabel(QStringLiteral("→"));
  for (QWidget* each : std::initializer_list<QWidget*>{title, baseline_, arrow, candidate_, run, outcome_}) row->addWidget(each);
  row->addStretch(1);
  column->addLayout(row);
  verdict_ = new TableCard(QStringLiteral("Verdict"));
  verdict_->setObjectName(QStringLiteral("plain"));
  verdict_->setMinimumHeight(150);
  column->addWidget(verdict_, 1);
  connect(run, &QPushButton::clicked, this, [this] { load_verdict(); });
  for (QComboBox* box : {baseline_, candidate_}) {
    connect(box, &QComboBox::activated, this, [this] { load_verdict(); });
    connect(box->lineEdit(), &QLineEdit::returnPressed, this, [this] { load_verdict(); });
  }
  auto* top = new QHBoxLayout;
  top->setSpacing(14);
  top->addWidget(history_, 1);
  top->addWidget(changes_, 1);
  body()->addLayout(top, 3);
  body()->addWidget(gate, 2);
}

std::string RegressionsPage::key() const {
  std::string key;
  for (const RunEntry& entry : *workspace().runs) {
    if (entry.measured) key += entry.run().id;
  }
  return key;
}

void RegressionsPage::fill_references() {
  const References found = references_of(*workspace().runs);
  const auto fill = [&](QComboBox* box, const QString& chosen) {
    const QString before = box->currentText();
    std::vector<BoxItem> items;
    for (const QString& reference : found.all) items.push_back({reference, reference, {}});
    if (!before.isEmpty() && offers(*box, items)) return;  // somebody may be writing in it
    const QSignalBlocker quiet(box);
    offer_items(*box, items, before);
    box->setCurrentText(before.isEmpty() ? chosen : before);
  };
  fill(candidate_, found.candidate);
  fill(baseline_, found.baseline);
}

void RegressionsPage::load() {
  fill_references();
  const auto metric = static_cast<analyzer::RunMetric>(metric_->currentData().toInt());
  start<std::vector<Series>>(
      "history",
      [list = workspace().runs, metric](JobContext&) {
        const analyzer::RunHistory all = analyzer::run_history(measures_of(*list), metric);
        std::vector<Series> loaded;
        for (const analyzer::HistorySeries& series : all.series) {
          analyzer::RunHistory one{metric, {series}, notes_of(all, series)};
          one.series.front().label = "runs";  // the box above the chart names the case
          loaded.push_back(
              {QString::fromStdString(series.label),
               QString::fromStdString(series.label) + QStringLiteral(" · ") + runs_text(series.points.size()),
               analyzer::history_figure(one), reports::level_changes_data(series, metric),
               about_changes(series)});
        }
        // The longest history has the most information.
        std::stable_sort(loaded.begin(), loaded.end(), [](const Series& a, const Series& b) {
          const auto points = [](const Series& s) {
            return s.figure.series.empty() ? 0 : s.figure.series[0].points.size();
          };
          return points(a) > points(b);
        });
        return loaded;
      },
      [this](std::vector<Series> loaded) {
        series_ = std::move(loaded);
        const QFontMetrics metrics = series_box_->fontMetrics();
        std::vector<BoxItem> items;
        for (const Series& series : series_) {
          items.push_back({metrics.elidedText(series.label, Qt::ElideMiddle, kSeriesWidth - 60), series.name,
                           tool_tip(series.label)});
        }
        offer_items(*series_box_, items, series_box_->currentData());
        show_series();
      });
  load_verdict();
}

void RegressionsPage::show_series() {
  if (series_.empty()) {
    return show_message(QStringLiteral("No history yet"),
                        QStringLiteral("A history is drawn of runs of one case that measured this metric."));
  }
  const Series& series = series_[static_cast<std::size_t>(series_box_->currentIndex())];
  series_box_->setToolTip(tool_tip(series.label));
  history_->set_figure(series.figure);
  changes_->set_words(series.about_changes);
  changes_->set_table(series.changes);
}

void RegressionsPage::judge(const QString& baseline, const QString& candidate) {
  baseline_->setCurrentText(baseline);
  candidate_->setCurrentText(candidate);
  load_verdict();
}

void RegressionsPage::load_verdict() {
  const std::string baseline = baseline_->currentText().trimmed().toStdString();
  const std::string candidate = candidate_->currentText().trimmed().toStdString();
  if (baseline.empty() || candidate.empty()) {
    stop("verdict");
    return clear_verdict(QStringLiteral("Choose two sides: runs of a name, a named baseline, or single runs."));
  }
  start<Verdict>(
      "verdict",
      [baseline, candidate](JobContext& context) {
        analyzer::GatePolicy policy;
        policy.metrics = {analyzer::RunMetric::kStepTime, analyzer::RunMetric::kThroughput};
        analyzer::GateVerdict judged =
            analyzer::judge(analyzer::gate_side(context.store(), baseline),
                            analyzer::gate_side(context.store(), candidate), policy);
        Verdict verdict{judged.outcome, QString::fromStdString(judged.headline), reports::metrics_data(judged)};
        std::erase_if(judged.reasons, [&judged](const std::string& reason) {
          return judged.headline.ends_with(reason);  // the headline already states it
        });
        for (const auto* sentences : {&judged.reasons, &judged.explanation, &judged.notes}) {
          if (!sentences->empty()) verdict.words += QLatin1Char('\n') + joined(*sentences);
        }
        return verdict;
      },
      [this](Verdict verdict) { show_verdict(std::move(verdict)); });
}

void RegressionsPage::unload(const QString& title, const QString& text) {
  clear_verdict({});
  Page::unload(title, text);
}

void RegressionsPage::show_failure(const std::string& slot, const JobFailure& failure) {
  if (slot == "verdict") clear_verdict(QStringLiteral("No verdict on these two sides: the message above says why."));
  Page::show_failure(slot, failure);
}

/// That of other sides must not stay.
void RegressionsPage::clear_verdict(const QString& words) {
  outcome_->hide();
  verdict_->set_words(words);
  verdict_->set_table({});
}

void RegressionsPage::show_verdict(Verdict verdict) {
  static constexpr const char* kNames[] = {"pass", "fail", "undecided"};
  const std::string_view word = analyzer::to_string(verdict.outcome);
  outcome_->setObjectName(QString::fromLatin1(kNames[static_cast<int>(verdict.outcome)]));
  outcome_->setText(QString::fromUtf8(word.data(), static_cast<qsizetype>(word.size())).toUpper());
  outcome_->style()->unpolish(outcome_);
  outcome_->style()->polish(outcome_);
  outcome_->show();
  verdict_->set_words(verdict.words);
  verdict_->set_table(std::move(verdict.table));
}

}  // namespace ddbench::gui
