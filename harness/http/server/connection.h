#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "harness/http/server/server.h"

namespace ddbench::http {

class Connection;

/// What a connection needs of its server.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual const ServerLimits& limits() const = 0;
  /// Makes the reply on another thread and passes it on the server's own thread.
  virtual void make_reply(ReceivedRequest request, std::function<void(Reply)> then) = 0;
  virtual void on_waiting(Connection& connection) = 0;  ///< begins to wait for a request
  virtual void on_busy(Connection& connection) = 0;     ///< has one
  virtual void on_replying(Connection& connection) = 0;  ///< sends a reply
  virtual void on_replied(Connection& connection) = 0;   ///< has sent it, or cannot
  virtual void on_closed(Connection& connection) = 0;   ///< calls nothing afterwards
  virtual bool is_stopping() const = 0;
};

/// One client, on the server's thread: a request, its reply, the next request. Lives as long as an operation on its socket, or a
/// reply in the making, refers to it.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::ip::tcp::socket socket, ConnectionOwner& owner);

  void await_request();
  /// Once. A pending read or write ends.
  void close();

 private:
  void on_request(boost::beast::error_code error);
  void refuse(int status, std::string reason);
  void send(Reply reply, bool with_body, bool keeps_open);

  boost::beast::tcp_stream stream_;
  ConnectionOwner& owner_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> parser_;
  std::optional<boost::beast::http::response<boost::beast::http::string_body>> response_;
  bool is_closed_ = false;
};

}  // namespace ddbench::http
