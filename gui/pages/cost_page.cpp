#include "gui/pages/cost_page.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <set>

#include "analyzer/comparison/compare_by.h"
#include "analyzer/cost/cost.h"
#include "gui/charts/figure_card.h"
#include "gui/tables/table_card.h"
#include "reports/tables/analysis/analysis_tables.h"

namespace ddbench::gui {
namespace {

struct Loaded {
  bool any_sku = false;
  std::vector<std::string> skus;
  analyzer::Figure cost;
  reports::DataTable offers;
  reports::DataTable prices;
};

using Prices = std::map<std::string, std::string>;

reports::DataTable price_table(const std::vector<std::string>& skus, const analyzer::SkuCatalogue& catalogue,
                      const Prices& changed) {
  reports::DataTable table;
  table.columns = {{"SKU"}, {"USD/h", true}};
  for (const std::string& name : skus) {
    const analyzer::Sku* sku = catalogue.find_sku(name);
    reports::DataCell price = sku == nullptr ? reports::missing_cell("not in the catalogue: write a price here")
                                             : reports::quantity_cell(sku->price_usd_per_h, "1");
    if (sku != nullptr && sku->price_usd_per_h) price.text = fmt::format("{:.2f}", *sku->price_usd_per_h);
    if (changed.count(name) != 0) price.text += "  (yours)";
    table.rows.push_back({reports::code_cell(name), std::move(price)});
  }
  return table;
}

Loaded load_costs(JobContext& context, const std::vector<store::RunRecord>& runs, const Prices& changed,
                  std::optional<double> samples) {
  Loaded loaded;
  std::set<std::string> skus;
  for (const store::RunRecord& run : runs) {
    if (!run.run_case.sku.empty()) skus.insert(run.run_case.sku);
  }
  loaded.any_sku = !skus.empty();
  if (!loaded.any_sku) return loaded;
  loaded.skus.assign(skus.begin(), skus.end());
  analyzer::SkuCatalogue catalogue = analyzer::SkuCatalogue::load();
  for (const auto& [sku, price] : changed) catalogue.set_price(price);
  analyzer::CostOptions options;
  if (samples) options.samples_total = *samples;
  const auto groups = analyzer::compare_by(context.store(), runs, "sku");
  const analyzer::CostTable costs = analyzer::cost_table(analyzer::offers_of(groups), catalogue, options);
  loaded.cost = analyzer::cost_figure(costs);
  loaded.offers = reports::costs_data(costs);
  loaded.prices = price_table(loaded.skus, catalogue, changed);
  return loaded;
}

}  // namespace

CostPage::CostPage(Workspace& workspace)
    : Page(workspace, QStringLiteral("SKU & cost"),
           QStringLiteral("What a million samples cost against how fast they go. Prices can be changed: "
                          "double-click one.")) {
  samples_ = new QLineEdit;
  samples_->setPlaceholderText(QStringLiteral("Samples to train, e.g. 3e8"));
  samples_->setAccessibleName(QStringLiteral("Samples to train"));
  samples_->setFixedWidth(210);
  add_subject_box();
  add_control(samples_);
  connect(samples_, &QLineEdit::editingFinished, this, [this] { reload(); });
  cost_ = new FigureCard;
  prices_ = new TableCard(QStringLiteral("Prices of a node"));
  prices_->setMinimumWidth(350);
  offers_ = new TableCard(QStringLiteral("Ways to train"));
  offers_->setMinimumHeight(200);
  auto* row = new QHBoxLayout;
  row->setSpacing(14);
  row->addWidget(cost_, 2);
  row->addWidget(prices_, 1);
  body()->addLayout(row, 3);
  body()->addWidget(offers_, 2);
  DataTableModel& cells = prices_->table().cells();
  cells.editable_columns = {1};
  cells.edited = [this](int price_row, int, const QString& text) {
    return set_price(skus_[static_cast<std::size_t>(price_row)], text);
  };
}

bool CostPage::set_price(const std::string& sku, const QString& text) {
  bool is_number = false;
  QString number = text;
  const double price =
      number.remove(QStringLiteral("(yours)")).remove(QLatin1Char('$')).trimmed().toDouble(&is_number);
  if (!is_number || !(price > 0) || price > 1e6) return false;
  changed_[sku] = sku + "=" + QString::number(price, 'g', 12).toStdString();
  // Deferred: this rebuilds the table, which must not happen while it is being edited.
  QMetaObject::invokeMethod(
      this, [this] { reload(); }, Qt::QueuedConnection);
  return true;
}

bool CostPage::suits(const Entries& runs) const {
  return std::any_of(runs.begin(), runs.end(),
                     [](const RunEntry* entry) { return !entry->run().run_case.sku.empty(); });
}

std::optional<double> CostPage::wanted_samples() {
  const QString text = samples_->text().trimmed();
  if (text.isEmpty()) return std::nullopt;
  bool is_number = false;
  const double wanted = text.toDouble(&is_number);
  if (is_number && wanted > 0 && std::isfinite(wanted)) return wanted;
  show_failure("samples", {ErrorCode::kBadInput,
                           QStringLiteral("\"%1\" is no number of samples to train: write it as 300000000 or 3e8").arg(text)});
  return std::nullopt;
}

void CostPage::load() {
  const std::vector<store::RunRecord> runs = subject_records();
  const Prices changed = changed_;
  const std::optional<double> samples = wanted_samples();
  start<Loaded>(
      "costs",
      [runs, changed, samples](JobContext& context) { return load_costs(context, runs, changed, samples); },
      [this](Loaded loaded) {
        if (!loaded.any_sku) {
          return show_message(
              QStringLiteral("None of these runs says what it ran on"),
              QStringLiteral("Costs follow from the catalogue name of the machine. Give it with each run or "
                             "sweep, or as "
                             "the column sku of a table that you import; then prices can be changed here."),
              QStringLiteral("ddbench sweep --nodes 1,2,4 --gpus 8 --sku Standard_ND96asr_v4"));
        }
        skus_ = std::move(loaded.skus);
        cost_->set_figure(std::move(loaded.cost));
        prices_->set_table(std::move(loaded.prices));
        offers_->set_table(std::move(loaded.offers));
      });
}

}  // namespace ddbench::gui
