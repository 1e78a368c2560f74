#include "harness/http/server/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <new>
#include <string>
#include <thread>

#include "core/unique_handle.h"
#include "expect_error.h"

namespace ddbench::http {
namespace {

using test::contains;

/// For what must happen: far more than it takes.
constexpr int kPatience_ms = 60'000;

/// Sends and receives bytes.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }

  void send(std::string_view bytes) const { static_cast<void>(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL)); }

  /// What came until the server closed the connection, or until `end` came.
  std::string receive(std::string_view end = {}) const {
    std::string all;
    char piece[4096];
    while (true) {
      pollfd waiting{socket_.get(), POLLIN, 0};
      if (::poll(&waiting, 1, kPatience_ms) != 1) return all + "(nothing more came)";
      const ssize_t count = ::recv(socket_.get(), piece, sizeof piece, 0);
      if (count <= 0) return all;
      all.append(piece, static_cast<std::size_t>(count));
      if (!end.empty() && contains(all, end)) return all;
    }
  }

  std::string ask(std::string_view request) const {
    send(request);
    return receive();
  }

 private:
  UniqueFd socket_;
};

constexpr const char* kLastRequest = "GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Answers with what was asked for, unless another handler is given.
class ServerTest : public ::testing::Test {
 protected:
  ~ServerTest() override { end(); }

  void serve(const ServerLimits& limits = {}, Handler handler = [](const ReceivedRequest& request) {
    return Reply{.type = "text/plain", .body = request.method + " " + request.target + " of " + values_of(request, "HOST").at(0), .headers = {{"X-Own", "yes"}}};
  }) {
    server_.emplace("127.0.0.1", std::uint16_t{0}, limits, std::move(handler));
    thread_ = std::thread([this] { server_->run(); });
  }
  void end() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }
  Client client() const { return Client(server_->port()); }

  std::optional<Server> server_;
  std::thread thread_;
};

TEST_F(ServerTest, AnswersOneRequestAfterTheOther) {
  serve();
  const Client one = client();
  one.send("GET /run/1?x=y HTTP/1.1\r\nHost: localhost\r\n\r\nGET /second HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string both = one.receive("/second of localhost");
  EXPECT_TRUE(contains(both, "HTTP/1.1 200 OK\r\n")) << both;
  EXPECT_TRUE(contains(both, "X-Own: yes\r\n") && contains(both, "Content-Length: 27\r\n") && contains(both, "GET /run/1?x=y of localhost")) << both;
  const std::string head = client().ask("HEAD /run/1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(contains(head, "Content-Length: 16\r\n") && head.ends_with("\r\n\r\n")) << head;
}

TEST_F(ServerTest, WhatIsNoRequestGetsItsStatusAndTheServerGoesOn) {
  serve({.header_bytes = 2048});
  const std::string_view kInvalid[] = {"\x16\x03\x01 hello TLS\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nNo colon\r\n\r\n",
                                       "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"};
  for (const std::string_view invalid : kInvalid) {
    const std::string reply = client().ask(invalid);
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 400 ")) << invalid << "\n" << reply;
  }
  const std::string long_header = "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(4000, 'x') + "\r\n\r\n";
  EXPECT_TRUE(client().ask(long_header).starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(client().ask("GET /" + std::string(4000, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n").starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(client().ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody").starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(contains(client().ask(kLastRequest), "GET /a of localhost"));
}

TEST_F(ServerTest, SlowClientsAreCutOff) {
  serve({.request = std::chrono::milliseconds(100)});
  const Client silent = client();
  const Client slow = client();
  slow.send("GET / HTTP/1.1\r\nHost:");
  EXPECT_EQ(silent.receive(), "");
  EXPECT_EQ(slow.receive(), "");
}

TEST_F(ServerTest, ManySilentClientsKeepNobodyOut) {
  serve({.connections = 2, .request = std::chrono::hours(1)});
  const Client first = client();
  first.send("GET ");
  const Client second = client();
  second.send("GET ");
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(contains(client().ask(kLastRequest), "GET /a of localhost"));
  EXPECT_EQ(first.receive(), "") << "it has waited for the longest time";
}

TEST_F(ServerTest, ClientsThatDoNotTakeTheirRepliesKeepNobodyOut) {
  constexpr std::size_t kMoreThanSocketsHold = 64 << 20;
  serve({.connections = 2, .reply = std::chrono::hours(1)}, [](const ReceivedRequest& request) {
    return Reply{.body = request.target == "/large" ? std::string(kMoreThanSocketsHold, 'x') : request.target};
  });
  const Client first = client();
  const Client second = client();
  for (const Client* each : {&first, &second}) each->send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(contains(first.receive("xxx"), "200 OK")) << "it is being sent";
  EXPECT_TRUE(contains(second.receive("xxx"), "200 OK"));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(client().ask(kLastRequest).ends_with("/a"));
}

TEST_F(ServerTest, ARefusalEndsTheConnection) {
  serve({}, [](const ReceivedRequest&) { return Reply{.status = 401, .body = "no"}; });
  const std::string reply = client().ask("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(contains(reply, "Connection: close\r\n") && reply.ends_with("no")) << reply;
  EXPECT_EQ(reply.find("HTTP/1.1", 1), std::string::npos) << "one reply";
}

TEST_F(ServerTest, AHandlerThatThrowsEndsNothing) {
  serve({}, [](const ReceivedRequest& request) -> Reply {
    if (request.target == "/bad") throw std::bad_alloc();
    return Reply{.body = request.target};
  });
  EXPECT_TRUE(client().ask("GET /bad HTTP/1.1\r\nHost: h\r\n\r\n").starts_with("HTTP/1.1 503 "));
  EXPECT_TRUE(client().ask(kLastRequest).ends_with("/a"));
}

TEST_F(ServerTest, RepliesAreMadeBesideEachOther) {
  std::promise<void> arrived;
  std::promise<void> released;
  const std::shared_future<void> release = released.get_future().share();
  serve({.threads = 2}, [&](const ReceivedRequest& request) {
    if (request.target == "/slow") {
      arrived.set_value();
      release.wait();
    }
    return Reply{.body = request.target};
  });
  const Client slow = client();
  slow.send("GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  arrived.get_future().wait();
  EXPECT_TRUE(client().ask(kLastRequest).ends_with("/a"));
  released.set_value();
  EXPECT_TRUE(slow.receive().ends_with("/slow"));
}

TEST_F(ServerTest, StopFinishesRepliesAndEndsOtherConnections) {
  std::promise<void> arrived;
  std::promise<void> released;
  serve({.request = std::chrono::hours(1)}, [&](const ReceivedRequest&) {
    arrived.set_value();
    released.get_future().wait();
    return Reply{.body = "all of it"};
  });
  const Client waiting = client();
  const Client answered = client();
  answered.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  arrived.get_future().wait();
  server_->stop();
  EXPECT_EQ(waiting.receive(), "");
  released.set_value();
  EXPECT_TRUE(answered.receive().ends_with("all of it"));
  thread_.join();
}

TEST(Server, AddressesThatCannotBeUsed) {
  const Handler none = [](const ReceivedRequest&) { return Reply{}; };
  EXPECT_ERROR(ErrorCode::kBadInput, "\"example.org\" is not an IP address", Server("example.org", 0, {}, none));
  EXPECT_ERROR(ErrorCode::kBadInput, "cannot listen on 192.0.2.1", Server("192.0.2.1", 0, {}, none));  // RFC 5737: nobody's
  const Server first("127.0.0.1", 0, {}, none);
  EXPECT_ERROR(ErrorCode::kEnvironment, "cannot listen on 127.0.0.1, port", Server("127.0.0.1", first.port(), {}, none));
}

}  // namespace
}  // namespace ddbench::http
