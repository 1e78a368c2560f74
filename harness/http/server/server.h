#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddbench::http {

struct Header {
  std::string name;
  std::string value;
};

/// A request as it came: syntactically HTTP, and nothing of it checked or decoded.
struct ReceivedRequest {
  std::string method;  ///< "GET", or whatever the client wrote
  std::string target;  ///< "/run/4f3a?x=y"
  std::vector<Header> headers;
};

/// Values of all headers of this name, in any case.
std::vector<std::string> values_of(const ReceivedRequest& request, std::string_view name);

struct Reply {
  int status = 200;
  std::string type = "text/html; charset=utf-8";
  std::string body = {};
  std::vector<Header> headers = {};  ///< beside length, type and connection
};

struct ServerLimits {
  /// Beyond them, a new one replaces the one that has been silent for the longest time, else the one that has taken its reply for
  /// the longest time.
  std::size_t connections = 64;
  std::size_t threads = 2;       ///< that make replies
  std::uint32_t header_bytes = 16 * 1024;
  std::chrono::milliseconds request{15'000};  ///< for a whole request, since the connection was made or its last reply was sent
  std::chrono::milliseconds reply{60'000};    ///< for a client to take a reply
  std::chrono::milliseconds last_reply{5'000};  ///< the same, once the server is to end
};

/// Makes the reply to a request. Called by several threads at once; must not throw. The body of a reply to HEAD is not sent.
using Handler = std::function<Reply(const ReceivedRequest&)>;

/// HTTP/1.1 without encryption. Requests have no bodies: one that has is answered with 413. What is no HTTP, or too long, is
/// answered with 400 or 431, and the connection ends.
class Server {
 public:
  /// Listens on this address, "127.0.0.1" or "::1", and port (0: a free one). Throws Error{kBadInput} for an address that is none
  /// or not of this machine, and Error{kEnvironment} where the port is taken.
  Server(const std::string& address, std::uint16_t port, const ServerLimits& limits, Handler handler);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  std::uint16_t port() const noexcept;
  /// Answers until the process receives SIGINT or SIGTERM, or another thread calls stop(). Replies that are being made or sent are
  /// finished first (within the limits); a second signal ends the process. Once per object.
  void run();
  /// From any thread.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ddbench::http
