#pragma once

#include <string>

#include "harness/launch/jobfile/job_file.h"

namespace ddbench::job {

// One file a format, as job_file.
std::string azureml(const Job& job);
std::string sbatch(const Job& job);
std::string kubeflow(const Job& job);
std::string trainjob(const Job& job);
std::string compose(const Job& job);

}  // namespace ddbench::job
