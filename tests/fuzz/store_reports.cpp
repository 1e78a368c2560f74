#include "store_reports.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/batch/batch_analysis.h"
#include "analyzer/catalogue/sku_catalogue.h"
#include "analyzer/collectives/micro_table.h"
#include "analyzer/comparison/compare.h"
#include "analyzer/comparison/compare_by.h"
#include "analyzer/cost/cost.h"
#include "analyzer/diagnose/diagnose_run.h"
#include "analyzer/gate/gate.h"
#include "analyzer/gate/run_history.h"
#include "analyzer/run/run_summary.h"
#include "analyzer/store/rows/run_store.h"
#include "attempt.h"
#include "reports/chart/svg.h"
#include "reports/formats/chakra/chakra.h"
#include "reports/formats/csv/csv.h"
#include "reports/formats/diagnose/diagnosis.h"
#include "reports/formats/gate/gate.h"
#include "reports/formats/html/html.h"
#include "reports/formats/json/json.h"
#include "reports/formats/markdown/markdown.h"
#include "reports/formats/mlflow/mlflow.h"
#include "reports/formats/perfetto/perfetto.h"
#include "reports/formats/prometheus/prometheus.h"
#include "reports/formats/terminal/analysis.h"
#include "reports/formats/terminal/batch.h"
#include "reports/formats/terminal/micro.h"
#include "reports/formats/terminal/text.h"
#include "reports/tables/report.h"

namespace ddbench::fuzz {
namespace {

namespace fs = std::filesystem;

void report_run(const store::RunStore& store, const store::RunId& id, const fs::path& out) {
  attempt([&] {
    const reports::RunReport report = reports::run_report(store, id);
    reports::run_html(report);
    reports::run_markdown(report);
    reports::run_json(report.summary);
    reports::run_text(report.summary, {});
    reports::runs_csv(std::span(&report.summary, 1));
    reports::collectives_csv(std::span(&report.summary, 1));
    reports::runs_prometheus(std::span(&report.summary, 1));
  });
  attempt([&] {
    const store::RunRecord run = store.find(id);
    if (!is_micro(run.run_case)) return;
    const analyzer::MicroTable table = analyzer::micro_table(store, run);
    reports::micro_text(table, {});
    reports::micro_json(table);
  });
  attempt([&] { reports::write_steps_csv(store, std::span(&id, 1), [](std::string_view) {}); });
  attempt([&] { reports::write_perfetto(store, id, {}, [](std::string_view) {}); });
  attempt([&] { reports::export_mlflow(store, id, out / "mlruns"); });
  attempt([&] { reports::export_chakra(store, id, out / "traces"); });
}

void compare_pair(const store::RunStore& store, const store::RunRecord& a, const store::RunRecord& b) {
  attempt([&] {
    const analyzer::Comparison comparison = analyzer::compare_runs(store, {"run a", {a}}, {"run b", {b}});
    reports::comparison_text(comparison, {});
    reports::comparison_json(comparison);
    reports::comparison_html(comparison);
  });
  attempt([&] {
    const auto diagnosis = analyzer::diagnose_run(store, b.id, a);
    reports::diagnosis_text(b, diagnosis, {});
    reports::diagnosis_json(b, diagnosis);
  });
}

/// Each second run against the others: a gate takes two or more a side.
void gate_runs(const store::RunStore& store, const std::vector<store::RunRecord>& runs) {
  analyzer::GatePolicy policy;
  policy.metrics.clear();
  for (int metric = 0; metric < analyzer::kRunMetricCount; ++metric) policy.metrics.push_back(static_cast<analyzer::RunMetric>(metric));
  policy.min_pairs = 2;
  std::array<analyzer::GateSide, 2> sides;
  for (std::size_t at = 0; at < runs.size(); ++at) {
    attempt([&] {
      const std::vector<analyzer::RunMeasures> measures = analyzer::gate_side(store, runs[at].id).runs;
      std::copy(measures.begin(), measures.end(), std::back_inserter(sides[at % 2].runs));
    });
  }
  const analyzer::GateVerdict verdict = judge(std::move(sides[0]), std::move(sides[1]), policy);
  reports::gate_text(verdict, {});
  reports::gate_json(verdict);
  reports::gate_markdown(verdict);
  reports::gate_junit(verdict);
}

void compare_groups(const store::RunStore& store, const std::vector<store::RunRecord>& runs) {
  const analyzer::SkuCatalogue catalogue = analyzer::SkuCatalogue::load();
  for (const char* const field : {"name", "link", "sku", "nodes"}) {
    attempt([&] {
      const analyzer::GroupComparison groups = analyzer::compare_by(store, runs, field);
      const analyzer::CostTable costs = analyzer::cost_table(analyzer::offers_of(groups), catalogue, {});
      reports::groups_text(groups, costs, {});
      reports::groups_json(groups, costs);
    });
  }
  attempt([&] {
    const analyzer::BatchAnalysis analysis = analyzer::batch_analysis(store, runs, catalogue);
    reports::batch_text(analysis, {});
    reports::batch_json(analysis);
  });
}

}  // namespace

void report_store(const fs::path& file, const fs::path& out) {
  const auto store = store::RunStore::open(file, store::OpenMode::kReadOnly);
  std::set<std::string> sweeps;
  std::size_t runs = 0;
  for (const store::RunRecord& run : store.runs()) {
    sweeps.insert(run.sweep_id);
    if (++runs <= kMostReported) report_run(store, run.id, out);
  }
  for (const std::string& sweep : sweeps) {
    attempt([&] {
      const reports::SweepReport report = reports::sweep_report(store, sweep);
      reports::sweep_html(report);
      reports::sweep_markdown(report);
      reports::scaling_json(report.table);
      reports::scaling_text(report.table, {});
    });
  }
}

void compare_in_store(const fs::path& file) {
  const auto store = store::RunStore::open(file, store::OpenMode::kReadOnly);
  const std::vector<store::RunRecord> runs = store.runs();
  for (std::size_t at = 0; at + 1 < runs.size() && at < kMostReported; ++at) compare_pair(store, runs.back(), runs[at]);
  attempt([&] { gate_runs(store, runs); });
  compare_groups(store, runs);
  for (int metric = 0; metric < analyzer::kRunMetricCount; ++metric) {
    attempt([&] {
      const analyzer::RunHistory history = analyzer::run_history(store, static_cast<analyzer::RunMetric>(metric), {}, 0);
      reports::history_text(history, {});
      reports::history_json(history);
      reports::figure_svg(analyzer::history_figure(history));
    });
  }
}

}  // namespace ddbench::fuzz
