#include "core/run_case/scheduler_job.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "core/text/number.h"
#include "core/version/build_identity.h"

namespace ddbench {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string first_of(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::string value = variable(name); !value.empty()) return value;
  }
  return {};
}

template <template <typename> typename Key>
void set_known(Facts& facts, const Key<std::string>& key, const std::string& text) {
  if (!text.empty()) set_fact(facts, key, text);
}

}  // namespace

/// Of the user database, as USER may be anything.
std::string current_user() {
  constexpr std::size_t kEnough = 4096;
  std::array<char, kEnough> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  const uid_t user = ::geteuid();
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) return found->pw_name;
  return std::to_string(user);
}

SchedulerJob own_job() {
  struct Scheduler {
    const char* name;
    const char* id;
  };
  constexpr std::array kSchedulers{Scheduler{"slurm", "SLURM_JOB_ID"}, Scheduler{"pbs", "PBS_JOBID"},
                                   Scheduler{"lsf", "LSB_JOBID"}, Scheduler{"sge", "JOB_ID"},
                                   Scheduler{"azureml", "AZUREML_RUN_ID"}};
  SchedulerJob job;
  for (const Scheduler& scheduler : kSchedulers) {
    const std::string id = variable(scheduler.id);
    if (id.empty()) continue;
    job.id = std::string(scheduler.name) + " " + id;
    if (std::string_view(scheduler.name) == "slurm")  // not set in the first start
      job.restarts = number_from<std::int64_t>(variable("SLURM_RESTART_COUNT")).value_or(0);
    job.partition = first_of({"SLURM_JOB_PARTITION", "PBS_QUEUE", "LSB_QUEUE", "QUEUE"});
    job.nodes = first_of({"SLURM_JOB_NODELIST", "LSB_HOSTS"});
    return job;
  }
  return job;
}

void add_origin_facts(Facts& facts) {
  const SchedulerJob job = own_job();
  set_fact(facts, fact_key<"ddbench.version">, std::string(build_version()));
  set_fact(facts, fact_key<"ddbench.commit">, std::string(build_commit()));
  set_fact(facts, fact_key<"owner.user">, current_user());
  set_known(facts, fact_key<"job.id">, job.id);
  set_known(facts, fact_key<"job.partition">, job.partition);
  set_known(facts, fact_key<"job.nodes">, job.nodes);
  if (job.restarts) set_fact(facts, fact_key<"job.restarts">, *job.restarts);
  set_known(facts, fact_key<"image">,
            first_of({"DDBENCH_IMAGE", "SLURM_CONTAINER", "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER", "CONTAINER_IMAGE"}));
}

bool is_earlier_start_of_own_job(const Facts& facts) {
  const SchedulerJob job = own_job();
  const auto id = get_fact(facts, fact_key<"job.id">);
  const auto restarts = get_fact(facts, fact_key<"job.restarts">);
  return job.restarts && id && *id == job.id && restarts && *restarts < *job.restarts;
}

}  // namespace ddbench
