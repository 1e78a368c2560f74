#include "harness/launch/trust/handshake.h"

#include <gtest/gtest.h>

#include <set>

#include "expect_error.h"
#include "harness/launch/control/messages.h"
#include "harness/launch/trust/hmac.h"
#include "harness/launch/trust/run_token.h"

namespace ddbench::launch {
namespace {

using test::message_of;

const std::string kSecret = "correct horse battery";
const Introduction kRankOne{.rank = 1, .world_size = 4, .job = "job7"};

TEST(Hmac, IsThatOfRfc4231) {
  const auto hex = [](const std::string& bytes) {
    std::string text;
    for (const unsigned char byte : bytes) {
      constexpr char kDigits[] = "0123456789abcdef";
      text += {kDigits[byte >> 4], kDigits[byte & 15]};
    }
    return text;
  };
  const KeyedHash jefe("Jefe");
  const std::string expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
  EXPECT_EQ(hex(jefe.of({"what do ya want for nothing?"})), expected);
  EXPECT_EQ(hex(jefe.of({"what do ya ", "", "want for nothing?"})), expected) << "again, and in parts";
  EXPECT_EQ(hex(KeyedHash("").of({""})), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(Hmac, ComparesWholeTexts) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
  EXPECT_FALSE(equal_in_constant_time("", "a"));
}

TEST(Handshake, BothSidesGetTheSameKeysAndProveTheSecret) {
  RankHandshake rank(kSecret, kRankOne);
  const std::optional<RankHello> hello = read_hello(rank.hello());
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->version, kProtocolVersion);
  EXPECT_EQ(hello->rank, 1);
  EXPECT_EQ(hello->world_size, 4);
  EXPECT_TRUE(hello->has_secret);
  EXPECT_EQ(hello->job_hash, hash_of_job("job7"));
  const LauncherHandshake launcher(kSecret, rank.hello());
  EXPECT_TRUE(launcher.accepts(rank.answer(launcher.challenge())));
  EXPECT_EQ(rank.keys().sending, launcher.keys().receiving);
  EXPECT_EQ(rank.keys().receiving, launcher.keys().sending);
  EXPECT_NE(rank.keys().sending, rank.keys().receiving);
}

TEST(Handshake, TheSecretIsInNoneOfItsBytes) {
  RankHandshake rank(kSecret, kRankOne);
  const LauncherHandshake launcher(kSecret, rank.hello());
  const std::string proof = rank.answer(launcher.challenge());
  for (const std::string& sent : {rank.hello(), launcher.challenge(), proof}) {
    EXPECT_EQ(sent.find(kSecret), std::string::npos);
  }
  EXPECT_EQ(rank.hello().size(), kHelloBytes);
  EXPECT_EQ(launcher.challenge().size(), kChallengeBytes);
  EXPECT_EQ(proof.size(), kProofBytes);
}

TEST(Handshake, AWrongSecretIsNoticedByBothSides) {
  RankHandshake rank(kSecret, kRankOne);
  const LauncherHandshake stranger("another secret, as long", rank.hello());
  EXPECT_NE(message_of(ErrorCode::kRunFailed, [&] { rank.answer(stranger.challenge()); }).find("secret"),
            std::string::npos);
  // A rank that does not care whether its launcher is genuine is found out by a genuine one.
  const LauncherHandshake launcher(kSecret, rank.hello());
  RankHandshake same_hello_other_secret("another secret, as long", kRankOne);
  const LauncherHandshake its_own("another secret, as long", same_hello_other_secret.hello());
  EXPECT_FALSE(launcher.accepts(same_hello_other_secret.answer(its_own.challenge())));
}

TEST(Handshake, NoSecretDoesNotPassForOneAndOneNotForNone) {
  RankHandshake rank(kSecret, kRankOne);
  const LauncherHandshake without("", rank.hello());
  message_of(ErrorCode::kRunFailed, [&] { rank.answer(without.challenge()); });
  RankHandshake open("", kRankOne);
  EXPECT_FALSE(read_hello(open.hello())->has_secret);
  const LauncherHandshake with(kSecret, open.hello());
  message_of(ErrorCode::kRunFailed, [&] { open.answer(with.challenge()); });
}

TEST(Handshake, WhatWasRecordedBeforeIsWorthNothing) {
  RankHandshake first(kSecret, kRankOne);
  const LauncherHandshake launcher(kSecret, first.hello());
  const std::string proof = first.answer(launcher.challenge());
  // The same hello again: the launcher asks something else.
  const LauncherHandshake again(kSecret, first.hello());
  EXPECT_NE(again.challenge(), launcher.challenge());
  EXPECT_FALSE(again.accepts(proof));
  // The same challenge again, but a different hello of the rank.
  RankHandshake second(kSecret, kRankOne);
  message_of(ErrorCode::kRunFailed, [&] { second.answer(launcher.challenge()); });
}

TEST(Handshake, WordsOfOneSideAreNotThoseOfTheOther) {
  RankHandshake rank(kSecret, kRankOne);
  const LauncherHandshake launcher(kSecret, rank.hello());
  const std::string proof = rank.answer(launcher.challenge());
  // The launcher's own proof sent back to it, and the rank's to the rank.
  EXPECT_FALSE(launcher.accepts(launcher.challenge().substr(kChallengeBytes - kProofBytes)));
  const std::string mirrored = launcher.challenge().substr(0, kChallengeBytes - kProofBytes) + proof;
  message_of(ErrorCode::kRunFailed, [&] { rank.answer(mirrored); });
  EXPECT_FALSE(read_hello(launcher.challenge())) << "a challenge is no hello";
  message_of(ErrorCode::kRunFailed, [&] { rank.answer(rank.hello().substr(0, kChallengeBytes)); });
}

TEST(Handshake, EveryBitOfItCounts) {
  RankHandshake rank(kSecret, kRankOne);
  const LauncherHandshake launcher(kSecret, rank.hello());
  const auto flipped = [](std::string bytes, std::size_t bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    return bytes;
  };
  for (std::size_t bit = 0; bit < kChallengeBytes * 8; ++bit) {
    RankHandshake victim = rank;
    EXPECT_THROW(victim.answer(flipped(launcher.challenge(), bit)), Error) << bit;
  }
  const std::string proof = rank.answer(launcher.challenge());
  for (std::size_t bit = 0; bit < kProofBytes * 8; ++bit) EXPECT_FALSE(launcher.accepts(flipped(proof, bit)));
  // Both proofs cover the rank's hello: a hello that was changed on its way is noticed.
  for (std::size_t bit = 0; bit < kHelloBytes * 8; ++bit) {
    const LauncherHandshake misled(kSecret, flipped(rank.hello(), bit));
    RankHandshake victim = rank;
    EXPECT_THROW(victim.answer(misled.challenge()), Error) << bit;
  }
}

TEST(Handshake, WhatIsCutShortIsRefused) {
  RankHandshake rank(kSecret, kRankOne);
  const LauncherHandshake launcher(kSecret, rank.hello());
  const std::string proof = rank.answer(launcher.challenge());
  for (std::size_t bytes = 0; bytes < kChallengeBytes; ++bytes) {
    EXPECT_THROW(RankHandshake(rank).answer(launcher.challenge().substr(0, bytes)), Error);
  }
  for (std::size_t bytes = 0; bytes < kProofBytes; ++bytes) {
    EXPECT_FALSE(launcher.accepts(proof.substr(0, bytes)));
  }
  for (std::size_t bytes = 0; bytes < kHelloBytes; ++bytes) {
    EXPECT_FALSE(read_hello(rank.hello().substr(0, bytes)));
    EXPECT_TRUE(starts_as_hello(rank.hello().substr(0, bytes)));
  }
  EXPECT_FALSE(starts_as_hello("GET / HTTP/1.1"));
  EXPECT_FALSE(starts_as_hello("G"));
}

TEST(Handshake, ARankThatIsTurnedAwayKnowsWhy) {
  const auto reason = [](Refusal why) {
    RankHandshake rank(kSecret, kRankOne);
    return message_of(ErrorCode::kRunFailed, [&] { rank.answer(refusal_challenge(why)); });
  };
  std::set<std::string> reasons;
  for (const Refusal why :
       {Refusal::kOtherVersion, Refusal::kOtherJob, Refusal::kOtherWorld, Refusal::kRankIsHere,
        Refusal::kNeedsSecret, Refusal::kHasNoSecret, static_cast<Refusal>(77)}) {
    reasons.insert(reason(why));
  }
  EXPECT_EQ(reasons.size(), 7u);
  EXPECT_NE(reason(Refusal::kOtherWorld).find("rank 1 of 4"), std::string::npos);
  EXPECT_NE(reason(Refusal::kNeedsSecret).find("DDBENCH_TOKEN"), std::string::npos);
}

TEST(Handshake, ARankLeavesALauncherOfAnotherVersionThatLetsItIn) {
  RankHandshake rank(kSecret, kRankOne);
  std::string challenge = LauncherHandshake(kSecret, rank.hello()).challenge();
  ++challenge[11];  // behind the 8 bytes of the magic, the last of the version's 4
  const std::string message = message_of(ErrorCode::kRunFailed, [&] { rank.answer(challenge); });
  EXPECT_NE(message.find("speaks protocol " + std::to_string(kProtocolVersion + 1)), std::string::npos)
      << message;
}

TEST(RunToken, IsTakenOutOfTheEnvironment) {
  ::unsetenv(kTokenVariable);
  EXPECT_EQ(take_token(), "");
  ::setenv(kTokenVariable, " 0123456789abcdef\n", 1);
  EXPECT_EQ(take_token(), "0123456789abcdef");
  EXPECT_EQ(std::getenv(kTokenVariable), nullptr);
  EXPECT_EQ(new_token().size(), 32u);
  EXPECT_NE(new_token(), new_token());
}

TEST(RunToken, OneThatIsTooShortIsRefused) {
  for (const char* token : {"", " \n", "0123456789abcde"}) {
    ::setenv(kTokenVariable, token, 1);
    const std::string message = message_of(ErrorCode::kBadInput, [] { take_token(); });
    EXPECT_NE(message.find("openssl rand"), std::string::npos) << message;
    EXPECT_EQ(message.find("abcde"), std::string::npos) << "a secret is not printed";
    EXPECT_EQ(std::getenv(kTokenVariable), nullptr);
  }
}

}  // namespace
}  // namespace ddbench::launch
