#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/run_case/program_case.h"
#include "expect_error.h"
#include "harness/launch/launch.h"
#include "harness/launch/remote/remote_launch.h"
#include "temporary_directory.h"

namespace ddbench::launch {
namespace {

using test::message_of;

RunCase two_by_two() {
  RunCase run_case;
  run_case.nodes = run_case.gpus_per_node = 2;
  return run_case;
}

bool holds(const std::vector<std::string>& words, const std::vector<std::string>& in_a_row) {
  return std::search(words.begin(), words.end(), in_a_row.begin(), in_a_row.end()) != words.end();
}

TEST(RemoteJobs, MpirunPlacesRanksNodeByNode) {
  LauncherOptions options;
  options.hosts = {"127.0.0.1", "127.0.0.2:4"};
  options.arguments = {"--mca", "btl", "self"};
  const RemoteJob job = mpirun_job(two_by_two(), "/opt/ddbench", options, Mpirun::kOpenMpi);
  EXPECT_TRUE(holds(job.command, {"-np", "4", "--map-by", "ppr:2:node"}));
  EXPECT_TRUE(holds(job.command, {"--host", "127.0.0.1:2,127.0.0.2:4"}));
  EXPECT_TRUE(holds(job.command, {"--mca", "btl", "self", "/opt/ddbench", "worker"}));
  EXPECT_EQ(job.listen.address, "127.0.0.1");
  EXPECT_FALSE(job.may_queue);
  for (const std::string& word : job.command)
    EXPECT_EQ(word.find(job.credentials.started.token), std::string::npos);
  const RemoteJob other = mpirun_job(two_by_two(), "/opt/ddbench", options, Mpirun::kOpenMpi);
  EXPECT_NE(job.credentials.started.token, other.credentials.started.token);
  EXPECT_EQ(job.credentials.of(3).token, job.credentials.started.token);
}

TEST(RemoteJobs, ARankFilePlacesAndPinsAlone) {
  test::TemporaryDirectory directory;
  const std::string file = (directory.path() / "ranks").string();
  std::ofstream(file) << "# ours\nrank 1=127.0.0.2 slot=0\nrank 0=127.0.0.1 slot=1\n";
  LauncherOptions options;
  options.rankfile = file;
  EXPECT_EQ(choose_launcher("auto", options), Launcher::kMpirun);
  const RemoteJob job = mpirun_job(two_by_two(), "x", options, Mpirun::kOpenMpi);
  EXPECT_TRUE(holds(job.command, {"-np", "4", "--rankfile", file, "-x"})) << "mpirun refuses any other mapping beside it";
  EXPECT_EQ(job.listen.address, "127.0.0.1");
  EXPECT_ERROR(ErrorCode::kBadInput, "is Open MPI's", mpirun_job(two_by_two(), "x", options, Mpirun::kHydra));
  EXPECT_ERROR(ErrorCode::kBadInput, "--rankfile", choose_launcher("srun", options));
  options.rankfile += "2";
  EXPECT_ERROR(ErrorCode::kBadInput, "no such file", mpirun_job(two_by_two(), "x", options, Mpirun::kOpenMpi));
  std::ofstream(options.rankfile) << "rank 1=a slot=0\n";
  EXPECT_ERROR(ErrorCode::kBadInput, "no line \"rank 0=", mpirun_job(two_by_two(), "x", options, Mpirun::kOpenMpi));
}

TEST(RemoteJobs, HydraHasOptionsOfItsOwn) {
  EXPECT_EQ(mpirun_of("HYDRA build details:\n    Version:                                 4.0.2\n"), Mpirun::kHydra);
  EXPECT_EQ(mpirun_of("Intel(R) MPI Library for Linux* OS, Version 2021.11 Build 20231005 (id: 74c4a23)\n"), Mpirun::kHydra);
  EXPECT_EQ(mpirun_of("mpirun (Open MPI) 4.1.4\n"), Mpirun::kOpenMpi);
  LauncherOptions options;
  options.hosts = {"127.0.0.1:2", "127.0.0.2"};
  options.arguments = {"-iface", "eth0"};
  const RemoteJob job = mpirun_job(two_by_two(), "/opt/ddbench", options, Mpirun::kHydra);
  EXPECT_TRUE(holds(job.command, {"-n", "4", "-ppn", "2"}));
  EXPECT_TRUE(holds(job.command, {"-hosts", "127.0.0.1:2,127.0.0.2", "-iface", "eth0", "/opt/ddbench", "worker"}));
  EXPECT_EQ(job.listen.address, "127.0.0.1");
}

TEST(RemoteJobs, ARankWithinAStepOverlapsIt) {
  LauncherOptions options;
  options.interface = "lo";
  const auto overlaps = [&](const Variables& variables) { return holds(srun_job(two_by_two(), "x", options, variables).command, {"--overlap"}); };
  EXPECT_TRUE(overlaps({{"SLURM_JOB_ID", "1"}, {"SLURM_STEP_ID", "0"}}));
  EXPECT_FALSE(overlaps({{"SLURM_JOB_ID", "1"}})) << "of a batch script: steps of a job keep out of each other's cores";
}

TEST(RemoteJobs, SrunTakesWhatSlurmNeeds) {
  LauncherOptions options;
  options.partition = "gpu";
  options.account = "lab";
  options.interface = "lo";
  const RemoteJob queued = srun_job(two_by_two(), "/opt/ddbench", options, {});
  EXPECT_TRUE(holds(queued.command, {"--nodes=2", "--ntasks=4", "--ntasks-per-node=2"}));
  EXPECT_TRUE(holds(queued.command, {"--partition=gpu", "--account=lab", "/opt/ddbench", "worker"}));
  EXPECT_TRUE(queued.may_queue);
  EXPECT_FALSE(srun_job(two_by_two(), "/opt/ddbench", options, {{"SLURM_JOB_ID", "1"}}).may_queue);
  options.interface.clear();
  EXPECT_NE(
      message_of(ErrorCode::kBadInput, [&] { srun_job(two_by_two(), "x", options, {}); }).find("--interface"),
      std::string::npos);
}

TEST(RemoteJobs, AStartedWorldMustBeThatOfTheCase) {
  Placement placement;
  placement.source = "torchrun";
  placement.world_size = 4;
  placement.local_world_size = 2;
  placement.master_address = "10.0.0.1";
  placement.master_port = 29400;
  placement.job = "7";
  const RemoteJob job = env_job(two_by_two(), "x", {}, placement);
  EXPECT_EQ(to_string(job.listen), "10.0.0.1:29401");
  EXPECT_EQ(job.credentials.of(0).token.size(), 32u) << "the own worker's";
  EXPECT_EQ(job.credentials.of(1).token, "") << "a job's name is no secret";
  EXPECT_EQ(job.credentials.of(1).job, "7");
  placement.local_world_size = 4;
  EXPECT_NE(
      message_of(ErrorCode::kBadInput, [&] { env_job(two_by_two(), "x", {}, placement); }).find("4 on each"),
      std::string::npos);
}

TEST(RemoteJobs, ManyRanksSendSampledSpansByThemselves) {
  RunCase run_case = two_by_two();
  EXPECT_FALSE(reduces_spans(run_case, SentSpans::kAuto));
  EXPECT_TRUE(reduces_spans(run_case, SentSpans::kSampled));
  run_case.nodes = 16;  // 32 ranks
  EXPECT_TRUE(reduces_spans(run_case, SentSpans::kAuto));
  EXPECT_FALSE(reduces_spans(run_case, SentSpans::kAll));
  run_case.work = UserProgram{};
  EXPECT_FALSE(reduces_spans(run_case, SentSpans::kAuto)) << "a program's steps are found when it has ended";
  message_of(ErrorCode::kBadInput, [&] { reduces_spans(run_case, SentSpans::kSampled); });
}

TEST(RemoteJobs, OptionsWithoutUseAreNamed) {
  LauncherOptions options;
  options.partition = "gpu";
  EXPECT_NE(message_of(ErrorCode::kBadInput, [&] { choose_launcher("mpirun", options); }).find("--partition"),
            std::string::npos);
  EXPECT_NE(message_of(ErrorCode::kBadInput, [&] { choose_launcher("pbs", {}); }).find("srun"),
            std::string::npos);
  EXPECT_EQ(choose_launcher("srun", options), Launcher::kSrun);
}

TEST(Endpoint, TextAndBack) {
  EXPECT_EQ(to_string(endpoint_from("10.0.0.1:80")), "10.0.0.1:80");
  EXPECT_EQ(endpoint_from("[fe80::1]:80").address, "fe80::1");
  EXPECT_EQ(to_string(endpoint_from("[fe80::1]:80")), "[fe80::1]:80");
  for (const char* text : {"", "10.0.0.1", ":x", "a:70000"}) {
    message_of(ErrorCode::kBadInput, [&] { endpoint_from(text); });
  }
}

}  // namespace
}  // namespace ddbench::launch
