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

TEST(ProgramCase, PythonMarksAreWantedUnlessSomebodySaysNo) {
  RunCase run_case;
  EXPECT_FALSE(wants_python_marks(run_case));
  set_program(run_case, {"./train"});
  EXPECT_TRUE(wants_python_marks(run_case));
  leave_out_python_marks(run_case);
  EXPECT_FALSE(wants_python_marks(run_case_from_json(to_json(run_case))));
}

TEST(ProgramCase, RefusesWhatIsNoCommand) {
  RunCase run_case;
  EXPECT_THROW(set_program(run_case, {}), Error);
  EXPECT_THROW(set_program(run_case, {""}), Error);
  EXPECT_THROW(set_program(run_case, {"cat", "\xff\xfe"}), Error);
  EXPECT_THROW(program_command(run_case), Error);
  for (const char* text : {"", "python3", "[]", "[1]", "{\"a\":1}", "[\"a\""}) {
    run_case.workload_options["command"] = text;
    EXPECT_THROW(program_command(run_case), Error) << text;
  }
}

}  // namespace
}  // namespace ddbench
