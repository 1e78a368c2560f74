#include <gtest/gtest.h>

#include "analyzer/run/run_summary.h"
#include "reports/tables/next_steps.h"
#include "sample_store_test.h"

namespace ddbench::reports {
namespace {

/// What a terminal's report suggests of stored runs.
class StoredNextSteps : public test::SampleStore {
 protected:
  static std::string commands_of(const store::RunId& id) {
    std::string commands;
    for (const auto& row : next_steps_data(store(), analyzer::summarize(store(), id)).rows) commands += row.front().text + "\n";
    return commands;
  }
  static store::RunId add(int nodes, int gpus, int number) {
    test::SampleRun run;
    run.number = number;
    run.run_case.nodes = nodes;
    run.run_case.gpus_per_node = gpus;
    run.run_case.link = nodes > 1 ? "10gbit" : "";
    run.run_case.steps = 40;
    return test::add_sample_run(store(), run);
  }
};

TEST_F(StoredNextSteps, PredictWithWhatTheRunMeasured) {
  const std::string inside = commands_of(add(1, 2, 100));
  EXPECT_NE(inside.find("ddbench diagnose "), std::string::npos) << inside;
  EXPECT_NE(inside.find("ddbench advise "), std::string::npos) << inside;
  EXPECT_NE(inside.find(" --nodes 2 --link 10gbit,20us\n"), std::string::npos) << inside;
  const std::string between = commands_of(add(2, 1, 101));
  EXPECT_NE(between.find(" --nodes 4 --link 10gbit,20us\n"), std::string::npos) << between;
  const std::string both = commands_of(add(2, 2, 102));
  EXPECT_NE(both.find(" --nodes 4\n"), std::string::npos) << "a link of its own needs what collectives cost inside a node: " << both;
}

TEST_F(StoredNextSteps, NeedTheSpans) {
  const store::RunId id = add(2, 1, 103);
  store().delete_spans(id);
  const std::string commands = commands_of(id);
  EXPECT_EQ(commands.find("advise"), std::string::npos) << commands;
  EXPECT_EQ(commands.find("predict"), std::string::npos) << commands;
}

TEST_F(StoredNextSteps, OfARunOfOneRankOrAFailedOneCompareNoRanks) {
  for (const store::RunId& id : {ids()[0], ids()[3]}) {
    EXPECT_EQ(commands_of(id).find("predict"), std::string::npos) << commands_of(id);
  }
  EXPECT_EQ(commands_of(ids()[0]).find("diagnose"), std::string::npos);
  EXPECT_EQ(commands_of(ids()[3]).find("advise"), std::string::npos);
}

}  // namespace
}  // namespace ddbench::reports
