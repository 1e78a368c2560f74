#pragma once

#include <string>

#include "harness/launch/jobfile/job_file.h"
#include "harness/launch/jobfile/yaml.h"

/// What all jobs of Kubernetes have, by whichever operator.
namespace ddbench::job {

/// The store in a pod.
inline constexpr const char* kStore = "/results/results.db";

/// Variables of a container: the run's secret, which is none of the file's, the interface and those of the job.
Document environment_of(const Job& job);

/// A pod that is a node; `container` is complete but for what all nodes have.
Document pod(const Job& job, Document container);

/// How to submit the file, for its comment.
std::string how_to_apply(const Job& job);

/// What to replace in the pods and how to fetch the store, for the file's comment.
std::string about_pods(const Job& job);

}  // namespace ddbench::job
