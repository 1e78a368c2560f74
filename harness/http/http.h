#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace ddbench::http {

struct Request {
  std::string method = "GET";
  std::string url;                   ///< http or https
  std::vector<std::string> headers;  ///< "Name: value"
  std::string user;  ///< of HTTP's basic authentication, with `password`; empty: none
  std::string password;
  std::string body;
  std::chrono::milliseconds timeout{1000};  ///< of everything: name, connection and answer
  bool uses_proxy = true;  ///< of the environment (https_proxy, ...); false: for addresses that exist on this machine only
};

struct Response {
  long status = 0;
  std::string body;  ///< at most kMostBytes; a longer one is an error
};

inline constexpr std::size_t kMostBytes = 4u << 20;

/// For one thread at a time. Keeps its connection between requests. Does not follow redirections.
class Client {
 public:
  virtual ~Client() = default;
  /// Whatever the server answers. Throws Error{kEnvironment} where no answer came: name, connection, time-out.
  virtual Response send(const Request& request) = 0;
};

/// Uses libcurl. Throws Error{kEnvironment} stating what to install if this build or this machine lacks it.
std::unique_ptr<Client> make_client();

/// What the module ddbench_http.so makes, and in which version.
using ClientFactory = std::unique_ptr<Client>();
inline constexpr const char* kClientFile = "ddbench_http.so";
inline constexpr const char* kClientInterface = "http/2";

}  // namespace ddbench::http
