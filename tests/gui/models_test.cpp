#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "gui/models/data_table_model.h"
#include "gui/models/run_filter.h"
#include "gui/models/run_index.h"
#include "gui/models/tool_tip.h"
#include "gui_window.h"

namespace ddbench::gui {
namespace {

using Mode = QAbstractItemModelTester::FailureReportingMode;

RunList sample_list() {
  const auto store = store::RunStore::open(sample_store_file(), store::OpenMode::kReadOnly);
  RunList list = list_runs(store, {});
  measure_entries(store, list, 0, list.size());
  return list;
}

RunEntry entry_of(int number, double efficiency) {
  RunEntry entry;
  entry.measures.run.id = "run-" + std::to_string(number);
  entry.measures.run.started_wall_ns = number * 1'000'000'000LL;
  entry.measures.run.run_case.nodes = 1 + number % 2;
  entry.measures.run.state = store::RunState::kDone;
  entry.measured = true;
  if (efficiency > 0) entry.measures[analyzer::RunMetric::kEfficiency] = efficiency;
  return entry;
}

TEST(Models, ToolTipsShowMarkupAsText) {
  const QString name = QStringLiteral("<img src=\"/etc/hostname\">");
  EXPECT_TRUE(tool_tip(name).contains(QStringLiteral("&lt;img"))) << tool_tip(name).toStdString();
  EXPECT_EQ(tool_tip(QStringLiteral("8 < 16 × 2")), QStringLiteral("8 < 16 × 2"));
}

TEST(Models, RunTableObeysTheRulesOfModelsThroughEveryChange) {
  RunTableModel model;
  RunFilterProxy proxy;
  proxy.setSourceModel(&model);
  const QAbstractItemModelTester of_model(&model, Mode::Fatal);
  const QAbstractItemModelTester of_proxy(&proxy, Mode::Fatal);
  RunList list = sample_list();
  ASSERT_GT(list.size(), 10U);
  model.set_runs(std::make_shared<const RunList>(list));
  EXPECT_EQ(model.rowCount(), static_cast<int>(list.size()));
  for (const RunColumn column : grouping_columns()) {
    model.group_by(column);
    int runs = 0;
    for (int group = 0; group < model.rowCount(); ++group) runs += model.rowCount(model.index(group, 0));
    EXPECT_EQ(runs, static_cast<int>(list.size())) << "grouped by column " << static_cast<int>(column);
  }
  list.pop_back();
  model.set_runs(std::make_shared<const RunList>(list));
  proxy.set_filter({QStringLiteral("4 × 1"), {}, RunColumn::kSize});
  EXPECT_EQ(proxy.rowCount(), 1);
  model.group_by(std::nullopt);
  proxy.set_filter({});
  proxy.sort(static_cast<int>(RunColumn::kThroughput), Qt::DescendingOrder);
  model.set_runs(std::make_shared<const RunList>());
  EXPECT_EQ(proxy.rowCount(), 0);
}

TEST(Models, RowsKeepTheirPlaceWhenOnlyValuesCome) {
  RunTableModel model;
  RunList list{entry_of(2, 0), entry_of(1, 0)};
  model.set_runs(std::make_shared<const RunList>(list));
  const QPersistentModelIndex kept(model.index(1, static_cast<int>(RunColumn::kEfficiency)));
  EXPECT_EQ(kept.data().toString(), QStringLiteral("–"));
  list[1] = entry_of(1, 0.5);
  model.set_runs(std::make_shared<const RunList>(list));
  ASSERT_TRUE(kept.isValid());
  EXPECT_EQ(kept.data().toString(), QStringLiteral("50.0%"));
}

TEST(Models, GroupsAndTheirRowsKeepTheirPlaceWhenOnlyValuesCome) {
  RunTableModel model;
  const QAbstractItemModelTester tester(&model, Mode::Fatal);
  RunList list{entry_of(3, 0), entry_of(2, 0), entry_of(1, 0)};
  model.set_runs(std::make_shared<const RunList>(list));
  model.group_by(RunColumn::kSize);
  ASSERT_EQ(model.rowCount(), 2);
  constexpr int kColumn = static_cast<int>(RunColumn::kEfficiency);
  const QPersistentModelIndex group(model.index(0, kColumn));
  const QPersistentModelIndex row(model.index(1, kColumn, model.index(0, 0)));
  list[2] = entry_of(1, 0.5);
  model.set_runs(std::make_shared<const RunList>(list));
  ASSERT_TRUE(row.isValid());
  EXPECT_EQ(row.data().toString(), QStringLiteral("50.0%"));
  EXPECT_EQ(group.data().toString(), QStringLiteral("ø 50.0%"));
  list[2].measures.run.run_case.nodes = 1;  // it is in the other group then
  model.set_runs(std::make_shared<const RunList>(list));
  EXPECT_FALSE(row.isValid());
  EXPECT_EQ(model.rowCount(model.index(1, 0)), 2);
}

TEST(Models, NumbersHaveFourSignificantDigits) {
  RunEntry entry = entry_of(1, 0);
  const auto shown = [&entry](double throughput) {
    entry.measures[analyzer::RunMetric::kThroughput] = throughput;
    return text_of(entry, RunColumn::kThroughput).toStdString();
  };
  EXPECT_EQ(shown(0.00123), "0.001230");
  EXPECT_EQ(shown(0.99996), "1.000");
  EXPECT_EQ(shown(12.344), "12.34");
  EXPECT_EQ(shown(99.997), "100.0");
  EXPECT_EQ(shown(1234.4), "1,234");
  EXPECT_EQ(shown(2.5e-12), "2.5e-12");
}

TEST(Models, AnIndexHasTheRunsOfASweepWithTheirBaselines) {
  RunList list{entry_of(5, 0), entry_of(4, 0), entry_of(3, 0), entry_of(2, 0), entry_of(1, 0)};
  list[0].measures.run.sweep_id = "b";
  list[0].measures.run.baseline_id = "run-1";
  list[2].measures.run.sweep_id = "a";
  list[3].measures.run.sweep_id = "a";
  list[4].measures.run.is_baseline = true;
  const RunIndex index(list);
  const auto ids = [](const Entries& entries) {
    std::string text;
    for (const RunEntry* each : entries) text += each->run().id + " ";
    return text;
  };
  EXPECT_EQ(ids(index.of_sweep("b")), "run-1 run-5 ");
  EXPECT_EQ(ids(index.of_sweep("a")), "run-2 run-3 ");
  EXPECT_EQ(ids(index.of_sweep("c")), "");
  EXPECT_EQ(ids(index.all()), "run-2 run-3 run-4 run-5 ");
  EXPECT_EQ(ids(entries_with_ids(list, {"run-4", "run-1", "none"})), "run-1 run-4 ");
  ASSERT_EQ(index.sweeps().size(), 2U);
  EXPECT_EQ(index.sweeps()[0].id, "b") << "newest first";
}

TEST(Models, MissingValuesComeLastWhicheverWayIsSorted) {
  RunTableModel model;
  RunFilterProxy proxy;
  proxy.setSourceModel(&model);
  model.set_runs(
      std::make_shared<const RunList>(RunList{entry_of(1, 0.2), entry_of(2, 0), entry_of(3, 0.9)}));
  const auto order = [&](Qt::SortOrder sort) {
    proxy.sort(static_cast<int>(RunColumn::kEfficiency), sort);
    return proxy.visible_runs();
  };
  EXPECT_EQ(order(Qt::AscendingOrder), (std::vector<store::RunId>{"run-1", "run-3", "run-2"}));
  EXPECT_EQ(order(Qt::DescendingOrder), (std::vector<store::RunId>{"run-3", "run-1", "run-2"}));
}

TEST(Models, FiltersAreUndoneOneByOneAndTypingIsOneStep) {
  FilterHistory history;
  RunFilter filter;
  filter.text = QStringLiteral("m");
  history.change(filter);
  filter.text = QStringLiteral("mlp");
  history.change(filter);
  filter.equal[RunColumn::kNetwork] = QStringLiteral("veth");
  history.change(filter);
  EXPECT_TRUE(history.undo().equal.empty());
  EXPECT_EQ(history.current().text, QStringLiteral("mlp"));
  EXPECT_TRUE(history.undo().is_empty());
  EXPECT_FALSE(history.can_undo());
  EXPECT_EQ(history.redo().text, QStringLiteral("mlp"));
  history.change({});
  EXPECT_FALSE(history.can_redo());
}

TEST(Models, DataTableIsAModelAndItsCsvIsHarmless) {
  DataTableModel model;
  const QAbstractItemModelTester tester(&model, Mode::Fatal);
  reports::DataTable table;
  table.columns = {{"name"}, {"value", true}};
  table.rows = {{reports::text_cell("=cmd()"), reports::value_cell(0.125, "0.13")},
                {reports::text_cell("x\r; =1"), reports::value_cell(-2, "-2.0")},
                {reports::text_cell("a,\"b\""), reports::missing_cell("no probes")}};
  model.set_table(table);
  EXPECT_EQ(model.index(2, 1).data(Qt::ToolTipRole).toString(), QStringLiteral("no probes"));
  EXPECT_FALSE(model.index(2, 1).data(DataTableModel::kSortRole).isValid());
  EXPECT_EQ(csv_of(table), QStringLiteral("name,value\n\"'=cmd()\",0.125\n\"x\\r; =1\",-2\n\"a,\"\"b\"\"\",–\n"));
  model.editable_columns = {1};
  QString taken;
  model.edited = [&](int row, int column, const QString& text) {
    taken = QStringLiteral("%1/%2/%3").arg(row).arg(column).arg(text);
    return true;
  };
  EXPECT_TRUE(model.setData(model.index(0, 1), QStringLiteral("7")));
  EXPECT_FALSE(model.setData(model.index(0, 0), QStringLiteral("7")));
  EXPECT_EQ(taken, QStringLiteral("0/1/7"));
}

}  // namespace
}  // namespace ddbench::gui
