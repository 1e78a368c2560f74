#include "harness/launch/jobfile/job_file.h"

#include <gtest/gtest.h>

#include <functional>

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

TEST(JobFile, TrainJob) {
  EXPECT_TRUE(matches_golden("job_training_trainjob.yaml", job_file(Format::kTrainJob, training())));
  Job job = program();
  EXPECT_THROW(job_file(Format::kTrainJob, job), Error) << "ranks of MPI";
  job.mpi = false;
  EXPECT_TRUE(matches_golden("job_program_trainjob.yaml", job_file(Format::kTrainJob, job)));
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

TEST(JobFile, WhatOnlyOneFormatHasIsRefusedByTheOthers) {
  const auto refused = [](Format format, const std::function<void(Job&)>& change) {
    Job job = training();
    change(job);
    try {
      job_file(format, job);
    } catch (const Error& error) {
      return error.code() == ErrorCode::kBadInput;
    }
    return false;
  };
  const auto input = [](Job& job) { job.inputs = {{"data", "azureml:imagenet@latest"}}; };
  EXPECT_TRUE(refused(Format::kKubeflow, input));
  EXPECT_FALSE(refused(Format::kAzureMl, input));
  EXPECT_TRUE(refused(Format::kSbatch, [](Job& job) { job.environment = "azureml:e@latest"; }));
  EXPECT_TRUE(refused(Format::kCompose, [](Job& job) { job.tier = Tier::kLowPriority; }));
  EXPECT_TRUE(refused(Format::kAzureMl, [](Job& job) { job.tensorflow = true; }));  // a reference workload
  EXPECT_TRUE(refused(Format::kAzureMl, [](Job& job) { job.environment = "azureml:e@latest", job.image = "i"; }));
  const auto mpi_sweep = [](Job& job) { job.command = "sweep", job.mpi = true; };
  EXPECT_TRUE(refused(Format::kAzureMl, mpi_sweep));
  EXPECT_FALSE(refused(Format::kSbatch, mpi_sweep));
}

TEST(JobFile, ASweepIsOneJobOfItsLargestSize) {
  Job job = training();
  job.command = "sweep";
  job.options = {"--nodes", "1,2", "--gpus", "4", "--baseline"};
  job.run_case.sku = "Standard_ND96asr_v4";
  job.tier = Tier::kLowPriority;
  job.inputs = {{"data", "azureml:imagenet@latest"}};
  EXPECT_TRUE(matches_golden("job_sweep_azureml.yaml", job_file(Format::kAzureMl, job)));
  job.inputs.clear();
  job.tier = Tier::kDedicated;
  job.run_case.requested_network = NetworkRequest::kInfiniBand;
  job.retries = 2;
  job.interface = "eth0";
  job.pull_secret = "registry";
  EXPECT_TRUE(matches_golden("job_sweep_kubeflow.yaml", job_file(Format::kKubeflow, job)));
  EXPECT_TRUE(matches_golden("job_sweep_sbatch.sh", job_file(Format::kSbatch, job)));
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
