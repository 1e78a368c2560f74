// Many ranks in one process: each has a connection of its own and speaks the real protocol, but sends bytes
// instead of training. "launch_test_senders RANKS CHUNKS"; prints how often a rank had to wait because the
// launcher did not read.

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "core/clock.h"
#include "harness/launch/control/tcp.h"
#include "harness/launch/remote/rank_login.h"
#include "harness/launch/trust/run_token.h"
#include "harness/launch/worker/worker_session.h"
#include "sent_bytes.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

class Sender {
 public:
  Sender(int rank, int world_size, int chunks)
      : Sender(log_in(endpoint_from(std::getenv(kLauncherVariable)), std::getenv(kTokenVariable),
                      {rank, world_size, {}}, 10min),
               rank, world_size, chunks) {}
  Sender(LauncherConnection connection, int rank, int world_size, int chunks)
      : channel_(std::move(connection.socket), connection.keys), rank_(rank), chunks_(chunks) {
    // What waits shall wait in the sender and not in its kernel.
    const int bytes = 1 << 16;
    ::setsockopt(channel_.fd(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    Hello hello = introduce(rank);
    hello.local_rank = rank;
    hello.world_size = world_size;
    hello.cores = "0";
    hello.address = local_end(channel_.fd()).address;
    channel_.post(hello);
  }

  int fd() const { return channel_.fd(); }
  bool done() const { return done_; }
  int waits() const { return waits_; }
  bool has_to_send() { return pending() || (sending_ && !delivered_); }

  void act() {
    for (const Message& message : channel_.read_available()) {
      if (std::holds_alternative<Assignment>(message)) channel_.post(Ping{1});
      if (std::holds_alternative<Pong>(message)) {
        channel_.post(Ready{"test", "", {now_ns(), 0, 1}});
        sending_ = true;
      }
      done_ = done_ || std::holds_alternative<Finish>(message) || std::holds_alternative<Stop>(message);
    }
    done_ = done_ || channel_.closed();
    if (sending_) send_some();
  }

 private:
  bool pending() { return !channel_.flush(); }

  void send_some() {
    // As in a rank: recorded data waits while the launcher does not accept it.
    while (sent_ < chunks_ && !pending()) {
      channel_.post(FileChunk{fmt::format("rank{}.spool", rank_), sent_bytes(rank_, sent_)});
      channel_.post(Heartbeat{static_cast<std::uint32_t>(++sent_), 1.0, {"all_reduce", 1, false, 0}, 1});
    }
    if (pending()) {
      ++waits_;
      return;
    }
    if (sent_ < chunks_ || delivered_) return;
    delivered_ = true;
    channel_.post(Result{1, 1, "hash", 0, 1, 0, 0, {now_ns(), 0, 1}, ""});
  }

  ControlChannel channel_;
  int rank_;
  int chunks_;
  int sent_ = 0;
  int waits_ = 0;
  bool sending_ = false;
  bool delivered_ = false;
  bool done_ = false;
};

int send_all(int ranks, int chunks) {
  std::deque<Sender> senders;
  for (int rank = 0; rank < ranks; ++rank) senders.emplace_back(rank, ranks, chunks);
  std::vector<pollfd> fds(senders.size());
  for (bool all_done = false; !all_done;) {
    all_done = true;
    for (std::size_t i = 0; i < senders.size(); ++i) {
      // A sender with data waits until it can send.
      fds[i] = {senders[i].done() ? -1 : senders[i].fd(),
                static_cast<short>(POLLIN | (senders[i].has_to_send() ? POLLOUT : 0)), 0};
      all_done = all_done && senders[i].done();
    }
    ::poll(fds.data(), fds.size(), all_done ? 0 : 1000);
    for (std::size_t i = 0; i < senders.size(); ++i) {
      if (fds[i].revents != 0) senders[i].act();
    }
  }
  int waits = 0;
  for (const Sender& sender : senders) waits += sender.waits();
  fmt::print("waits {}\n", waits);
  return 0;
}

}  // namespace
}  // namespace ddbench::launch

int main(int argc, char** argv) {
  return argc == 3 ? ddbench::launch::send_all(std::atoi(argv[1]), std::atoi(argv[2])) : 64;
}
