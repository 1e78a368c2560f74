#include "harness/http/server/connection.h"

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <utility>

namespace ddbench::http {
namespace {

namespace beast = boost::beast;
using beast::error_code;

/// Room for what a client sends after its request without waiting for the reply.
constexpr std::size_t kReadAheadBytes = 4096;

ReceivedRequest received(const beast::http::request<beast::http::empty_body>& message) {
  ReceivedRequest request{std::string(message.method_string()), std::string(message.target()), {}};
  for (const auto& field : message) request.headers.push_back({std::string(field.name_string()), std::string(field.value())});
  return request;
}

/// Empty: the client went away, or was too slow.
std::optional<std::pair<int, std::string>> refusal_of(const error_code& failed) {
  using beast::http::error;
  static const beast::error_category& http_errors = make_error_code(error::bad_method).category();
  if (failed.category() != http_errors || failed == error::end_of_stream || failed == error::partial_message) return std::nullopt;
  if (failed == error::header_limit || failed == error::buffer_overflow) return std::pair(431, "the header of the request is too long");
  if (failed == error::unexpected_body || failed == error::body_limit) return std::pair(413, "a request has no body here");
  return std::pair(400, "this is not an HTTP request");
}

}  // namespace

Connection::Connection(boost::asio::ip::tcp::socket socket, ConnectionOwner& owner)
    : stream_(std::move(socket)), owner_(owner), buffer_(owner.limits().header_bytes + kReadAheadBytes) {}

void Connection::await_request() {
  if (owner_.is_stopping()) return close();
  parser_.emplace();
  parser_->header_limit(owner_.limits().header_bytes);
  owner_.on_waiting(*this);
  stream_.expires_after(owner_.limits().request);  // of all reads together
  beast::http::async_read(stream_, buffer_, *parser_,
                          [self = shared_from_this()](error_code error, std::size_t) { self->on_request(error); });
}

void Connection::on_request(error_code error) {
  if (is_closed_) return;
  owner_.on_busy(*this);
  if (error) {
    const auto refusal = refusal_of(error);
    return refusal ? refuse(refusal->first, refusal->second) : close();
  }
  stream_.expires_never();
  const bool with_body = parser_->get().method() != beast::http::verb::head;
  const bool keeps_open = parser_->keep_alive();
  owner_.make_reply(received(parser_->get()), [self = shared_from_this(), with_body, keeps_open](Reply reply) {
    self->send(std::move(reply), with_body, keeps_open);
  });
}

void Connection::refuse(int status, std::string reason) {
  send({status, "text/plain; charset=utf-8", std::move(reason) + "\n", {}}, true, false);
}

void Connection::send(Reply reply, bool with_body, bool keeps_open) {
  if (is_closed_) return;
  keeps_open = keeps_open && reply.status < 400 && !owner_.is_stopping();  // a stranger holds no place
  response_.emplace();
  response_->result(static_cast<unsigned>(reply.status));
  response_->set(beast::http::field::content_type, reply.type);
  for (const Header& header : reply.headers) response_->set(header.name, header.value);
  response_->content_length(reply.body.size());
  response_->keep_alive(keeps_open);
  if (with_body) response_->body() = std::move(reply.body);
  stream_.expires_after(owner_.is_stopping() ? owner_.limits().last_reply : owner_.limits().reply);
  owner_.on_replying(*this);
  beast::http::async_write(stream_, *response_, [self = shared_from_this(), keeps_open](error_code error, std::size_t) {
    self->response_.reset();
    if (self->is_closed_) return;
    self->owner_.on_replied(*self);
    if (error || !keeps_open) return self->close();
    self->await_request();
  });
}

void Connection::close() {
  if (std::exchange(is_closed_, true)) return;
  error_code ignored;
  stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
  stream_.close();
  owner_.on_closed(*this);
}

}  // namespace ddbench::http
