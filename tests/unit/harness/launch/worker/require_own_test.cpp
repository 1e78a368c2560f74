#include "harness/launch/worker/require_own.h"

#include <gtest/gtest.h>

#include <functional>

#include "core/run_case/program_case.h"
#include "expect_error.h"

namespace ddbench::launch {
namespace {

using test::message_of;

/// Rank 3 of 2 nodes x 2, whose command line states 100 steps and checkpoints in /data.
class OwnCommandTest : public ::testing::Test {
 protected:
  OwnCommandTest() {
    RunCase run_case;
    run_case.nodes = run_case.gpus_per_node = 2;
    run_case.steps = 100;
    run_case.checkpoint_every = 10;
    own_ = {.run_case = run_case, .checkpoints = "/data/runs.db.checkpoints"};
    placement_.rank = 3;
    placement_.world_size = 4;
    placement_.local_rank = 1;
    placement_.local_world_size = 2;
    honest_.run_case = run_case;
    honest_.rank = 3;
    honest_.world_size = 4;
    honest_.local_rank = honest_.node = 1;
    honest_.core_slot = 3;
    honest_.run_id = "20261121T183511-3303bb6b";
    honest_.checkpoint_directory = "/data/runs.db.checkpoints/20261121T183511-3303bb6b";
    honest_.resume_from = honest_.checkpoint_directory + "/step-00000010";
  }

  /// Why an assignment is refused that differs in this from an honest one; empty when it is not.
  std::string refusal(const std::function<void(Assignment&)>& change) {
    Assignment assignment = honest_;
    change(assignment);
    try {
      require_own(assignment, own_, placement_);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      EXPECT_NE(error.message().find("DDBENCH_TOKEN"), std::string::npos) << error.message();
      return error.message();
    }
    return {};
  }

  OwnCommand own_;
  Placement placement_;
  Assignment honest_;
};

TEST_F(OwnCommandTest, WhatTheCommandLineSaysIsDone) {
  EXPECT_EQ(refusal([](Assignment&) {}), "");
  EXPECT_EQ(refusal([](Assignment& a) { a.resume_from.clear(); }), "");
  EXPECT_EQ(refusal([](Assignment& a) { a.core_slot = -1; }), "");
  own_.checkpoints = "/data/runs.db.checkpoints/";
  EXPECT_EQ(refusal([](Assignment&) {}), "") << "as --checkpoint-dir may be written";
}

TEST_F(OwnCommandTest, AProgramThatItDoesNotNameIsNotRun) {
  const std::string why = refusal([](Assignment& a) { set_program(a.run_case, {"/bin/sh", "-c", "id"}); });
  EXPECT_NE(why.find("workload"), std::string::npos) << why;
  set_program(*own_.run_case, {"./train", "--lr", "1"});
  honest_.run_case = *own_.run_case;
  EXPECT_EQ(refusal([](Assignment&) {}), "");
  EXPECT_NE(refusal([](Assignment& a) { set_program(a.run_case, {"./train", "--lr", "2"}); }), "");
  EXPECT_NE(refusal([](Assignment& a) { set_program(a.run_case, {"./train"}); }), "");
}

TEST_F(OwnCommandTest, TheCaseIsTheRanksOwn) {
  EXPECT_NE(refusal([](Assignment& a) { a.run_case.steps = 200; }).find("steps is 200 there and 100 here"),
            std::string::npos);
  EXPECT_NE(refusal([](Assignment& a) { a.run_case.data = "/etc"; }), "");
  EXPECT_NE(refusal([](Assignment& a) { a.run_case.requested_network = NetworkRequest::kInfiniBand; }), "");
  Assignment assignment = honest_;
  assignment.run_case.name = "a label";
  require_own(assignment, own_, placement_);
  EXPECT_EQ(assignment.run_case, *own_.run_case) << "labels included";
}

TEST_F(OwnCommandTest, ASecretDoesNotMakeAnotherCaseTheRanksOwn) {
  Assignment assignment = honest_;
  assignment.run_case.name = "a label";
  assignment.run_case.sku = "Standard_ND96isr_H100_v5";
  require_same_case(assignment, own_);
  assignment.checkpoint_directory = "/elsewhere";  // rank 0 says where, to ranks that know it
  require_same_case(assignment, own_);
  assignment.run_case.lr = 0.25;
  assignment.run_case.steps = 200;
  const std::string why = message_of(ErrorCode::kBadInput, [&] { require_same_case(assignment, own_); });
  EXPECT_NE(why.find("lr is 0.25 there and"), std::string::npos) << why;
  EXPECT_NE(why.find("steps is 200 there and 100 here"), std::string::npos) << why;
  EXPECT_EQ(why.find("DDBENCH_TOKEN"), std::string::npos) << why;
  own_.run_case.reset();
  require_same_case(assignment, own_);
}

TEST_F(OwnCommandTest, PlaceAndNumbersAreThoseOfTheEnvironment) {
  EXPECT_NE(refusal([](Assignment& a) { a.rank = 2; }), "");
  EXPECT_NE(refusal([](Assignment& a) { a.world_size = 8; }), "");
  EXPECT_NE(refusal([](Assignment& a) { a.local_rank = 0; }), "");
  EXPECT_NE(refusal([](Assignment& a) { a.node = 0; }), "");
  EXPECT_NE(refusal([](Assignment& a) { a.core_slot = 2'000'000'000; }), "");
  EXPECT_NE(refusal([](Assignment& a) { a.core_slot = -2; }), "");
}

TEST_F(OwnCommandTest, NothingIsWrittenOrReadOutsideOfItsFolders) {
  for (const char* id : {"", "..", "../../home/thesis", "a/b", ".ssh", "a\nb"}) {
    EXPECT_NE(refusal([&](Assignment& a) { a.run_id = id; }), "") << id;
  }
  for (const char* directory :
       {"", "/", "/home/thesis", "/data/runs.db.checkpoints", "/data/runs.db.checkpoints/..",
        "/data/runs.db.checkpoints/a/b", "/data/other/a"}) {
    EXPECT_NE(refusal([&](Assignment& a) { a.checkpoint_directory = directory; }), "") << directory;
  }
  for (const char* from : {"/etc", "/data/runs.db.checkpoints/x/step-1", "step-1"}) {
    EXPECT_NE(refusal([&](Assignment& a) { a.resume_from = from; }), "") << from;
  }
  EXPECT_NE(refusal([](Assignment& a) { a.resume_from = a.checkpoint_directory + "/.."; }), "");
  own_.run_case->checkpoint_every = honest_.run_case.checkpoint_every = 0;
  EXPECT_NE(refusal([](Assignment&) {}), "") << "this case has no checkpoints";
}

TEST_F(OwnCommandTest, ARankThatResumesNeedsASecret) {
  own_.run_case.reset();
  EXPECT_NE(refusal([](Assignment&) {}).find("--resume"), std::string::npos);
}

TEST_F(OwnCommandTest, RankZeroIsWhereTheOwnEnvironmentSays) {
  message_of(ErrorCode::kBadInput, [&] { own_master(placement_); });
  placement_.master_address = "node0";
  message_of(ErrorCode::kBadInput, [&] { own_master(placement_); });
  placement_.master_port = 29400;
  EXPECT_EQ(to_string(own_master(placement_)), "node0:29400");
}

}  // namespace
}  // namespace ddbench::launch
