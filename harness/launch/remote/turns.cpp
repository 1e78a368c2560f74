#include "harness/launch/remote/turns.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/error.h"
#include "harness/launch/control/rank_acceptor.h"
#include "harness/launch/remote/rank_login.h"
#include "harness/launch/remote/remote_launch.h"
#include "harness/launch/remote/remote_processes.h"
#include "harness/launch/trust/run_token.h"
#include "harness/launch/worker/worker_session.h"

namespace ddbench::launch {

/// What this process was started with.
struct TurnWorld::Started {
  StartedWorld world;
  Placement placement;
  Endpoint caller;  ///< where rank 0 calls the turns
  LauncherOptions launcher;
  Credentials credentials;
};

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// The ports of a turn may still be held by a rank of the one before.
constexpr int kPortSets = 4;
constexpr int kUsualMasterPort = 29500;
constexpr std::chrono::milliseconds kLook{500};
// The variables by which launchers other than torchrun state a process's rank.
constexpr const char* kOtherStarters[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                                          "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_RANK", "PMI_SIZE", "SLURM_PROCID",
                                          "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS"};

/// Of the turns' connections, so that no rank of them passes for one of a run.
Credentials for_turns(Credentials credentials) {
  credentials.job += "\nturns";
  return credentials;
}

void set(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 1);
}

}  // namespace

bool takes_part(const StartedWorld& world, const TurnPlace& turn) {
  return world.rank / world.gpus_per_node < turn.nodes && world.rank % world.gpus_per_node < turn.gpus_per_node;
}

TurnWorld::TurnWorld(const LauncherOptions& launcher) : started_(std::make_unique<Started>()) {
  started_->world = started_world();
  started_->placement = read_placement(environment_variables());
  started_->launcher = launcher;
  EnvEndpoint at = env_endpoint(launcher, started_->placement);  // takes the token out of the environment
  started_->caller = at.endpoint;
  started_->credentials = at.credentials;
}

TurnWorld::~TurnWorld() = default;

const StartedWorld& TurnWorld::world() const noexcept {
  return started_->world;
}

LauncherOptions TurnWorld::enter(const TurnPlace& turn) const {
  const StartedWorld& world = started_->world;
  const int node = world.rank / world.gpus_per_node, local_rank = world.rank % world.gpus_per_node;
  for (const char* name : kOtherStarters) ::unsetenv(name);
  const Placement& placement = started_->placement;
  const int master = (placement.master_port > 0 ? placement.master_port : kUsualMasterPort) + 2 * (1 + turn.number % kPortSets);
  set("RANK", std::to_string(node * turn.gpus_per_node + local_rank));
  set("WORLD_SIZE", std::to_string(turn.nodes * turn.gpus_per_node));
  set("LOCAL_RANK", std::to_string(local_rank));
  set("LOCAL_WORLD_SIZE", std::to_string(turn.gpus_per_node));
  set("NODE_RANK", std::to_string(node));
  set("GROUP_RANK", std::to_string(node));
  set("MASTER_ADDR", placement.master_address);
  set("MASTER_PORT", std::to_string(master));
  set("TORCHELASTIC_RUN_ID", fmt::format("{}-turn-{}", placement.job.empty() ? "ddbench" : placement.job, turn.number));
  if (!started_->credentials.token.empty()) set(kTokenVariable, started_->credentials.token);
  LauncherOptions launcher = started_->launcher;
  if (launcher.port > 0) launcher.port += 1 + turn.number % kPortSets;
  return launcher;
}

TurnCaller::TurnCaller(const TurnWorld& world, const LauncherOptions& launcher) {
  Endpoint endpoint = world.started().caller;
  if (!launcher.interface.empty()) endpoint.address = address_of_interface(launcher.interface);
  const int ranks = world.world().nodes * world.world().gpus_per_node;
  const auto deadline = Clock::now() + launcher.start_deadline;
  allow_open_files(ranks);
  // Rank 0 does not connect to itself: who comes as it knows no secret.
  RankAcceptor acceptor(endpoint, {.started = {.token = new_token(), .job = {}}, .others = for_turns(world.started().credentials)}, ranks);
  while (static_cast<int>(ranks_.size()) < ranks - 1) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left <= 0ms) {
      throw Error(ErrorCode::kEnvironment,
                  fmt::format("{} of {} ranks did not come to the sweep at {} within {:.0f} s (--start-timeout){}",
                              ranks - 1 - static_cast<int>(ranks_.size()), ranks, to_string(endpoint),
                              std::chrono::duration<double>(launcher.start_deadline).count(), acceptor.rejections()));
    }
    std::vector<pollfd> ready;
    for (const int fd : acceptor.watched()) ready.push_back({fd, POLLIN, 0});
    // Woken up in between for the acceptor's own time limits.
    (void)::poll(ready.data(), ready.size(), static_cast<int>(std::min<std::int64_t>(left.count(), kLook.count())));
    for (Arrival& arrival : acceptor.take_arrivals()) ranks_.push_back(std::move(arrival.channel));
  }
}

TurnCaller::~TurnCaller() = default;

void TurnCaller::post(const Message& message) noexcept {
  for (const auto& rank : ranks_) {
    try {
      rank->post(message);
    } catch (const Error&) {
      // A rank that is gone is missed by the turn that needs it.
    }
  }
}

void TurnCaller::call(int number) noexcept {
  post(Turn{number});
}

void TurnCaller::finish(int exit_code) noexcept {
  post(TurnsEnd{exit_code});
}

TurnFollower::TurnFollower(const TurnWorld& world, const LauncherOptions& launcher) : caller_at_(world.started().caller) {
  const StartedWorld& own = world.world();
  const Credentials credentials = for_turns(world.started().credentials);
  LauncherConnection connection =
      log_in(caller_at_, credentials.token, {own.rank, own.nodes * own.gpus_per_node, credentials.job}, launcher.start_deadline);
  caller_ = std::make_unique<ControlChannel>(std::move(connection.socket), connection.keys);
  caller_->send(introduce(own.rank));
}

TurnFollower::~TurnFollower() = default;

std::variant<Turn, TurnsEnd> TurnFollower::next() {
  while (waiting_.empty()) {
    if (caller_->closed()) {
      throw Error(ErrorCode::kRunFailed,
                  fmt::format("rank 0 of the sweep, at {}, ended without a word: see what it printed. Start all ranks again", to_string(caller_at_)), 0,
                  "sweep");
    }
    (void)caller_->wait_readable(kLook);
    for (Message& message : caller_->read_available()) waiting_.push_back(std::move(message));
  }
  const Message message = std::move(waiting_.front());
  waiting_.pop_front();
  if (const auto* turn = std::get_if<Turn>(&message)) return *turn;
  if (const auto* end = std::get_if<TurnsEnd>(&message)) return *end;
  if (const auto* stop = std::get_if<Stop>(&message))
    throw Error(ErrorCode::kRunFailed, fmt::format("rank 0 of the sweep, at {}, turned this rank away: {}", to_string(caller_at_), stop->reason), 0, "sweep");
  throw Error(ErrorCode::kRunFailed, fmt::format("rank 0 of the sweep, at {}, sent a message that calls no turn", to_string(caller_at_)), 0, "sweep");
}

}  // namespace ddbench::launch
