#include "core/run_case/program_case.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace ddbench {
namespace {

TEST(ProgramCase, KeepsEveryArgumentThroughTheStoredCase) {
  const std::vector<std::string> command = {"python3", "-c", "print('it''s \"x\"')\n", "", "--lr=0.1", "ü"};
  RunCase run_case;
  set_program(run_case, command);
  EXPECT_TRUE(is_program(run_case));
  EXPECT_EQ(program_command(run_case_from_json(to_json(run_case))), command);
}

TEST(ProgramCase, IsShownAsOneWouldTypeIt) {
  RunCase run_case;
  EXPECT_EQ(work_in_words(run_case), "mlp");
  set_program(run_case, {"python3", "train.py", "--name", "my run", "it's", ""});
  EXPECT_EQ(work_in_words(run_case), "python3 train.py --name 'my run' 'it'\\''s' ''");
}

TEST(ProgramCase, DiffersByItsCommand) {
  RunCase a;
  RunCase b;
  set_program(a, {"python3", "a b"});
  set_program(b, {"python3", "a", "b"});
  EXPECT_NE(case_key(a), case_key(b));
}

TEST(ProgramCase, ItsBatchIsKnownWhereSomebodySaidIt) {
  RunCase run_case;
  EXPECT_TRUE(has_known_batch(run_case));
  set_program(run_case, {"./train"});
  EXPECT_FALSE(has_known_batch(run_case));
  const std::string key = case_key(run_case);
  state_batch(run_case, 64);
  EXPECT_TRUE(has_known_batch(run_case));
  state_batch(run_case, 1);
  EXPECT_TRUE(has_known_batch(run_case_from_json(to_json(run_case))));
  EXPECT_NE(case_key(run_case), key);
}

TEST(ProgramCase, OnlyTrainingThatStatesABatchHasOne) {
  RunCase run_case;
  run_case.work = ReferenceWorkload{.name = "resnet50", .batch_is_known = false};
  EXPECT_FALSE(has_known_batch(run_case));
  EXPECT_FALSE(has_known_batch(run_case_from_json(to_json(run_case))));
  run_case.work = ReferenceWorkload{"resnet50", {{"batch", "8"}}};  // an option of a table's, of that name
  EXPECT_TRUE(has_known_batch(run_case_from_json(to_json(run_case))));
  run_case.work = Microbenchmark{};
  EXPECT_FALSE(has_known_batch(run_case));
  run_case.work = NcclTests{};
  EXPECT_FALSE(has_known_batch(run_case));
}

TEST(ProgramCase, KeepsHowItIsStarted) {
  RunCase run_case;
  set_program(run_case, {"./train"}, ProgramStart::kPerNode).python_marks = false;
  EXPECT_TRUE(is_program_per_node(run_case));
  const RunCase read = run_case_from_json(to_json(run_case));
  EXPECT_EQ(read, run_case);
  EXPECT_FALSE(std::get<UserProgram>(read.work).python_marks);
  set_program(run_case, {"./train"});
  EXPECT_FALSE(is_program_per_node(run_case));
}

TEST(ProgramCase, RefusesWhatIsNoCommand) {
  RunCase run_case;
  EXPECT_THROW(set_program(run_case, {}), Error);
  EXPECT_THROW(set_program(run_case, {""}), Error);
  EXPECT_THROW(set_program(run_case, {"cat", "\xff\xfe"}), Error);
  EXPECT_THROW(program_command(run_case), Error);
  EXPECT_THROW(program_command(run_case_from_json(R"({"workload":"program"})")), Error);
  for (const char* text : {"", "python3", "[]", "[1]", "{\"a\":1}", "[\"a\""})
    EXPECT_THROW(make_work("program", {{"command", text}}), Error) << text;
}

TEST(ProgramCase, RefusesOptionsThatItsWorkDoesNotHave) {
  EXPECT_THROW(make_work("program", {{"hidden", "8"}}), Error);
  EXPECT_THROW(make_work("nccl-tests", {{"hidden", "8"}}), Error);
  EXPECT_NO_THROW(make_work("resnet", {{"anything", "8"}}));
}

TEST(ProgramCase, EachWorkIsItsOwnAfterAStore) {
  for (const Work& work :
       {Work{ReferenceWorkload{"mlp", {{"hidden", "8"}}}}, Work{ReferenceWorkload{"mlp", {{"hidden", "8"}}, false}}, Work{UserProgram{.command = {"a", "b"}, .one_is_stated = true}},
        Work{Microbenchmark{{{"factor", "2"}}}},
        Work{NcclTests{.function = "all_reduce", .place = "in_place", .redop = "sum", .type = "float"}}}) {
    EXPECT_EQ(make_work(work_name(work), work_options(work)), work) << work_name(work);
    RunCase run_case;
    run_case.work = work;
    EXPECT_EQ(run_case_from_json(to_json(run_case)), run_case);
  }
  RunCase tests;
  tests.work = NcclTests{.function = "all_gather", .place = "out_of_place", .redop = "none", .type = "float"};
  EXPECT_EQ(work_in_words(tests), "nccl-tests all_gather, out of place");
}

}  // namespace
}  // namespace ddbench
