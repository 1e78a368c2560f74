#include "harness/launch/jobfile/job_file.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/run_case/program_case.h"
#include "harness/launch/jobfile/command.h"
#include "tests/golden/golden.h"

namespace ddbench::job {
namespace {

using golden::matches_golden;

/// A reference workload on GPUs that can go on after a preemption; nothing beside it is said.
Job training() {
  Job job;
  job.run_case.nodes = 2;
  job.run_case.gpus_per_node = 4;
  job.run_case.checkpoint_every = 100;
  job.options = {"--workload", "mlp",    "-O", "hidden=64,64",       "--nodes",
                 "2",          "--gpus", "4",  "--checkpoint-every", "100"};
  return job;
}

/// A program of MPI on cores, with all that can be said, and with arguments that every layer of quoting must
/// keep.
Job program() {
  Job job;
  job.program = {"./train", "--note", "it's $HOME, $(id) and \"more\"", "--map", "a: b # c"};
  job.run_case.nodes = 3;
  job.run_case.gpus_per_node = 2;
  job.run_case.name = "Nightly Run_7";
  set_program(job.run_case, job.program);
  job.options = {"--nodes", "3", "--gpus", "2", "--backend", "mpi"};
  job.gpus = false;
  job.mpi = true;
  job.image = "registry.internal:5000/team/train:1.2";
  job.compute = "cpu-cluster";
  job.partition = "short";
  job.account = "research";
  job.store = "/data/results.db";
  return job;
}

TEST(JobFile, AzureMl) {
  EXPECT_TRUE(matches_golden("job_training_azureml.yaml", job_file(Format::kAzureMl, training())));
  EXPECT_TRUE(matches_golden("job_program_azureml.yaml", job_file(Format::kAzureMl, program())));
}

TEST(JobFile, Sbatch) {
  EXPECT_TRUE(matches_golden("job_training_sbatch.sh", job_file(Format::kSbatch, training())));
  EXPECT_TRUE(matches_golden("job_program_sbatch.sh", job_file(Format::kSbatch, program())));
}

TEST(JobFile, Kubeflow) {
  EXPECT_TRUE(matches_golden("job_training_kubeflow.yaml", job_file(Format::kKubeflow, training())));
  EXPECT_TRUE(matches_golden("job_program_kubeflow.yaml", job_file(Format::kKubeflow, program())));
}

TEST(JobFile, Compose) {
  EXPECT_TRUE(matches_golden("job_training_compose.yaml", job_file(Format::kCompose, training())));
  Job job = program();
  job.mpi = false;
  EXPECT_TRUE(matches_golden("job_program_compose.yaml", job_file(Format::kCompose, job)));
}

TEST(JobFile, WhatAFormatCannotSayIsRefused) {
  EXPECT_THROW(job_file(Format::kCompose, program()), Error);
  Job shaped = training();
  shaped.run_case.link = "1gbit";
  EXPECT_THROW(job_file(Format::kSbatch, shaped), Error);
  EXPECT_THROW(format_from("pbs"), Error);
  EXPECT_EQ(format_from("kubeflow"), Format::kKubeflow);
}

TEST(JobName, IsWhatEverySchedulerTakes) {
  const auto name_of = [](const std::string& name) {
    Job job;
    job.run_case.name = name;
    return job_name(job);
  };
  EXPECT_EQ(name_of(""), "ddbench-mlp");
  EXPECT_EQ(name_of("A b__C"), "a-b-c");
  EXPECT_EQ(name_of("2026/11"), "run-2026-11");
  EXPECT_EQ(name_of("--"), "ddbench");
  EXPECT_EQ(name_of("\xc3\xa9"), "ddbench");
  EXPECT_EQ(name_of(std::string(39, 'a') + "-" + std::string(30, 'b')), std::string(39, 'a'));
}

}  // namespace
}  // namespace ddbench::job
