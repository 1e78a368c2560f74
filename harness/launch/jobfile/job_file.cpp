#include "harness/launch/jobfile/job_file.h"

#include <fmt/format.h>

#include "core/error.h"
#include "harness/launch/jobfile/formats.h"

namespace ddbench::job {

Format format_from(std::string_view name) {
  if (name == "azureml") return Format::kAzureMl;
  if (name == "sbatch") return Format::kSbatch;
  if (name == "kubeflow") return Format::kKubeflow;
  if (name == "compose") return Format::kCompose;
  throw Error(ErrorCode::kBadInput,
              fmt::format("--emit is \"{}\", but it must be azureml, sbatch, kubeflow or compose", name));
}

std::string job_file(Format format, const Job& job) {
  if (!job.run_case.link.empty()) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format(
            "--link {} shapes a network that is emulated on one machine; a job's nodes have the network "
            "that they have. Leave it out of --emit",
            job.run_case.link));
  }
  switch (format) {
    case Format::kAzureMl: return azureml(job);
    case Format::kSbatch: return sbatch(job);
    case Format::kKubeflow: return kubeflow(job);
    case Format::kCompose: break;
  }
  return compose(job);
}

}  // namespace ddbench::job
