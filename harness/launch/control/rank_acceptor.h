#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/launch/control/rank_processes.h"
#include "harness/launch/control/tcp.h"
#include "harness/launch/trust/handshake.h"

namespace ddbench::launch {

/// What a rank and its launcher must have in common.
struct Credentials {
  std::string token;  ///< the secret; empty: none
  std::string job;    ///< name of the job; empty: none
};

/// Those of each rank of a run.
struct RunCredentials {
  Credentials started;                ///< of the ranks that the launcher itself has started, by whatever job
  std::optional<Credentials> others;  ///< of all ranks but 0, where those come by themselves

  const Credentials& of(int rank) const { return others && rank != 0 ? *others : started; }
};

/// Accepts the connections of a run's ranks: listens on one address, admits those that prove to know the
/// run's secret (handshake.h) and are still missing, and rejects everybody else with the reason. Never waits
/// for anybody, and holds a bounded number of strangers, each of a bounded size and for a bounded time.
class RankAcceptor {
 public:
  /// From the connection to the complete hello of a rank.
  static constexpr std::chrono::milliseconds kHelloWithin{10'000};
  /// While others wait for their turn.
  static constexpr std::chrono::milliseconds kHelloWithinWhenFull{1'000};
  static constexpr std::size_t kMostUnknown = 256;
  static constexpr std::uint32_t kMostHelloBytes = 16u << 10;

  /// Throws as listen_at.
  RankAcceptor(const Endpoint& at, RunCredentials credentials, int world_size);

  /// With the port that it really has.
  Endpoint endpoint() const { return local_end(listener_.get()); }
  std::vector<int> watched() const;
  std::vector<Arrival> take_arrivals();
  bool has_come(int rank) const { return come_[static_cast<std::size_t>(rank)]; }
  bool anybody_came() const noexcept { return anybody_; }
  /// "; turned away: 10.0.0.7 does not know this run's secret", the first few; empty when nobody was.
  std::string rejections() const;

 private:
  /// Somebody who has connected and is no rank yet.
  struct Unknown {
    UniqueFd socket;
    std::string from;
    std::chrono::steady_clock::time_point since;
    std::string received;  // of the handshake
    int rank = -1;         // as it says
    std::optional<LauncherHandshake> handshake;
    std::unique_ptr<ControlChannel> channel;  // after the handshake

    int fd() const { return channel ? channel->fd() : socket.get(); }
  };
  enum class Answer { kWait, kGone, kIn };

  void accept_all();
  Answer serve(Unknown& unknown, std::vector<Arrival>& arrivals);
  Answer receive_hello(Unknown& unknown);
  Answer receive_proof(Unknown& unknown);
  Answer receive_message(Unknown& unknown, std::vector<Arrival>& arrivals);
  bool receive(Unknown& unknown, std::size_t bytes, bool& ended) const;
  Refusal validate_hello(const RankHello& hello) const;
  Answer refuse(const Unknown& unknown, const std::string& why);

  UniqueFd listener_;
  RunCredentials credentials_;
  std::vector<bool> come_;
  bool anybody_ = false;
  std::deque<Unknown> unknown_;
  std::vector<std::string> rejected_;
  std::size_t rejections_ = 0;
};

}  // namespace ddbench::launch
