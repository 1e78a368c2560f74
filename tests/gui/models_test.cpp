#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "gui/models/data_table_model.h"
#include "gui/models/run_filter.h"
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
