#include "simulated_ranks.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/unique_handle.h"
#include "harness/launch/control/control_channel.h"
#include "harness/launch/control/key_value_bytes.h"
#include "harness/launch/machine/process_facts.h"
#include "harness/launch/remote/rank_login.h"
#include "harness/launch/trust/run_token.h"
#include "harness/launch/worker/worker_session.h"
#include "probes/machine/machine.h"

namespace ddbench::bench {
namespace {

using namespace std::chrono_literals;
using namespace ddbench::launch;
using Clock = std::chrono::steady_clock;

constexpr int kGpusPerNode = 8;
constexpr int kSpoolBytesPerSecond = 4000;
constexpr std::size_t kAddressBytes = 40;  // of Gloo, for one peer

collective::Bytes random_bytes(std::size_t count, unsigned seed) {
  std::minstd_rand random(seed + 1);
  collective::Bytes bytes(count);
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

/// As RankPlace of the NCCL backend: host and boot of the machine, address, number of the GPU.
collective::Bytes place_of(int rank) {
  const int node = rank / kGpusPerNode;
  std::minstd_rand of_node(static_cast<unsigned>(node) + 1), of_gpu(static_cast<unsigned>(rank) + 1'000'003);
  const auto hex = [](std::minstd_rand& random) {
    std::string text;
    for (int i = 0; i < 16; ++i) text += fmt::format("{:02x}", random() >> 8 & 0xff);
    return text;
  };
  const std::string text = fmt::format("node{:04}/{}\n10.0.{}.{}\n{}", node, hex(of_node), node / 250, node % 250, hex(of_gpu));
  return {text.begin(), text.end()};
}

class SimulatedRank {
 public:
  SimulatedRank(const Simulation& simulation, int rank, LauncherConnection connection, Progress& progress)
      : simulation_(simulation), progress_(progress), rank_(rank), channel_(std::move(connection.socket), connection.keys) {
    Hello hello = introduce(rank);
    hello.local_rank = rank % kGpusPerNode;
    hello.world_size = simulation.ranks;
    hello.boot_id = fmt::format("node{}", rank / kGpusPerNode);
    hello.host = hello.boot_id;
    hello.cores = std::to_string(rank % kGpusPerNode);
    hello.address = "127.0.0.1";
    channel_.send(hello);
  }

  int fd() const { return channel_.fd(); }
  bool ended() const { return ended_; }

  void read() {
    const std::int64_t received_ns = now_ns();
    for (Message& message : channel_.read_available()) take(message, received_ns);
    ended_ |= channel_.closed();
  }

  void beat(Clock::time_point now) {
    if (ended_ || !trains_ || now < next_beat_) return;
    const auto every = WorkerSession::heartbeat_for(simulation_.ranks);
    next_beat_ = std::max(next_beat_ + every, now);
    if (now >= ends_) {
      trains_ = false;
      channel_.send(Result{});
      return;
    }
    Heartbeat heartbeat;
    heartbeat.steps_completed = ++steps_;
    heartbeat.collective = {"all_reduce", steps_, true, 1000};
    channel_.send(heartbeat);
    progress_.heartbeats.fetch_add(1, std::memory_order_relaxed);
    const auto bytes = static_cast<std::size_t>(kSpoolBytesPerSecond * std::chrono::duration<double>(every).count());
    channel_.send(FileChunk{fmt::format("rank{}.spool", rank_), random_bytes(bytes, steps_)});
    if (now - last_own_time_ >= 1s) {
      last_own_time_ = now;
      channel_.send(RankOwnTime{steps_, 1000, 10, 1});
    }
    if (now - last_clock_ >= WorkerSession::kClockEvery) {
      last_clock_ = now;
      pings_left_ = WorkerSession::kPingsWhileRunning;
      ping();
    }
  }

 private:
  void ping() { channel_.send(Ping{++ping_id_}); }

  void take(const Message& message, std::int64_t received_ns) {
    if (const auto* assignment = std::get_if<Assignment>(&message)) return join(*assignment);
    if (const auto* parts = std::get_if<KvParts>(&message)) {
      for (const collective::Bytes& part : parts_of(*parts)) progress_.received_bytes.fetch_add(part.size(), std::memory_order_relaxed);
      pings_left_ = WorkerSession::kPings;
      return ping();
    }
    if (const auto* pong = std::get_if<Pong>(&message)) return on_pong(*pong, received_ns);
    if (const auto* stop = std::get_if<Stop>(&message)) throw Error(ErrorCode::kRunFailed, stop->reason);
    if (std::holds_alternative<Finish>(message)) ended_ = true;
  }

  void join(const Assignment& assignment) {
    static const host::Facts hardware = host::facts(host::inspect_hardware());
    if (assignment.local_rank == 0) channel_.send(Inventory{hardware});
    const bool is_mesh = simulation_.mode == "gloo";
    const auto others = static_cast<std::size_t>(simulation_.ranks - 1);
    channel_.send(KvSet{fmt::format("place/{}", rank_), is_mesh ? random_bytes(kAddressBytes * others, static_cast<unsigned>(rank_)) : place_of(rank_)});
    channel_.send(KvGather{1, "place/", static_cast<std::uint32_t>(simulation_.ranks), is_mesh ? rank_ : -1});
  }

  void on_pong(const Pong& pong, std::int64_t received_ns) {
    reading_ = {received_ns, pong.reference_ns - received_ns, 1000};
    if (--pings_left_ > 0) return ping();
    if (trains_) return channel_.send(ClockRead{reading_});
    channel_.send(Ready{"simulated", "", reading_});
    const auto now = Clock::now();
    next_beat_ = now;
    ends_ = now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(simulation_.seconds));
    last_clock_ = now;
    trains_ = true;
    if (++progress_.ready == simulation_.ranks) progress_.all_ready_ns = now_ns();
  }

  const Simulation& simulation_;
  Progress& progress_;
  const int rank_;
  ControlChannel channel_;
  bool trains_ = false, ended_ = false;
  std::uint32_t steps_ = 0;
  std::uint64_t ping_id_ = 0;
  int pings_left_ = 0;
  ClockReading reading_;
  Clock::time_point next_beat_, ends_, last_own_time_, last_clock_;
};

void simulate_some(const Simulation& simulation, const Endpoint& launcher, const std::string& token, int first, Progress& progress) {
  std::vector<std::unique_ptr<SimulatedRank>> ranks;
  const UniqueFd epoll(static_cast<int>(check_posix(::epoll_create1(EPOLL_CLOEXEC), "epoll")));
  for (int rank = first; rank < simulation.ranks; rank += simulation.threads) {
    LauncherConnection connection = log_in(launcher, token, {rank, simulation.ranks, {}}, 60s);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = ranks.size();
    check_posix(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, connection.socket.get(), &event), "epoll");
    ranks.push_back(std::make_unique<SimulatedRank>(simulation, rank, std::move(connection), progress));
  }
  std::vector<epoll_event> events(ranks.size());
  while (!std::all_of(ranks.begin(), ranks.end(), [](const auto& rank) { return rank->ended(); })) {
    const int count = ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), 10);
    for (int i = 0; i < count; ++i) {
      SimulatedRank& rank = *ranks[events[static_cast<std::size_t>(i)].data.u64];
      rank.read();
      if (rank.ended()) ::epoll_ctl(epoll.get(), EPOLL_CTL_DEL, rank.fd(), nullptr);
    }
    const auto now = Clock::now();
    for (const auto& rank : ranks) rank->beat(now);
  }
}

}  // namespace

void simulate_ranks(const Simulation& simulation, Progress& progress) {
  const Endpoint launcher = endpoint_from(std::getenv(kLauncherVariable));
  const std::string token = take_token();
  std::vector<std::thread> threads;
  for (int i = 0; i < simulation.threads; ++i)
    threads.emplace_back([&, i] { simulate_some(simulation, launcher, token, i, progress); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace ddbench::bench
