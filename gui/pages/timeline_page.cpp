#include "gui/pages/timeline_page.h"

#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QShortcut>
#include <QVBoxLayout>
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

#include "analyzer/attribution/summarize_step.h"
#include "core/run_case/step_facts.h"
#include "gui/charts/flow_layout.h"
#include "gui/charts/ink_shapes.h"
#include "gui/timeline/timeline_colors.h"
#include "gui/timeline/timeline_totals.h"
#include "gui/timeline/timeline_view.h"

namespace ddbench::gui {
namespace {

using SharedTimeline = std::shared_ptr<const Timeline>;

SharedTimeline load_timeline(JobContext& context, const store::RunRecord& run) {
  const auto ranks = context.store().ranks(run.id);
  TimelineBuilder builder;
  int done = 0;
  for (const store::RankRecord& rank : ranks) {
    context.check();
    context.progress(done++, static_cast<int>(ranks.size()) + 1);
    builder.add_rank(rank, context.store().spans(run.id, rank.rank),
                     context.store().span_names(run.id, rank.rank));
  }
  context.check();
  auto timeline = std::make_shared<Timeline>(builder.finish());
  timeline->first_measured = first_measured_step(run.run_case, run.environment.facts);
  std::set<std::uint32_t> without_probes;
  context.store().visit_steps(run.id, [&](const store::StepRecord& step) {
    if (!step.probes_on) without_probes.insert(step.step);
  });
  timeline->steps_without_probes = without_probes.size();
  return timeline;
}

QString legend_text(SpanKind kind) {
  static constexpr const char* kNames[] = {
      "", "forward", "backward", "optimizer", "compute", "communication", "copy", "data wait", "host", "NCCL event"};
  static_assert(std::size(kNames) == kSpanKindCount);
  return QStringLiteral("<span style=\"color:%1\">■</span> %2")
      .arg(color_of(kind).name(), QString::fromLatin1(kNames[static_cast<int>(kind)]));
}

}  // namespace

TimelinePage::TimelinePage(Workspace& workspace)
    : Page(workspace, QStringLiteral("Timeline"),
           QStringLiteral("The spans of a run. Wheel: zoom · drag: move · Shift+drag: measure · click: "
                          "choose a span.")) {
  add_subject_box();
  add_run_box();
  auto* card = new QFrame;
  card->setObjectName(QStringLiteral("card"));
  auto* column = new QVBoxLayout(card);
  column->setContentsMargins(12, 10, 12, 10);
  auto* row = new QHBoxLayout;
  search_ = new QLineEdit;
  search_->setPlaceholderText(QStringLiteral("Search spans (Ctrl+F)"));
  search_->setAccessibleName(QStringLiteral("Search spans by name or kind"));
  search_->setClearButtonEnabled(true);
  search_->setFixedWidth(200);
  found_ = new QLabel;
  found_->setObjectName(QStringLiteral("note"));
  auto* all = new QPushButton(QStringLiteral("Show all"));
  auto* straggler = new QPushButton(QStringLiteral("Next straggler"));
  straggler->setToolTip(QStringLiteral("The next collective to which a rank came last (S, Shift+S)"));
  connect(straggler, &QPushButton::clicked, this, [this] {
    if (!view_->go_to_straggler(false)) found_->setText(QStringLiteral("no further straggler"));
  });
  row->addWidget(search_);
  row->addWidget(found_);
  row->addStretch(1);
  row->addWidget(straggler);
  row->addWidget(all);
  column->addLayout(row);
  auto* legend = new QWidget;
  make_legend(*legend);
  column->addWidget(legend);
  view_ = new TimelineView;
  column->addWidget(view_, 1);
  words_ = new QLabel;
  words_->setObjectName(QStringLiteral("note"));
  words_->setWordWrap(true);
  words_->setTextFormat(Qt::PlainText);
  column->addWidget(words_);
  body()->addWidget(card, 1);
  view_->on_change = [this] { show_words(); };
  connect(all, &QPushButton::clicked, this, [this] { view_->show_all(); });
  connect(search_, &QLineEdit::textChanged, this, [this] { search(); });
  connect(search_, &QLineEdit::returnPressed, this, [this] {
    if (!view_->go_to_match(false)) found_->setText(QStringLiteral("no further match"));
  });
  connect(new QShortcut(QKeySequence::Find, this), &QShortcut::activated, this, [this] {
    search_->setFocus(Qt::ShortcutFocusReason);
    search_->selectAll();
  });
}

void TimelinePage::make_legend(QWidget& legend) {
  auto* row = new FlowLayout(12, 2);
  legend.setLayout(row);
  for (int kind = 1; kind < kSpanKindCount; ++kind) {
    auto* label = new QLabel;
    label->setTextFormat(Qt::RichText);
    label->setObjectName(QStringLiteral("note"));
    legend_.push_back(label);
    row->addWidget(label);
  }
  color_legend();
}

void TimelinePage::show_legend_of(const Timeline& timeline) {
  std::set<SpanKind> seen;
  for (const TimelineLane& lane : timeline.lanes) seen.insert(lane.kinds.begin(), lane.kinds.end());
  for (std::size_t i = 0; i < legend_.size(); ++i) {
    legend_[i]->setVisible(seen.count(static_cast<SpanKind>(i + 1)) != 0);
  }
}

void TimelinePage::color_legend() {
  for (std::size_t i = 0; i < legend_.size(); ++i)
    legend_[i]->setText(legend_text(static_cast<SpanKind>(i + 1)));
}

void TimelinePage::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) color_legend();
  Page::changeEvent(event);
}

std::string TimelinePage::key() const {
  const RunEntry* run = current_run();
  if (run == nullptr) return {};
  return run->run().id + (run->run().state == store::RunState::kRunning ? "+" : ".");
}

void TimelinePage::load() {
  const RunEntry* entry = current_run();
  if (entry == nullptr) {
    return show_message(QStringLiteral("No run to draw"),
                        QStringLiteral("None of the chosen runs is there any more. Choose others above."));
  }
  const store::RunRecord run = entry->run();
  start<SharedTimeline>(
      "timeline", [run](JobContext& context) { return load_timeline(context, run); },
      [this](SharedTimeline timeline) {
        if (timeline->spans == 0) {
          return show_message(
              QStringLiteral("This run has no spans"),
              QStringLiteral("It was imported, has not recorded any yet, or its spans were pruned to save "
                             "room. Its steps and collectives are on the other pages."));
        }
        show_legend_of(*timeline);
        totals_.reset();
        view_->set_timeline(std::move(timeline));
        search();
      });
}

void TimelinePage::search() {
  const int matches = view_->search(search_->text());
  const QString found = matches == 0   ? QStringLiteral("no such span")
                        : matches == 1 ? QStringLiteral("1 match · Return: next")
                                       : QStringLiteral("%1 matches · Return: next").arg(matches);
  found_->setText(search_->text().isEmpty() ? QString() : found);
}

void TimelinePage::show_words() {
  const Timeline& timeline = view_->timeline();
  const TimeWindow window = view_->window();
  QString words =
      QStringLiteral("%1 of %2 shown · %3 spans · ")
          .arg(duration_text(window.end_ns - window.begin_ns, (window.end_ns - window.begin_ns) / 100),
               duration_text(static_cast<double>(timeline.end_ns - timeline.begin_ns),
                             (window.end_ns - window.begin_ns) / 100))
          .arg(timeline.spans);
  words += timeline.uncertainty_ns == 0
               ? QStringLiteral("all ranks share one clock")
               : QStringLiteral("clocks of the ranks are aligned to ± %1")
                     .arg(duration_text(static_cast<double>(timeline.uncertainty_ns), 100));
  if (const std::size_t off = timeline.steps_without_probes; off > 0) {
    words += QStringLiteral(" · %1 without spans: probes were off, to measure their overhead")
                 .arg(off == 1 ? QStringLiteral("1 step") : QStringLiteral("%1 steps").arg(off));
  }
  if (!timeline.nodes.empty()) {
    words += QStringLiteral(" · a node's row: the height of a colour is the share of its ranks, each counted once (compute before "
                            "communication); click it, or C: collapse or expand; Shift+C: all nodes");
  }
  const auto& names = timeline.names;
  if (std::find(names.begin(), names.end(), analyzer::kReducedName) != names.end())
    words += QStringLiteral(" · (reduced): sums of spans that were not sent");
  if (const Straggler* late = view_->selected_straggler()) {
    words += QStringLiteral(" · rank %1 came last, %2 after the others")
                 .arg(late->rank)
                 .arg(duration_text(static_cast<double>(late->caused_ns), static_cast<double>(late->caused_ns) / 100));
  }
  if (view_->measured()) words += QStringLiteral(" · measured: ") + view_->measured_text() + totals_text();
  words_->setText(words);
}

/// Not while the pointer moves: it visits all spans of the range.
const QString& TimelinePage::totals_text() {
  static const QString kNothing;
  const TimelineView::Measurement range = *view_->measured();
  if (view_->is_measuring() || range.from_ns == range.to_ns) return kNothing;
  if (totals_ && totals_->from_ns == range.from_ns && totals_->to_ns == range.to_ns) return totals_->text;
  const double length = static_cast<double>(std::abs(range.to_ns - range.from_ns));
  QStringList parts;
  for (const KindTotal& total : totals_between(view_->timeline(), range.from_ns, range.to_ns)) {
    const std::string_view kind = to_string(total.kind);
    parts << QStringLiteral("%1 %2 (%3%)")
                 .arg(QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size())).replace(QLatin1Char('_'), QLatin1Char(' ')),
                      duration_text(total.mean_ns, total.mean_ns / 100))
                 .arg(100 * total.mean_ns / length, 0, 'f', 1);
  }
  QString text = parts.empty() ? QStringLiteral(" · no spans") : QStringLiteral(" · mean of a rank: ") + parts.join(QStringLiteral(", "));
  totals_ = Totals{range.from_ns, range.to_ns, std::move(text)};
  return totals_->text;
}

}  // namespace ddbench::gui
