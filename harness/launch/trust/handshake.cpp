#include "harness/launch/trust/handshake.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "core/error.h"
#include "harness/launch/trust/hmac.h"
#include "harness/launch/trust/protocol_version.h"
#include "harness/launch/trust/run_token.h"

namespace ddbench::launch {
namespace {

constexpr std::string_view kMagic{"ddbench\n", 8};
constexpr std::size_t kNonceBytes = 32;
constexpr std::uint32_t kHasSecret = 1;
constexpr std::size_t kChallengeHeadBytes = kMagic.size() + 2 * sizeof(std::uint32_t) + kNonceBytes;

static_assert(kHelloBytes == kMagic.size() + 4 * sizeof(std::uint32_t) + kDigestBytes + kNonceBytes);
static_assert(kChallengeBytes == kChallengeHeadBytes + kDigestBytes);
static_assert(kProofBytes == kDigestBytes);

// Proofs and derived keys must never be computed from the same text: each has a label of its own.
constexpr std::string_view kProtocolLabel = "ddbench control channel";
constexpr std::string_view kJobLabel = "ddbench job name";
constexpr std::string_view kLauncherProves = "proof of the launcher";
constexpr std::string_view kRankProves = "proof of the rank    ";
constexpr std::string_view kFromRank = "messages of the rank ";
constexpr std::string_view kFromLauncher = "messages of launcher ";

std::string number(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

std::uint32_t number_at(std::string_view bytes, std::size_t position) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(position, sizeof value))
    value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

std::string handshake_key(std::string_view token) {
  return KeyedHash(token).of({kProtocolLabel});
}

[[noreturn]] void turn_back(const std::string& why) {
  throw Error(ErrorCode::kRunFailed, why, 0, "handshake");
}

std::string describe(Refusal why, const Introduction& introduction, int launcher_version) {
  switch (why) {
    case Refusal::kOtherVersion:
      return fmt::format("it speaks protocol {} and this ddbench {}: they are of two versions",
                         launcher_version, kProtocolVersion);
    case Refusal::kOtherJob: return "it belongs to another job";
    case Refusal::kOtherWorld:
      return fmt::format("this process was started as rank {} of {}, but its run has another number of ranks",
                         introduction.rank, introduction.world_size);
    case Refusal::kRankIsHere:
      return fmt::format("a process that was started as rank {} is here already", introduction.rank);
    case Refusal::kNeedsSecret:
      return fmt::format("{} is set for rank 0 and not for this rank", kTokenVariable);
    case Refusal::kHasNoSecret:
      return fmt::format("{} is set for this rank and not for rank 0", kTokenVariable);
    case Refusal::kNone: break;
  }
  return fmt::format("it gives the unknown reason {}", static_cast<std::uint32_t>(why));
}

}  // namespace

RankHandshake::RankHandshake(std::string_view token, Introduction introduction)
    : key_(handshake_key(token)), introduction_(std::move(introduction)) {
  hello_ = std::string(kMagic) + number(kProtocolVersion) + number(token.empty() ? 0 : kHasSecret) +
           number(static_cast<std::uint32_t>(introduction_.rank)) +
           number(static_cast<std::uint32_t>(introduction_.world_size)) + hash_of_job(introduction_.job) +
           random_bytes(kNonceBytes);
}

std::string RankHandshake::answer(std::string_view challenge) {
  if (challenge.size() != kChallengeBytes || !challenge.starts_with(kMagic)) {
    turn_back("it does not speak ddbench's protocol");
  }
  const auto version = static_cast<int>(number_at(challenge, kMagic.size()));
  const auto refusal = static_cast<Refusal>(number_at(challenge, kMagic.size() + sizeof(std::uint32_t)));
  if (refusal != Refusal::kNone) {
    turn_back("the launcher turned this rank away: " + describe(refusal, introduction_, version));
  }
  // A launcher of another version turns ranks away itself; one that does not would speak past this rank.
  if (version != kProtocolVersion) turn_back(describe(Refusal::kOtherVersion, introduction_, version));
  const std::string transcript = hello_ + std::string(challenge.substr(0, kChallengeHeadBytes));
  const KeyedHash hash(key_);
  if (!equal_in_constant_time(challenge.substr(kChallengeHeadBytes),
                              hash.of({kLauncherProves, transcript}))) {
    turn_back(
        fmt::format("it does not know this run's secret: is {} the same for all ranks?", kTokenVariable));
  }
  transcript_ = transcript;
  return hash.of({kRankProves, transcript_});
}

SessionKeys RankHandshake::keys() const {
  const KeyedHash hash(key_);
  return {.sending = hash.of({kFromRank, transcript_}), .receiving = hash.of({kFromLauncher, transcript_})};
}

bool starts_as_hello(std::string_view bytes) {
  return bytes.size() < kMagic.size() ? kMagic.starts_with(bytes) : bytes.starts_with(kMagic);
}

std::optional<RankHello> read_hello(std::string_view hello) {
  if (hello.size() != kHelloBytes || !hello.starts_with(kMagic)) return std::nullopt;
  constexpr std::size_t kNumbers = kMagic.size();
  RankHello read;
  read.version = static_cast<int>(number_at(hello, kNumbers));
  read.has_secret = (number_at(hello, kNumbers + 4) & kHasSecret) != 0;
  read.rank = static_cast<int>(number_at(hello, kNumbers + 8));
  read.world_size = static_cast<int>(number_at(hello, kNumbers + 12));
  read.job_hash = hello.substr(kNumbers + 16, kDigestBytes);
  return read;
}

std::string hash_of_job(std::string_view job) {
  return KeyedHash(kJobLabel).of({job});
}

std::string refusal_challenge(Refusal why) {
  return std::string(kMagic) + number(kProtocolVersion) + number(static_cast<std::uint32_t>(why)) +
         std::string(kNonceBytes + kDigestBytes, '\0');
}

LauncherHandshake::LauncherHandshake(std::string_view token, std::string_view hello)
    : key_(handshake_key(token)) {
  const std::string head = std::string(kMagic) + number(kProtocolVersion) +
                           number(static_cast<std::uint32_t>(Refusal::kNone)) + random_bytes(kNonceBytes);
  transcript_ = std::string(hello) + head;
  challenge_ = head + KeyedHash(key_).of({kLauncherProves, transcript_});
}

bool LauncherHandshake::accepts(std::string_view proof) const {
  return equal_in_constant_time(proof, KeyedHash(key_).of({kRankProves, transcript_}));
}

SessionKeys LauncherHandshake::keys() const {
  const KeyedHash hash(key_);
  return {.sending = hash.of({kFromLauncher, transcript_}), .receiving = hash.of({kFromRank, transcript_})};
}

}  // namespace ddbench::launch
