#include <fmt/format.h>

#include "harness/launch/jobfile/command.h"
#include "harness/launch/jobfile/formats.h"
#include "harness/launch/jobfile/yaml.h"

namespace ddbench::job {
namespace {

// Before the time limit or the end of a preemption's grace: enough for a last checkpoint.
constexpr int kWarning_s = 60;

std::string directives(const Job& job) {
  std::string text;
  const auto add = [&text](const std::string& option) { text += "#SBATCH " + option + "\n"; };
  add("--job-name=" + job_name(job));
  add(fmt::format("--nodes={}", job.run_case.nodes));
  add(fmt::format("--ntasks-per-node={}", processes_per_node(job)));
  if (job.gpus) add(fmt::format("--gpus-per-node={}", job.run_case.gpus_per_node));
  if (job.resources.cpus > 0) add(fmt::format("--cpus-per-task={}", job.resources.cpus));
  if (!job.resources.memory.empty()) add("--mem=" + job.resources.memory);
  if (!job.resources.time.empty()) add("--time=" + job.resources.time);
  if (job.resources.exclusive) add("--exclusive");
  if (!job.partition.empty()) add("--partition=" + job.partition);
  if (!job.account.empty()) add("--account=" + job.account);
  add("--output=" + job_name(job) + "-%j.out");
  add(fmt::format("--signal=B:TERM@{}", kWarning_s));
  if (is_restartable(job) || job.retries > 0) {
    add("--requeue");
    add("--open-mode=append");
  }
  return text;
}

std::string explanation(const Job& job) {
  std::string text =
      "Submit with:  sbatch THIS_FILE\n\nddbench must be in the PATH of every node.\n"
      "It makes a secret for the ranks of each run, which srun gives them in their environment.\n";
  if (job.partition.empty())
    text += "It goes to the cluster's default partition; --partition names another.\n";
  text += what_follows(job, "");
  if (is_restartable(job)) {
    text +=
        "The store and the checkpoints must lie where every node that the job may be started on again finds "
        "them.\n";
  }
  return comment(text);
}

/// ddbench ends with 130 when it was interrupted before its work was done. What Slurm ends itself (preemption, a node that is
/// lost), it starts again itself, and what was cancelled stays so: only a job that still runs is at its time limit.
std::string start_again_at_the_limit(const std::string& command) {
  return command + R"( &
ddbench=$!
trap 'kill -TERM $ddbench' TERM
status=0
wait $ddbench || status=$?
while kill -0 $ddbench 2>/dev/null; do status=0; wait $ddbench || status=$?; done
if [ $status = 130 ] && scontrol show job -o $SLURM_JOB_ID | grep -q ' JobState=RUNNING '; then
  echo "interrupted before its work was done: the job starts again and continues from the last checkpoint"
  scontrol requeue $SLURM_JOB_ID
fi
exit $status
)";
}

/// srun hands limits and variables of the batch shell to its tasks.
std::string settings(const Job& job) {
  std::string text;
  if (job.run_case.requested_network == NetworkRequest::kInfiniBand)
    text += "ulimit -l unlimited 2>/dev/null || echo \"memlock: $(ulimit -l) kB; InfiniBand may need more\" >&2\n";
  if (job.resources.cpus > 0) text += fmt::format("export SRUN_CPUS_PER_TASK={}\n", job.resources.cpus);  // srun of 22.05 and later
  return text + exports(job);
}

}  // namespace

std::string sbatch(const Job& job) {
  const std::string head = "#!/bin/bash\n" + directives(job) + "#\n" + explanation(job) + "set -eu\n" + settings(job);
  const std::string command = command_line(job, "srun", "");
  // exec: the signal that Slurm sends to the batch shell is for ddbench.
  return is_restartable(job) ? head + start_again_at_the_limit(command) : head + "exec " + command + "\n";
}

}  // namespace ddbench::job
