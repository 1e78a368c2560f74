#include "harness/launch/remote/slurm_job_end.h"

#include <gtest/gtest.h>

namespace ddbench::launch {
namespace {

using Cause = JobEnd::Cause;

// As Slurm 22.05 prints it.
constexpr std::string_view kCancelled =
    "srun: Job step aborted: Waiting up to 4 seconds for job step to finish.\n"
    "srun: error: n2: task 1: Exited with exit code 143\n"
    "slurmstepd-n1: error: *** STEP 1.0 ON n1 CANCELLED AT 2026-11-23T17:31:25 ***\n";

TEST(SlurmJobEnd, WhatSlurmDidIsDistinguished) {
  EXPECT_EQ(slurm_job_end(kCancelled).cause, Cause::kCancelled);
  EXPECT_EQ(slurm_job_end(kCancelled).job, "1");
  EXPECT_TRUE(is_still_running("JobId=1 JobName=a JobState=RUNNING Reason=None Restarts=0"));
  EXPECT_FALSE(is_still_running("JobId=1 JobName=a JobState=COMPLETING Reason=None Restarts=0"));
  EXPECT_EQ(slurm_job_end("slurmstepd: error: *** STEP 2.0 ON n1 CANCELLED AT 2026-11-23T17:31:33 DUE TO JOB REQUEUE ***\n").cause,
            Cause::kPreempted);
  EXPECT_EQ(slurm_job_end("slurmstepd: error: *** STEP 2.0 ON n1 CANCELLED AT 2026-11-23T17:31:33 DUE TO PREEMPTION ***\n").cause,
            Cause::kPreempted);
  EXPECT_EQ(slurm_job_end("slurmstepd: error: *** STEP 2.0 ON n1 CANCELLED AT 2026-11-23T17:31:33 DUE TO TIME LIMIT ***\n").cause,
            Cause::kTimeLimit);
  EXPECT_EQ(slurm_job_end("srun: error: n2: task 1: Killed\n").cause, Cause::kNotKnown);
  EXPECT_EQ(slurm_job_end(std::string_view()), JobEnd{});
}

TEST(SlurmJobEnd, ALostNodeIsNamedWhateverElseIsPrinted) {
  const JobEnd end = slurm_job_end(
      "slurmstepd-n1: error: *** STEP 3.0 ON n1 CANCELLED AT 2026-11-23T17:31:44 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR "
      "DETAILS ***\nsrun: error: Node failure on n2\nsrun: error: Node failure on n2\r\n" +
      std::string(kCancelled));
  EXPECT_EQ(end.cause, Cause::kNodeLost);
  EXPECT_EQ(end.lost_nodes, std::vector<std::string>{"n2"});
}

TEST(SlurmJobEnd, RanksCannotSpeakForSlurm) {
  EXPECT_EQ(slurm_job_end("my program: *** STEP 1.0 ON n1 CANCELLED AT 2026 ***\nNode failure on n7\n"), JobEnd{});
}

}  // namespace
}  // namespace ddbench::launch
