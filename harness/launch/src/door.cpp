#include "door.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>

#include "ddbench/record/error.h"

namespace ddbench::launch {
namespace {

constexpr std::size_t kMostTold = 3;

/// Takes as long wherever the difference is.
bool same_secret(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

}  // namespace

Door::Door(const Endpoint& at, std::string token, int world_size)
    : listener_(listen_at(at)), token_(std::move(token)), come_(static_cast<std::size_t>(world_size)) {}

std::vector<int> Door::watched() const {
  std::vector<int> fds{listener_.get()};
  for (const Unknown& unknown : unknown_) fds.push_back(unknown.channel->fd());
  return fds;
}

void Door::accept_all() {
  while (unknown_.size() < kMostUnknown) {
    UniqueFd connection = accept_connection(listener_.get());
    if (!connection) return;
    std::string from = remote_end(connection.get()).address;
    unknown_.push_back({std::make_unique<ControlChannel>(std::move(connection)), std::move(from),
                        std::chrono::steady_clock::now()});
  }
}

std::vector<Arrival> Door::take_arrivals() {
  accept_all();
  std::vector<Arrival> arrivals;
  std::erase_if(unknown_, [&](Unknown& unknown) { return hear(unknown, arrivals) != Answer::kWait; });
  return arrivals;
}

Door::Answer Door::hear(Unknown& unknown, std::vector<Arrival>& arrivals) {
  std::vector<Message> messages;
  try {
    messages = unknown.channel->read_available();
  } catch (const Error&) {
    return refuse(unknown, "does not speak ddbench's protocol");
  }
  if (messages.empty()) {
    if (unknown.channel->closed()) return Answer::kGone;
    if (std::chrono::steady_clock::now() - unknown.since < kSaysWhoWithin) return Answer::kWait;
    return refuse(unknown, "did not say who it is");
  }
  const Hello* hello = std::get_if<Hello>(&messages.front());
  // A rank says nothing more before it has its assignment.
  if (hello == nullptr || messages.size() > 1) return refuse(unknown, "does not begin as a rank does");
  if (const std::string why = objection(*hello); !why.empty()) return refuse(unknown, why);
  come_[static_cast<std::size_t>(hello->rank)] = anybody_ = true;
  arrivals.push_back({std::move(unknown.channel), *hello});
  return Answer::kIn;
}

std::string Door::objection(const Hello& hello) const {
  const int world_size = static_cast<int>(come_.size());
  if (!same_secret(hello.token, token_)) return "does not know this run's token";
  if (hello.protocol != kProtocolVersion) {
    return fmt::format("speaks protocol {}, this ddbench {}: they are of two versions", hello.protocol,
                       kProtocolVersion);
  }
  if (hello.rank < 0 || hello.rank >= world_size ||
      (hello.world_size >= 0 && hello.world_size != world_size)) {
    return fmt::format("was started as rank {} of {}, but this run has {} ranks", hello.rank,
                       hello.world_size, world_size);
  }
  if (has_come(hello.rank)) return fmt::format("was started as rank {}, which is here already", hello.rank);
  return {};
}

Door::Answer Door::refuse(Unknown& unknown, const std::string& why) {
  unknown.channel->post(Stop{"the launcher turned this rank away: it " + why});
  ++refusals_;
  if (refused_.size() < kMostTold) refused_.push_back(unknown.from + " " + why);
  return Answer::kGone;
}

std::string Door::refusals() const {
  if (refused_.empty()) return {};
  std::string text = "; turned away: ";
  for (std::size_t i = 0; i < refused_.size(); ++i) text += (i > 0 ? ", " : "") + refused_[i];
  if (refusals_ > refused_.size()) text += fmt::format(" and {} more", refusals_ - refused_.size());
  return text;
}

std::string new_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw Error(ErrorCode::kEnvironment, "the system gives no random numbers for the run's token");
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace ddbench::launch
