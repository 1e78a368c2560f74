#pragma once

#include <string>

#include "harness/launch/jobfile/job_file.h"

namespace ddbench::job {

/// Name of the job: of the case, or made of its workload; only what Kubernetes, Docker and Slurm all take
/// (lower-case letters, digits and -, at most 40).
std::string job_name(const Job& job);

/// Whether the job can go on after it was stopped.
bool is_restartable(const Job& job);

/// The ddbench command of the job for a shell. `default_store`: --db where the job names none; empty:
/// ddbench's own.
std::string command_line(const Job& job, const std::string& launcher, const std::string& default_store);

/// For bash, on each node, with NODE_RANK, MASTER_ADDR and MASTER_PORT set: starts the node's ranks, passes
/// SIGTERM on to them and ends when all have, with the status of one that failed. `node_rank`: the variable
/// that has the node's.
std::string node_script(const Job& job, const std::string& node_rank, const std::string& default_store);

/// "export KEY=VALUE" of each of the job's environment variables, a line each, for a shell.
std::string exports(const Job& job);

/// What to do when the job has ended, for the file's comment. `store`: where its results are then; empty: in the user's own.
std::string what_follows(const Job& job, const std::string& store);

/// The text with each $ doubled, for files in which $ begins a variable of their own.
std::string with_doubled_dollars(const std::string& text);

/// The variable that gives every rank the run's secret (harness/launch), and a shell command that makes one.
inline constexpr const char* kTokenVariable = "DDBENCH_TOKEN";
inline constexpr const char* kMakeToken = "openssl rand -hex 16";

/// Job::image or its placeholder.
std::string image(const Job& job);

}  // namespace ddbench::job
