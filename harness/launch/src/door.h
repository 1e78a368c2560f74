#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "rank_processes.h"
#include "tcp.h"

namespace ddbench::launch {

/// Where the ranks of a run come in: listens on one address, hears who is there, lets in who knows the run's
/// token and is a rank that is still missing, and turns everybody else away with the reason. Never waits for
/// anybody; who says nothing within kSaysWhoWithin is turned away, and of those that have said nothing yet no
/// more than kMostUnknown are kept.
class Door {
 public:
  static constexpr std::chrono::milliseconds kSaysWhoWithin{10'000};
  static constexpr std::size_t kMostUnknown = 1024;

  /// Throws as listen_at.
  Door(const Endpoint& at, std::string token, int world_size);

  /// With the port that it really has.
  Endpoint endpoint() const { return local_end(listener_.get()); }
  std::vector<int> watched() const;
  std::vector<Arrival> take_arrivals();
  bool has_come(int rank) const { return come_[static_cast<std::size_t>(rank)]; }
  bool anybody_came() const noexcept { return anybody_; }
  /// "; refused: 10.0.0.7 does not know this run's token", the first few; empty when nobody was.
  std::string refusals() const;

 private:
  struct Unknown {
    std::unique_ptr<ControlChannel> channel;
    std::string from;
    std::chrono::steady_clock::time_point since;
  };
  enum class Answer { kWait, kGone, kIn };
  void accept_all();
  Answer hear(Unknown& unknown, std::vector<Arrival>& arrivals);
  std::string objection(const Hello& hello) const;
  Answer refuse(Unknown& unknown, const std::string& why);

  UniqueFd listener_;
  std::string token_;
  std::vector<bool> come_;
  bool anybody_ = false;
  std::deque<Unknown> unknown_;
  std::vector<std::string> refused_;
  std::size_t refusals_ = 0;
};

/// 128 random bits as text.
std::string new_token();

}  // namespace ddbench::launch
