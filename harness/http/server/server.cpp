#include "harness/http/server/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/string.hpp>
#include <csignal>
#include <list>

#include "core/error.h"
#include "core/threads/signals_blocked.h"
#include "harness/http/server/connection.h"

namespace ddbench::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using asio::ip::tcp;

/// Before the next attempt to accept, where this one failed: descriptors may have run out for a while.
constexpr std::chrono::milliseconds kPause{100};

tcp::endpoint endpoint_of(const std::string& address, std::uint16_t port) {
  error_code error;
  const asio::ip::address parsed = asio::ip::make_address(address, error);
  if (error) throw Error(ErrorCode::kBadInput, fmt::format("\"{}\" is not an IP address to listen on", address));
  return {parsed, port};
}

tcp::acceptor listening_at(asio::io_context& io, const tcp::endpoint& endpoint) {
  tcp::acceptor acceptor(io);
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (!error) return acceptor;
  const bool is_foreign = error == boost::system::errc::address_not_available || error == boost::system::errc::address_family_not_supported;
  throw Error(is_foreign ? ErrorCode::kBadInput : ErrorCode::kEnvironment,
              fmt::format("cannot listen on {}, port {}: {}", endpoint.address().to_string(), endpoint.port(), error.message()), error.value());
}

}  // namespace

std::vector<std::string> values_of(const ReceivedRequest& request, std::string_view name) {
  std::vector<std::string> values;
  for (const Header& header : request.headers) {
    if (boost::beast::iequals(header.name, {name.data(), name.size()})) values.push_back(header.value);
  }
  return values;
}

class Server::Impl final : public ConnectionOwner {
 public:
  Impl(const std::string& address, std::uint16_t port, const ServerLimits& limits, Handler handler)
      : limits_(limits), handler_(std::move(handler)), acceptor_(listening_at(io_, endpoint_of(address, port))) {}

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  void run() {
    {
      const SignalsBlocked blocked;
      workers_.emplace(limits_.threads);
    }
    signals_.async_wait([this](error_code error, int) {
      if (!error) end();
    });
    accept();
    io_.run();
    workers_->join();
  }

  void stop() {
    asio::post(io_, [this] { end(); });
  }

  const ServerLimits& limits() const override { return limits_; }
  bool is_stopping() const override { return is_stopping_; }

  void make_reply(ReceivedRequest request, std::function<void(Reply)> then) override {
    // While a reply is in the making, nothing else may keep run() from ending.
    asio::post(*workers_, [this, request = std::move(request), then = std::move(then), work = asio::make_work_guard(io_)]() mutable {
      // Moved, so that a connection is destroyed on the server's thread.
      asio::post(io_, [then = std::move(then), reply = reply_to(request)]() mutable { then(std::move(reply)); });
    });
  }

  void on_waiting(Connection& connection) override { waiting_.push_back(&connection); }
  void on_busy(Connection& connection) override { waiting_.remove(&connection); }
  void on_replying(Connection& connection) override { replying_.push_back(&connection); }
  void on_replied(Connection& connection) override { replying_.remove(&connection); }
  void on_closed(Connection& connection) override {
    waiting_.remove(&connection);
    replying_.remove(&connection);
    --open_;
    if (is_stopping_ && open_ == 0) last_replies_.cancel();
  }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (is_stopping_) return;
      if (error) return accept_later();
      if (open_ == limits_.connections) make_room();
      if (open_ < limits_.connections) {
        ++open_;
        std::make_shared<Connection>(std::move(socket), *this)->await_request();
      }
      accept();
    });
  }

  void make_room() {
    if (!waiting_.empty())
      waiting_.front()->close();
    else if (!replying_.empty())
      replying_.front()->close();
  }

  /// Of a handler that throws after all, such as without memory: the server goes on.
  Reply reply_to(const ReceivedRequest& request) const noexcept try {
    return handler_(request);
  } catch (...) {
    return {.status = 503};
  }

  void accept_later() {
    pause_.expires_after(kPause);
    pause_.async_wait([this](error_code) {
      if (!is_stopping_) accept();
    });
  }

  void end() {
    if (std::exchange(is_stopping_, true)) return;
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    signals_.clear(ignored);  // the next one has its usual effect
    signals_.cancel(ignored);
    while (!waiting_.empty()) waiting_.front()->close();
    if (open_ == 0) return;
    last_replies_.expires_after(limits_.last_reply);
    last_replies_.async_wait([this](error_code failed) {
      while (!failed && !replying_.empty()) replying_.front()->close();
    });
  }

  const ServerLimits limits_;
  const Handler handler_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::signal_set signals_{io_, SIGINT, SIGTERM};
  asio::steady_timer pause_{io_};
  std::optional<asio::thread_pool> workers_;
  std::list<Connection*> waiting_;  ///< for a request, the one that waits for the longest time first
  std::list<Connection*> replying_;  ///< likewise, the one that takes its reply for the longest time first
  asio::steady_timer last_replies_{io_};
  std::size_t open_ = 0;
  bool is_stopping_ = false;
};

Server::Server(const std::string& address, std::uint16_t port, const ServerLimits& limits, Handler handler)
    : impl_(std::make_unique<Impl>(address, port, limits, std::move(handler))) {}
Server::~Server() = default;
std::uint16_t Server::port() const noexcept { return impl_->port(); }
void Server::run() { impl_->run(); }
void Server::stop() { impl_->stop(); }

}  // namespace ddbench::http
