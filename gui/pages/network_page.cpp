#include "gui/pages/network_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <algorithm>

#include "analyzer/comparison/compare_by.h"
#include "analyzer/run/run_fields.h"
#include "analyzer/scaling/curve_groups.h"
#include "gui/charts/figure_card.h"
#include "gui/workspace/field_box.h"
#include "gui/tables/table_card.h"
#include "reports/tables/analysis/analysis_tables.h"

namespace ddbench::gui {
namespace {

constexpr int kLeastHeight = 425;  ///< a legend of links, functions and ranks has many lines

struct Loaded {
  analyzer::Figure throughput;
  analyzer::Figure bandwidth;
  reports::DataTable rows;
  QString words;
};

Loaded load_groups(JobContext& context, const std::vector<store::RunRecord>& runs, const std::string& field) {
  const analyzer::GroupComparison groups = analyzer::compare_by(context.store(), runs, field);
  Loaded loaded;
  loaded.throughput = analyzer::throughput_figure(groups);
  loaded.bandwidth = analyzer::bus_bandwidth_figure(groups);
  loaded.words = QStringLiteral("Reference: %1. Ratios are of throughput, in the same case otherwise.")
                     .arg(groups.values.empty() || groups.values.front().empty()
                              ? QStringLiteral("(none)")
                              : QString::fromStdString(groups.values.front()));
  loaded.rows = reports::groups_data(groups);
  return loaded;
}

/// The fields by which these runs can be compared: link or network first, if they differ in it.
std::vector<std::string> fields_that_differ(const std::vector<store::RunRecord>& runs) {
  analyzer::VariedFields varied = analyzer::kWithinCurve;
  // Of the consequences, runs can be compared by their network, but not by their provenance.
  varied.roles.erase(FieldRole::kConsequence);
  varied.names.insert("provenance");
  std::vector<std::string> fields = analyzer::varied_fields(runs, varied);
  for (const char* first : {"network", "link"}) {
    if (const auto found = std::find(fields.begin(), fields.end(), first); found != fields.end())
      std::rotate(fields.begin(), found, found + 1);
  }
  return fields;
}

}  // namespace

NetworkPage::NetworkPage(Workspace& workspace)
    : Page(workspace, QStringLiteral("Network"),
           QStringLiteral("The same training over different networks, or with anything else changed.")) {
  field_ = new QComboBox;
  field_->setAccessibleName(QStringLiteral("What the runs are compared by"));
  field_->addItem(QStringLiteral("By what differs"), QString());
  add_subject_box();
  add_control(field_);
  connect(field_, &QComboBox::activated, this, [this] { reload(); });
  auto* row = new QHBoxLayout;
  row->setSpacing(14);
  throughput_ = new FigureCard;
  bandwidth_ = new FigureCard;
  bandwidth_->setMinimumHeight(kLeastHeight);
  row->addWidget(throughput_, 1);
  row->addWidget(bandwidth_, 1);
  body()->addLayout(row, 3);
  rows_ = new TableCard(QStringLiteral("Cases"));
  rows_->setMinimumHeight(200);
  body()->addWidget(rows_, 2);
}

bool NetworkPage::suits(const Entries& runs) const {
  return !fields_that_differ(records_of(runs)).empty();
}

void NetworkPage::load() {
  const std::vector<store::RunRecord> runs = subject_records();
  const std::vector<std::string> fields = fields_that_differ(runs);
  offer_fields(*field_, 1, fields);
  std::string field = field_->currentData().toString().toStdString();
  if (field.empty()) field = fields.empty() ? "link" : fields.front();
  start<Loaded>(
      "groups", [runs, field](JobContext& context) { return load_groups(context, runs, field); },
      [this](Loaded loaded) {
        throughput_->set_figure(std::move(loaded.throughput));
        bandwidth_->set_figure(std::move(loaded.bandwidth));
        rows_->set_words(loaded.words);
        rows_->set_table(std::move(loaded.rows));
      });
}

}  // namespace ddbench::gui
