#include "harness/launch/remote/remote_processes.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "harness/launch/control/rank_wording.h"
#include "harness/launch/machine/run_command.h"
#include "harness/launch/remote/slurm_job_end.h"
#include "harness/launch/trust/run_token.h"

namespace ddbench::launch {
namespace {

constexpr rlim_t kUsualFiles = 256 + RankAcceptor::kMostUnknown;

}  // namespace

void allow_open_files(int world_size) {
  const rlim_t count = kUsualFiles + 3 * static_cast<rlim_t>(world_size);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return;
  limit.rlim_cur = std::min(count, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

RemoteProcesses::RemoteProcesses(RemoteJob job, int world_size, std::filesystem::path log)
    : job_(std::move(job)), acceptor_(job_.listen, job_.credentials, world_size), log_(std::move(log)) {
  allow_open_files(world_size);
  facts_["launcher"] = job_.launcher;
  facts_["launcher.listened_at"] = acceptor_.endpoint().address;
  const bool has_secret = !job_.credentials.of(world_size - 1).token.empty();
  facts_["launcher.authentication"] = has_secret ? "secret" : "none";
}

void RemoteProcesses::launch() {
  process_ = std::make_unique<JobProcess>(JobProcess::Options{
      job_.command,
      {{kLauncherVariable, to_string(acceptor_.endpoint())}, {kTokenVariable, job_.credentials.started.token}},
      log_});
}

void RemoteProcesses::kill(int rank) {
  events_.push_back({FabricEvent::Kind::kExited, rank, SIGKILL, {}});
}

std::vector<FabricEvent> RemoteProcesses::read_events() {
  if (!end_reported_ && process_ && process_->ended()) {
    end_reported_ = true;
    events_.push_back({FabricEvent::Kind::kEnded, -1, 0,
                       fmt::format("{} {} while ranks were still awaited", job_.command.front(),
                                   describe_end(*process_->ended()))});
  }
  return std::exchange(events_, {});
}

std::string RemoteProcesses::address_of(const Hello& hello, int /*node*/) const {
  return hello.address;
}

std::string RemoteProcesses::trouble() const {
  const std::string words = last_words(log_);
  return acceptor_.rejections() +
         (words.empty() ? "" : fmt::format("; {}'s last output: {}", job_.launcher, words));
}

JobEnd RemoteProcesses::job_end(std::chrono::milliseconds timeout) {
  if (job_.launcher != "srun" || !process_) return {};
  // On a busy machine srun says why after the connections of its ranks have ended.
  process_->ends_within(timeout);
  was_waited_for_ = true;
  JobEnd end = slurm_job_end_in(log_);
  if (end.cause != JobEnd::Cause::kCancelled) return end;
  try {
    if (end.job.empty()) return {};
    // Of a job that goes on, the ranks alone were ended: `scancel JOB.STEP`. A mere signal to them reads the same.
    if (is_still_running(run_tool({{"scontrol", "show", "job", "-o", end.job}}))) end.cause = JobEnd::Cause::kStepCancelled;
    return end;
  } catch (const Error&) {
    // Nobody can be asked: what happened is not known.
  }
  return {};
}

void RemoteProcesses::finish(std::chrono::milliseconds timeout) {
  if (process_) process_->finish(was_waited_for_ ? std::chrono::milliseconds(0) : timeout);
}

}  // namespace ddbench::launch
