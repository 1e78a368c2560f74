#include "harness/launch/start/placement.h"

#include <gtest/gtest.h>

#include "expect_error.h"
#include "harness/launch/start/torchrun_variables.h"

namespace ddbench::launch {
namespace {

using test::message_of;

TEST(Placement, NobodyStartedIt) {
  EXPECT_FALSE(read_placement({{"PATH", "/bin"}, {"MASTER_ADDR", "a"}}).found());
}

TEST(Placement, Torchrun) {
  const Placement placement = read_placement({{"RANK", "3"},
                                              {"WORLD_SIZE", "4"},
                                              {"LOCAL_RANK", "1"},
                                              {"LOCAL_WORLD_SIZE", "2"},
                                              {"MASTER_ADDR", "node0"},
                                              {"MASTER_PORT", "29400"},
                                              {"TORCHELASTIC_RUN_ID", "job7"}});
  EXPECT_EQ(placement.source, "torchrun");
  EXPECT_EQ(placement.rank, 3);
  EXPECT_EQ(placement.world_size, 4);
  EXPECT_EQ(placement.local_rank, 1);
  EXPECT_EQ(placement.local_world_size, 2);
  EXPECT_EQ(placement.master_address, "node0");
  EXPECT_EQ(placement.master_port, 29400);
  EXPECT_EQ(placement.job, "job7");
}

TEST(Placement, HorovodrunWithItsOwnController) {
  const Placement placement = read_placement({{"HOROVOD_RANK", "3"},
                                              {"HOROVOD_SIZE", "4"},
                                              {"HOROVOD_LOCAL_RANK", "1"},
                                              {"HOROVOD_LOCAL_SIZE", "2"},
                                              {"MASTER_ADDR", "node0"}});
  EXPECT_EQ(placement.source, "Horovod");
  EXPECT_EQ(placement.rank, 3);
  EXPECT_EQ(placement.local_world_size, 2);
  EXPECT_EQ(placement.master_address, "node0");
  EXPECT_NE(message_of(ErrorCode::kBadInput, [] { read_placement({{"HOROVOD_RANK", "3"}}); }).find("HOROVOD_SIZE"), std::string::npos);
}

TEST(Placement, TensorFlowReadsWhatProgramsAreGiven) {
  const std::vector<Endpoint> workers{{"10.0.0.1", 29501}, {"10.0.0.2", 29502}};
  const Placement placement = read_placement({{"TF_CONFIG", tf_config(workers, 1)}});
  EXPECT_EQ(placement.rank, 1);
  EXPECT_EQ(placement.world_size, 2);
  EXPECT_EQ(placement.master_address, "10.0.0.1");
}

TEST(Placement, KubeflowStartsOneProcessANode) {
  const Placement placement =
      read_placement({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "job-master-0"}});
  EXPECT_EQ(placement.local_rank, 0);
  EXPECT_EQ(placement.local_world_size, 1);
}

TEST(Placement, OpenMpiOnAzure) {
  const Placement placement = read_placement({{"OMPI_COMM_WORLD_RANK", "5"},
                                              {"OMPI_COMM_WORLD_SIZE", "8"},
                                              {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                                              {"AZ_BATCH_MASTER_NODE", "10.0.0.4:6105"}});
  EXPECT_EQ(placement.source, "Open MPI");
  EXPECT_EQ(placement.master_address, "10.0.0.4");
  EXPECT_EQ(placement.master_port, 0);
  EXPECT_EQ(placement.local_world_size, 4);
}

TEST(Placement, ASlurmStepAndPmiAgree) {
  const Placement placement = read_placement({{"SLURM_PROCID", "2"},
                                              {"SLURM_STEP_NUM_TASKS", "4"},
                                              {"SLURM_LOCALID", "0"},
                                              {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"},
                                              {"SLURM_STEP_NODELIST", "n[01-02]"},
                                              {"SLURM_JOB_ID", "17"},
                                              {"PMI_RANK", "2"},
                                              {"PMI_SIZE", "4"}});
  EXPECT_EQ(placement.rank, 2);
  const Placement alone = read_placement({{"SLURM_PROCID", "2"},
                                          {"SLURM_STEP_NUM_TASKS", "4"},
                                          {"SLURM_LOCALID", "0"},
                                          {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"},
                                          {"SLURM_STEP_NODELIST", "n[01-02]"},
                                          {"SLURM_JOB_ID", "17"}});
  EXPECT_EQ(alone.source, "Slurm");
  EXPECT_EQ(alone.local_world_size, 2);
  EXPECT_EQ(alone.master_address, "n01");
  EXPECT_EQ(alone.job, "17");
}

TEST(Placement, ABatchScriptIsNoRank) {
  EXPECT_FALSE(
      read_placement({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "17"}}).found());
}

TEST(Placement, TheNearestStarterCounts) {
  // mpirun's daemons are tasks of a Slurm step; torchrun's agents may be ranks of mpirun.
  const Placement placement = read_placement({{"OMPI_COMM_WORLD_RANK", "3"},
                                              {"OMPI_COMM_WORLD_SIZE", "4"},
                                              {"SLURM_PROCID", "1"},
                                              {"SLURM_STEP_NUM_TASKS", "2"}});
  EXPECT_EQ(placement.rank, 3);
  const Placement inner = read_placement({{"OMPI_COMM_WORLD_RANK", "1"},
                                          {"OMPI_COMM_WORLD_SIZE", "2"},
                                          {"RANK", "5"},
                                          {"WORLD_SIZE", "8"},
                                          {"TORCHELASTIC_RUN_ID", "x"}});
  EXPECT_EQ(inner.rank, 5);
}

TEST(Placement, TwoThatDisagreeAreBothNamed) {
  const std::string message = message_of(ErrorCode::kBadInput, [] {
    read_placement(
        {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  });
  EXPECT_NE(message.find("OMPI_COMM_WORLD_RANK is 0"), std::string::npos) << message;
  EXPECT_NE(message.find(" RANK is 1"), std::string::npos) << message;
}

TEST(Placement, WhatIsIncompleteOrImpossibleIsNamed) {
  const auto refusal = [](const Variables& variables) {
    return message_of(ErrorCode::kBadInput, [&] { read_placement(variables); });
  };
  EXPECT_NE(refusal({{"RANK", "1"}}).find("WORLD_SIZE"), std::string::npos);
  EXPECT_NE(refusal({{"RANK", "one"}, {"WORLD_SIZE", "2"}}).find("\"one\""), std::string::npos);
  EXPECT_NE(refusal({{"RANK", "2"}, {"WORLD_SIZE", "2"}}).find("rank 2 of 2"), std::string::npos);
  EXPECT_NE(refusal({{"SLURM_PROCID", "1"},
                     {"SLURM_STEP_NUM_TASKS", "3"},
                     {"SLURM_LOCALID", "0"},
                     {"SLURM_STEP_TASKS_PER_NODE", "2,1"}})
                .find("same number"),
            std::string::npos);
}

TEST(Placement, TheFirstNodeOfAList) {
  EXPECT_EQ(first_of_nodes("n3"), "n3");
  EXPECT_EQ(first_of_nodes("a,n[1-2]"), "a");
  EXPECT_EQ(first_of_nodes("n[007-9,11],m1"), "n007");
}

TEST(Placement, TensorFlowGetsTfConfig) {
  const auto config = [](const char* task) {
    return std::string(R"({"cluster": {"worker": ["10.0.0.5:2222", "10.0.0.6:2222"], "chief": ["10.0.0.4:2222"]}, "task": )") + task + "}";
  };
  const Placement placement = read_placement({{"TF_CONFIG", config(R"({"type": "worker", "index": 1})")}});
  EXPECT_EQ(placement.source, "TF_CONFIG");
  EXPECT_EQ(placement.rank, 2);  // after the chief
  EXPECT_EQ(placement.world_size, 3);
  EXPECT_EQ(placement.local_world_size, 1);
  EXPECT_EQ(placement.master_address, "10.0.0.4");
  EXPECT_EQ(read_placement({{"TF_CONFIG", config(R"({"type": "chief", "index": 0})")}}).rank, 0);
  EXPECT_EQ(read_placement({{"TF_CONFIG", "not read"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}}).source, "torchrun");
  for (const std::string& wrong : {std::string("{"), std::string("[]"), config("{}"), config(R"({"type": "ps", "index": 0})"),
                                   config(R"({"type": "worker", "index": 2})"), std::string(R"({"cluster": {"worker": 3}, "task": {"type": "worker", "index": 0}})")}) {
    EXPECT_NE(message_of(ErrorCode::kBadInput, [&] { read_placement({{"TF_CONFIG", wrong}}); }).find("TF_CONFIG"), std::string::npos) << wrong;
  }
}

}  // namespace
}  // namespace ddbench::launch
