#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// How a rank and its launcher prove to each other that they know the run's secret, without sending it.
///
///     rank → launcher  hello      version, rank, world size, hash of the job's name, random R
///     launcher → rank  challenge  random L, HMAC(K, "launcher" hello L)     or why it turns the rank away
///     rank → launcher  proof      HMAC(K, "rank" hello L)
///
/// with HMAC-SHA-256 and K = HMAC(secret, protocol name). The keys of the messages that follow are HMACs of
/// the same transcript under K, one a direction. Both random numbers are new for each connection, so nothing
/// recorded before is worth anything; the labels keep one side's words from passing for the other's. Every
/// frame has a fixed length.
///
/// With an empty secret the same bytes are exchanged under a key that everybody knows: they prove nothing,
/// and whoever uses such a connection must not trust it (own_command.h). Which of the two it is, is decided
/// by each side alone and never negotiated.
///
/// Here are bytes only: sockets and time limits are the callers'.
namespace ddbench::launch {

inline constexpr std::size_t kHelloBytes = 88;
inline constexpr std::size_t kChallengeBytes = 80;
inline constexpr std::size_t kProofBytes = 32;

/// What a rank shows when it connects.
struct Introduction {
  int rank = 0;
  int world_size = 0;
  std::string job;  ///< name of the job that all its ranks know; empty: none
};

/// Keys of the messages after the handshake, as one side uses them.
struct SessionKeys {
  std::string sending;
  std::string receiving;
};

/// Why a launcher turns a rank away; goes over the wire as this number.
enum class Refusal : std::uint32_t {
  kNone,
  kOtherVersion,  ///< of the protocol
  kOtherJob,
  kOtherWorld,   ///< number of ranks
  kRankIsHere,   ///< this rank has connected before
  kNeedsSecret,  ///< the launcher has a secret and the rank has none
  kHasNoSecret,  ///< the rank has a secret and the launcher has none
};

/// The rank's side.
class RankHandshake {
 public:
  /// `token`: the secret; empty: none.
  RankHandshake(std::string_view token, Introduction introduction);

  const std::string& hello() const noexcept { return hello_; }
  /// The proof that answers the challenge (kChallengeBytes). Throws Error{kRunFailed} with the reason when
  /// the launcher rejected this rank, speaks another protocol, or does not know the secret.
  std::string answer(std::string_view challenge);
  /// After answer().
  SessionKeys keys() const;

 private:
  std::string key_;
  Introduction introduction_;
  std::string hello_;
  std::string transcript_;
};

/// What a launcher reads in a hello.
struct RankHello {
  int version = 0;
  bool has_secret = false;
  int rank = 0;
  int world_size = 0;
  std::string job_hash;
};
/// Whether these first bytes, at most kHelloBytes, may become a hello.
bool starts_as_hello(std::string_view bytes);
/// Nothing when the bytes (kHelloBytes) are of another protocol altogether.
std::optional<RankHello> read_hello(std::string_view hello);
std::string hash_of_job(std::string_view job);

/// What a rank that is turned away is sent.
std::string refusal_challenge(Refusal why);

/// The launcher's side, after it has decided to accept messages from the rank.
class LauncherHandshake {
 public:
  LauncherHandshake(std::string_view token, std::string_view hello);

  const std::string& challenge() const noexcept { return challenge_; }
  /// Whether the rank knows the secret.
  bool accepts(std::string_view proof) const;
  /// To be used only after accepts().
  SessionKeys keys() const;

 private:
  std::string key_;
  std::string transcript_;
  std::string challenge_;
};

}  // namespace ddbench::launch
