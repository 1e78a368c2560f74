#include "harness/launch/remote/turns.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <string>

#include "core/error.h"
#include "core/text/number.h"
#include "harness/launch/remote/remote_launch.h"
#include "harness/launch/trust/run_token.h"

namespace ddbench::launch {

/// What this process was started with.
struct TurnWorld::Started {
  StartedWorld world;
  Placement placement;
  Endpoint caller;  ///< where rank 0 calls the turns
  LauncherOptions launcher;
  std::string token;
};

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMessageBytes = 16;  // "turn          3\n"
constexpr int kNoMore = -1;
// The ports of a turn may still be held by a rank of the one before.
constexpr int kPortSets = 4;
constexpr int kUsualMasterPort = 29500;
// The variables by which launchers other than torchrun state a process's rank.
constexpr const char* kOtherStarters[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                                          "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_RANK", "PMI_SIZE", "SLURM_PROCID",
                                          "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS"};

std::string message(int number) {
  return fmt::format("turn{:>11}\n", number);
}

std::optional<int> number_in(const std::string& text) {
  if (!text.starts_with("turn") || text.back() != '\n') return std::nullopt;
  const std::size_t begin = text.find_first_not_of(' ', 4);
  if (begin == std::string::npos) return std::nullopt;
  return number_from<int>(std::string_view(text).substr(begin, text.size() - begin - 1));
}

/// Nothing when the other end is closed, silent for longer than the socket's timeout, or sends something
/// else.
std::optional<int> receive_number(int socket) {
  std::string text(kMessageBytes, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t received = ::recv(socket, text.data() + have, text.size() - have, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return std::nullopt;
    have += static_cast<std::size_t>(received);
  }
  return number_in(text);
}

void send_number(int socket, int number) noexcept {
  const std::string text = message(number);
  // A new line of 16 bytes fits into the buffer of any connection.
  (void)::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void make_blocking(int socket) {
  (void)::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) & ~O_NONBLOCK);
}

void wait_at_most(int socket, std::chrono::seconds time) {
  make_blocking(socket);
  const timeval limit{time.count(), 0};
  (void)::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

void set(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 1);
}

}  // namespace

bool takes_part(const StartedWorld& world, const Turn& turn) {
  return world.rank / world.gpus_per_node < turn.nodes && world.rank % world.gpus_per_node < turn.gpus_per_node;
}

TurnWorld::TurnWorld(const LauncherOptions& launcher) : started_(std::make_unique<Started>()) {
  started_->world = started_world();
  started_->placement = read_placement(environment_variables());
  started_->launcher = launcher;
  EnvDoor door = env_door(launcher, started_->placement);  // takes the token out of the environment
  started_->caller = door.endpoint;
  started_->token = door.credentials.token;
}

TurnWorld::~TurnWorld() = default;

const StartedWorld& TurnWorld::world() const noexcept {
  return started_->world;
}

LauncherOptions TurnWorld::enter(const Turn& turn) const {
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
  if (!started_->token.empty()) set(kTokenVariable, started_->token);
  LauncherOptions launcher = started_->launcher;
  if (launcher.port > 0) launcher.port += 1 + turn.number % kPortSets;
  return launcher;
}

TurnCaller::TurnCaller(const TurnWorld& world, const LauncherOptions& launcher) {
  Endpoint endpoint = world.started().caller;
  if (!launcher.interface.empty()) endpoint.address = address_of_interface(launcher.interface);
  const int others = world.world().nodes * world.world().gpus_per_node - 1;
  const auto deadline = Clock::now() + launcher.start_deadline;
  const UniqueFd listener = listen_at(endpoint);
  std::set<int> came;
  while (static_cast<int>(came.size()) < others) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left <= 0ms) {
      throw Error(ErrorCode::kEnvironment,
                  fmt::format("{} of {} ranks did not come to the sweep at {} within {:.0f} s (--start-timeout)", others - came.size(),
                              others + 1, to_string(endpoint), std::chrono::duration<double>(launcher.start_deadline).count()));
    }
    pollfd ready{listener.get(), POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 1000))) <= 0) continue;
    UniqueFd rank = accept_connection(listener.get());
    if (!rank) continue;
    wait_at_most(rank.get(), 2s);
    const std::optional<int> number = receive_number(rank.get());
    if (!number || *number < 1 || *number > others || !came.insert(*number).second) continue;
    ranks_.push_back(std::move(rank));
  }
}

TurnCaller::~TurnCaller() {
  call(kNoMore);
}

void TurnCaller::call(int number) noexcept {
  for (const UniqueFd& rank : ranks_) send_number(rank.get(), number);
}

TurnFollower::TurnFollower(const TurnWorld& world, const LauncherOptions& launcher)
    : caller_(connect_to(world.started().caller, launcher.start_deadline)) {
  make_blocking(caller_.get());
  const int on = 1;
  (void)::setsockopt(caller_.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);  // a machine that is gone closes nothing
  send_number(caller_.get(), world.world().rank);
}

std::optional<int> TurnFollower::next() {
  const std::optional<int> number = receive_number(caller_.get());
  return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace ddbench::launch
