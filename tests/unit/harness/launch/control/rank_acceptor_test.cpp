#include "harness/launch/control/rank_acceptor.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "core/error.h"
#include "expect_error.h"
#include "hang_limit.h"
#include "harness/launch/remote/rank_login.h"

namespace ddbench::launch {
namespace {

using test::message_of;

using namespace std::chrono_literals;

const std::string kRunSecret = "correct horse battery";

class RankAcceptorTest : public ::testing::Test {
 protected:
  /// A rank that connects while the acceptor is asked for arrivals on this thread.
  struct Rank {
    std::unique_ptr<ControlChannel> channel;  // null: turned away
    std::string why_not;
  };
  std::future<Rank> knock(Introduction introduction, const std::string& token = kRunSecret) {
    return std::async(std::launch::async, [this, introduction, token] {
      Rank rank;
      try {
        LauncherConnection connection = log_in(acceptor_.endpoint(), token, introduction, test::kHangs);
        rank.channel = std::make_unique<ControlChannel>(std::move(connection.socket), connection.keys);
        Hello hello;
        hello.rank = introduction.rank;
        rank.channel->send(hello);
      } catch (const Error& error) {
        rank.why_not = error.message();
      }
      return rank;
    });
  }
  static Introduction rank_of_two(int rank) { return {.rank = rank, .world_size = 2, .job = "job7"}; }

  /// Asks the acceptor until the rank is done, and once more.
  Rank serve(std::future<Rank> knocking, std::vector<Arrival>& arrived) {
    const auto ask = [&] {
      for (Arrival& arrival : acceptor_.take_arrivals()) arrived.push_back(std::move(arrival));
    };
    while (knocking.wait_for(1ms) != std::future_status::ready) ask();
    Rank rank = knocking.get();
    for (int i = 0; i < 500 && rank.channel && arrived.empty(); ++i, std::this_thread::sleep_for(1ms)) ask();
    return rank;
  }
  std::string refusal_of(const Introduction& introduction, const std::string& token = kRunSecret) {
    std::vector<Arrival> arrived;
    const Rank rank = serve(knock(introduction, token), arrived);
    EXPECT_TRUE(arrived.empty());
    EXPECT_NE(rank.why_not.find(to_string(acceptor_.endpoint())), std::string::npos) << rank.why_not;
    // A rank that has turned away by itself is noticed by its end.
    for (int i = 0; i < 500 && acceptor_.rejections().empty(); ++i, std::this_thread::sleep_for(1ms)) {
      EXPECT_TRUE(acceptor_.take_arrivals().empty());
    }
    return rank.why_not;
  }
  Rank admit(int rank) {
    std::vector<Arrival> arrived;
    Rank admitted = serve(knock(rank_of_two(rank)), arrived);
    EXPECT_EQ(arrived.size(), 1u) << admitted.why_not;
    if (!arrived.empty()) {
      EXPECT_EQ(arrived.front().hello.rank, rank);
      here_.push_back(std::move(arrived.front()));
    }
    return admitted;
  }

  RankAcceptor acceptor_{{"127.0.0.1", 0}, {.started = {.token = kRunSecret, .job = "job7"}, .others = std::nullopt}, 2};
  std::vector<Arrival> here_;
};

TEST_F(RankAcceptorTest, LetsTheRanksIn) {
  const Rank one = admit(1);
  const Rank zero = admit(0);
  EXPECT_TRUE(acceptor_.has_come(0) && acceptor_.has_come(1));
  EXPECT_EQ(acceptor_.rejections(), "");
  // Both directions are sealed with the keys of this connection.
  here_.front().channel->post(Stop{"because"});
  ASSERT_TRUE(one.channel->wait_readable(test::kHangs));
  EXPECT_EQ(std::get<Stop>(one.channel->read_available().at(0)).reason, "because");
}

TEST_F(RankAcceptorTest, TurnsAwayWhoDoesNotKnowTheSecret) {
  EXPECT_NE(refusal_of(rank_of_two(0), "correct horse batterY").find("DDBENCH_TOKEN"), std::string::npos);
  EXPECT_NE(acceptor_.rejections().find("127.0.0.1 does not know this run's secret"), std::string::npos);
  EXPECT_NE(refusal_of(rank_of_two(0), "").find("DDBENCH_TOKEN is set for rank 0"), std::string::npos);
  EXPECT_FALSE(acceptor_.has_come(0));
}

TEST_F(RankAcceptorTest, TurnsAwayASecondRankOfOneNumberAndRanksOfOtherWorldsAndJobs) {
  const Rank first = admit(0);
  EXPECT_NE(refusal_of(rank_of_two(0)).find("here already"), std::string::npos);
  EXPECT_NE(refusal_of({.rank = 1, .world_size = 4, .job = "job7"}).find("rank 1 of 4"), std::string::npos);
  EXPECT_NE(refusal_of({.rank = -1, .world_size = 2, .job = "job7"}).find("rank -1 of 2"), std::string::npos);
  EXPECT_NE(refusal_of({.rank = 1, .world_size = 2, .job = "job8"}).find("another job"), std::string::npos);
}

TEST_F(RankAcceptorTest, OfRanksThatComeByThemselvesOnlyRankZeroHasTheLaunchersSecret) {
  acceptor_ = RankAcceptor({"127.0.0.1", 0},
               {.started = {.token = kRunSecret, .job = "job7"}, .others = Credentials{"", "job7"}}, 2);
  EXPECT_NE(refusal_of(rank_of_two(0), "").find("DDBENCH_TOKEN"), std::string::npos)
      << "nobody else is rank 0";
  EXPECT_NE(refusal_of(rank_of_two(1)).find("not for rank 0"), std::string::npos);
  std::vector<Arrival> arrived;
  EXPECT_EQ(serve(knock(rank_of_two(1), ""), arrived).why_not, "");
  EXPECT_EQ(arrived.size(), 1u);
  admit(0);
}

TEST_F(RankAcceptorTest, TurnsAwayWhatSpeaksAnotherProtocol) {
  const UniqueFd browser = connect_to(acceptor_.endpoint(), test::kHangs);
  ASSERT_GT(::write(browser.get(), "GET / HTTP/1.1\r\n\r\n", 18), 0);
  for (int i = 0; i < 500 && acceptor_.rejections().empty(); ++i) {
    EXPECT_TRUE(acceptor_.take_arrivals().empty());
    std::this_thread::sleep_for(2ms);
  }
  EXPECT_NE(acceptor_.rejections().find("protocol"), std::string::npos);
}

TEST_F(RankAcceptorTest, HoldsABoundedNumberOfStrangersAndRanksGetInBesidesThem) {
  std::deque<UniqueFd> strangers;
  for (std::size_t i = 0; i < 2 * RankAcceptor::kMostUnknown; ++i)
    strangers.push_back(connect_to(acceptor_.endpoint(), test::kHangs));
  EXPECT_TRUE(acceptor_.take_arrivals().empty());
  EXPECT_EQ(acceptor_.watched().size(), RankAcceptor::kMostUnknown) << "and nobody more is accepted";
  admit(1);
  EXPECT_NE(acceptor_.rejections().find("did not say who it is"), std::string::npos);
}

TEST_F(RankAcceptorTest, ARankThatHasProvedItselfSaysHelloAndNothingElse) {
  auto joining = std::async(std::launch::async, [this] {
    LauncherConnection connection = log_in(acceptor_.endpoint(), kRunSecret, rank_of_two(1), test::kHangs);
    ControlChannel channel(std::move(connection.socket), connection.keys);
    Hello hello;
    hello.rank = 0;
    channel.send(hello);
    channel.wait_readable(test::kHangs);
  });
  while (joining.wait_for(1ms) != std::future_status::ready) EXPECT_TRUE(acceptor_.take_arrivals().empty());
  EXPECT_NE(acceptor_.rejections().find("does not begin as a rank does"), std::string::npos);
  EXPECT_FALSE(acceptor_.has_come(0) || acceptor_.has_come(1));
}

TEST_F(RankAcceptorTest, APortThatIsTakenIsNamed) {
  const Endpoint taken = acceptor_.endpoint();
  const std::string message = message_of(ErrorCode::kEnvironment, [&] { RankAcceptor(taken, {}, 1); });
  EXPECT_NE(message.find(to_string(taken)), std::string::npos) << message;
  EXPECT_NE(message.find("--port"), std::string::npos) << message;
}

}  // namespace
}  // namespace ddbench::launch
