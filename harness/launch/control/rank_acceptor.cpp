#include "harness/launch/control/rank_acceptor.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "core/error.h"

namespace ddbench::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostReported = 3;

void send_at_once(int socket, const std::string& bytes) {
  // A new connection's buffer takes it; who does not get it is turned away by its silence.
  static_cast<void>(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

/// For the launcher's user, of a rank that gets the same message from its own side.
std::string describe(Refusal why, const RankHello& hello, int world_size) {
  switch (why) {
    case Refusal::kOtherVersion:
      return fmt::format("speaks protocol {}, this ddbench {}: they are of two versions", hello.version,
                         kProtocolVersion);
    case Refusal::kOtherJob: return "belongs to another job";
    case Refusal::kOtherWorld:
      return fmt::format("was started as rank {} of {}, but this run has {} ranks", hello.rank,
                         hello.world_size, world_size);
    case Refusal::kRankIsHere:
      return fmt::format("was started as rank {}, which is here already", hello.rank);
    case Refusal::kNeedsSecret: return "has no DDBENCH_TOKEN and does not know this run's secret";
    case Refusal::kHasNoSecret: return "has a DDBENCH_TOKEN, and rank 0 has none";
    case Refusal::kNone: break;
  }
  return {};
}

}  // namespace

RankAcceptor::RankAcceptor(const Endpoint& at, RunCredentials credentials, int world_size)
    : listener_(listen_at(at)),
      credentials_(std::move(credentials)),
      come_(static_cast<std::size_t>(world_size)) {}

std::vector<int> RankAcceptor::watched() const {
  std::vector<int> fds;
  // Nobody more is accepted while it is full: to be woken up for them would be to wait without sleep.
  if (unknown_.size() < kMostUnknown) fds.push_back(listener_.get());
  for (const Unknown& unknown : unknown_) fds.push_back(unknown.fd());
  return fds;
}

void RankAcceptor::accept_all() {
  while (unknown_.size() < kMostUnknown) {
    UniqueFd connection = accept_connection(listener_.get());
    if (!connection) return;
    std::string from = remote_end(connection.get()).address;
    unknown_.push_back({.socket = std::move(connection), .from = std::move(from), .since = Clock::now()});
  }
}

std::vector<Arrival> RankAcceptor::take_arrivals() {
  accept_all();
  std::vector<Arrival> arrivals;
  std::erase_if(unknown_, [&](Unknown& unknown) { return serve(unknown, arrivals) != Answer::kWait; });
  return arrivals;
}

RankAcceptor::Answer RankAcceptor::serve(Unknown& unknown, std::vector<Arrival>& arrivals) {
  Answer answer = Answer::kWait;
  if (!unknown.handshake) answer = receive_hello(unknown);
  if (answer == Answer::kWait && unknown.handshake && !unknown.channel) answer = receive_proof(unknown);
  if (answer == Answer::kWait && unknown.channel) answer = receive_message(unknown, arrivals);
  if (answer != Answer::kWait) return answer;
  const bool full = unknown_.size() == kMostUnknown;
  if (Clock::now() - unknown.since < (full ? kHelloWithinWhenFull : kHelloWithin)) return Answer::kWait;
  return refuse(unknown, "did not say who it is");
}

/// Whether `bytes` bytes of the handshake have arrived; never takes one that comes after them.
bool RankAcceptor::receive(Unknown& unknown, std::size_t bytes, bool& ended) const {
  std::string& received = unknown.received;
  while (received.size() < bytes) {
    char buffer[kHelloBytes];
    const ssize_t count =
        ::recv(unknown.socket.get(), buffer, std::min(sizeof buffer, bytes - received.size()), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    ended = count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
    if (count <= 0) return false;
    received.append(buffer, static_cast<std::size_t>(count));
  }
  return true;
}

RankAcceptor::Answer RankAcceptor::receive_hello(Unknown& unknown) {
  bool ended = false;
  const bool whole = receive(unknown, kHelloBytes, ended);
  if (!starts_as_hello(unknown.received)) return refuse(unknown, "does not speak ddbench's protocol");
  if (!whole) return ended ? Answer::kGone : Answer::kWait;
  const RankHello hello = *read_hello(unknown.received);
  if (const Refusal why = validate_hello(hello); why != Refusal::kNone) {
    send_at_once(unknown.socket.get(), refusal_challenge(why));
    return refuse(unknown, describe(why, hello, static_cast<int>(come_.size())));
  }
  unknown.rank = hello.rank;
  unknown.handshake.emplace(credentials_.of(hello.rank).token, unknown.received);
  unknown.received.clear();
  send_at_once(unknown.socket.get(), unknown.handshake->challenge());
  return Answer::kWait;
}

RankAcceptor::Answer RankAcceptor::receive_proof(Unknown& unknown) {
  bool ended = false;
  // A rank with another secret finds that out from the challenge, and leaves.
  const bool whole = receive(unknown, kProofBytes, ended);
  if (!whole && !ended) return Answer::kWait;
  if (!whole || !unknown.handshake->accepts(unknown.received)) {
    return refuse(unknown, "does not know this run's secret");
  }
  unknown.channel = std::make_unique<ControlChannel>(std::move(unknown.socket), unknown.handshake->keys());
  unknown.channel->limit_incoming(kMostHelloBytes);
  return Answer::kWait;
}

RankAcceptor::Answer RankAcceptor::receive_message(Unknown& unknown, std::vector<Arrival>& arrivals) {
  std::vector<Message> messages;
  try {
    messages = unknown.channel->read_available();
  } catch (const Error&) {
    return refuse(unknown, "does not speak ddbench's protocol");
  }
  if (messages.empty()) return unknown.channel->closed() ? Answer::kGone : Answer::kWait;
  const Hello* hello = std::get_if<Hello>(&messages.front());
  // A rank sends nothing more before it has its assignment.
  if (hello == nullptr || messages.size() > 1 || hello->rank != unknown.rank) {
    return refuse(unknown, "does not begin as a rank does");
  }
  // Another one may have come since it was asked to prove itself.
  if (has_come(unknown.rank)) {
    unknown.channel->post(Stop{"another process is this rank already"});
    return refuse(unknown, fmt::format("was started as rank {}, which is here already", unknown.rank));
  }
  come_[static_cast<std::size_t>(unknown.rank)] = anybody_ = true;
  unknown.channel->limit_incoming(FrameStream::kMostFrameBytes);
  arrivals.push_back({std::move(unknown.channel), *hello});
  return Answer::kIn;
}

Refusal RankAcceptor::validate_hello(const RankHello& hello) const {
  const int world_size = static_cast<int>(come_.size());
  if (hello.version != kProtocolVersion) return Refusal::kOtherVersion;
  if (hello.world_size != world_size || hello.rank < 0 || hello.rank >= world_size) {
    return Refusal::kOtherWorld;
  }
  const Credentials& expected = credentials_.of(hello.rank);
  if (hello.job_hash != hash_of_job(expected.job)) return Refusal::kOtherJob;
  if (hello.has_secret == expected.token.empty()) {
    return hello.has_secret ? Refusal::kHasNoSecret : Refusal::kNeedsSecret;
  }
  return has_come(hello.rank) ? Refusal::kRankIsHere : Refusal::kNone;
}

RankAcceptor::Answer RankAcceptor::refuse(const Unknown& unknown, const std::string& why) {
  ++rejections_;
  if (rejected_.size() < kMostReported) rejected_.push_back(unknown.from + " " + why);
  return Answer::kGone;
}

std::string RankAcceptor::rejections() const {
  if (rejected_.empty()) return {};
  std::string text = "; turned away: ";
  for (std::size_t i = 0; i < rejected_.size(); ++i) text += (i > 0 ? ", " : "") + rejected_[i];
  if (rejections_ > rejected_.size()) text += fmt::format(" and {} more", rejections_ - rejected_.size());
  return text;
}

}  // namespace ddbench::launch
