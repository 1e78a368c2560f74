// The truth that the meter is held against: what one raw TCP stream gets over the same emulated link. Starts
// two nodes exactly as `ddbench run` does, with itself as the ranks' program, and prints {"tcp_gb_per_s":
// ...}.
//   link_truth 1gbit 64      64 MiB over a link shaped to 1 Gbit/s

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/files/temporary_directory.h"
#include "harness/launch/local/local_launch.h"
#include "harness/launch/machine/process_facts.h"
#include "harness/launch/worker/training_state.h"
#include "harness/launch/worker/worker_session.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kChunk_bytes = 1 << 20;
constexpr auto kPatience = 60s;

std::size_t bytes_wanted() {
  return std::strtoull(std::getenv("LINK_TRUTH_BYTES"), nullptr, 10);
}

UniqueFd tcp_socket() {
  return UniqueFd(static_cast<int>(check_posix(::socket(AF_INET, SOCK_STREAM, 0), "socket")));
}

/// Rank 0: receives everything, notes the rate from the first byte to the last, answers with one byte.
void receive(WorkerSession& session, const std::string& address) {
  const UniqueFd listener = tcp_socket();
  sockaddr_in name{};
  name.sin_family = AF_INET;
  ::inet_pton(AF_INET, address.c_str(), &name.sin_addr);
  check_posix(::bind(listener.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), "bind " + address);
  check_posix(::listen(listener.get(), 1), "listen");
  socklen_t length = sizeof name;
  check_posix(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&name), &length), "getsockname");
  const std::string where = fmt::format("{} {}", address, ntohs(name.sin_port));
  session.set("truth.address", {where.begin(), where.end()});

  const UniqueFd peer(static_cast<int>(check_posix(::accept(listener.get(), nullptr, nullptr), "accept")));
  std::vector<char> chunk(kChunk_bytes);
  std::size_t received = 0;
  std::int64_t first_ns = 0;
  while (received < bytes_wanted()) {
    const auto got = check_posix(::recv(peer.get(), chunk.data(), chunk.size(), 0), "recv");
    if (got == 0) throw Error(ErrorCode::kRunFailed, "the sender went away");
    if (received == 0) first_ns = now_ns();
    received += static_cast<std::size_t>(got);
  }
  const double seconds = static_cast<double>(now_ns() - first_ns) / 1e9;
  // The launcher's own output is the parent's; a rank's goes into the run's directory.
  std::ofstream(std::getenv("LINK_TRUTH_ANSWER"))
      << fmt::format("{{\"tcp_gb_per_s\": {}}}\n", static_cast<double>(received) / seconds / 1e9);
  check_posix(::send(peer.get(), "!", 1, 0), "send");
}

/// Rank 1: sends, and stays until the other side has everything.
void send(WorkerSession& session) {
  const collective::Bytes where = session.get("truth.address", kPatience);
  const std::string text(where.begin(), where.end());
  const auto space = text.find(' ');
  sockaddr_in name{};
  name.sin_family = AF_INET;
  ::inet_pton(AF_INET, text.substr(0, space).c_str(), &name.sin_addr);
  name.sin_port = htons(static_cast<std::uint16_t>(std::stoi(text.substr(space + 1))));
  const UniqueFd peer = tcp_socket();
  check_posix(::connect(peer.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), "connect " + text);
  const std::vector<char> chunk(kChunk_bytes, 'x');
  for (std::size_t sent = 0; sent < bytes_wanted();) {
    sent += static_cast<std::size_t>(check_posix(::send(peer.get(), chunk.data(), chunk.size(), 0), "send"));
  }
  char answer = 0;
  check_posix(::recv(peer.get(), &answer, 1, 0), "recv");
}

int act_as_rank(int control_fd) {
  TrainingState state;
  WorkerSession session(UniqueFd(control_fd), state, [] { ::_exit(1); });
  const Assignment assignment = session.join(std::atoi(std::getenv("RANK")), kPatience);
  session.send(Ready{"tcp", "", session.read_clock(kPatience)});
  assignment.rank == 0 ? receive(session, assignment.address) : send(session);
  session.send(Result{.clock = session.read_clock(kPatience)});
  session.wait_for_finish();
  return 0;
}

class Silent : public LaunchObserver {
 public:
  void on_network(const std::string& network, const std::string& note) override {
    fmt::print(stderr, "{} {}\n", network, note);
  }
  void on_progress(const RankProgress& /*progress*/) override {}
  void on_tick() override {}
  bool interrupted() override { return false; }
};

int launch_ranks(const std::string& link, long mebibytes) {
  ::setenv("LINK_TRUTH_BYTES", std::to_string(mebibytes << 20).c_str(), 1);
  RunCase run_case;
  run_case.nodes = 2;
  run_case.link = link;
  LaunchOptions options;
  options.run_id = store::new_run_id();
  const TemporaryDirectory directory(temporary_root(), options.run_id);
  options.run_directory = directory.path();
  const std::filesystem::path answer = directory.path() / "answer.json";
  ::setenv("LINK_TRUTH_ANSWER", answer.c_str(), 1);
  options.executable = std::filesystem::read_symlink("/proc/self/exe");
  Silent observer;
  const LaunchOutcome outcome = launch_local(run_case, options, observer);
  if (outcome.state != store::RunState::kDone) throw Error(ErrorCode::kRunFailed, outcome.reason);
  std::cout << std::ifstream(answer).rdbuf();
  return 0;
}

}  // namespace
}  // namespace ddbench::launch

int main(int argc, char** argv) {
  try {
    if (argc == 4 && std::strcmp(argv[1], "worker") == 0)
      return ddbench::launch::act_as_rank(std::atoi(argv[3]));
    if (argc == 3) return ddbench::launch::launch_ranks(argv[1], std::atol(argv[2]));
    fmt::print(stderr, "usage: link_truth LINK MEBIBYTES\n");
    return 2;
  } catch (const ddbench::Error& error) {
    fmt::print(stderr, "link_truth: {}\n", error.message());
    return error.exit_code();
  }
}
