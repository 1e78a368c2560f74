#pragma once

#include <chrono>
#include <string>

#include "core/unique_handle.h"

/// TCP as the control protocol needs it: IPv4 and IPv6 addresses as text, errors that say what to do.
namespace ddbench::launch {

/// "10.0.0.1:29501", "[fe80::1]:29501": an address and its port.
struct Endpoint {
  std::string address;
  int port = 0;
};
std::string to_string(const Endpoint& endpoint);
/// Inverse of to_string. Throws Error{kBadInput}.
Endpoint endpoint_from(const std::string& text);

/// Listens on this one address of this machine, never on all of them; port 0: one that is free. Throws
/// Error{kEnvironment} that says whose port it is when it is taken.
UniqueFd listen_at(const Endpoint& endpoint);

/// The next connection that waits, without waiting; empty when there is none.
UniqueFd accept_connection(int listener);

/// Tries until `timeout` has passed: whoever listens there may start later. Throws Error{kEnvironment}.
UniqueFd connect_to(const Endpoint& endpoint, std::chrono::milliseconds timeout);

Endpoint local_end(int socket);
Endpoint remote_end(int socket);

/// The first address of an interface of this machine ("eth0"). Throws Error{kBadInput} that lists what there
/// is.
std::string address_of_interface(const std::string& name);

/// This machine's address on the way to a host (a name or an address); nothing is sent. Throws
/// Error{kEnvironment} when the host is not known.
std::string address_towards(const std::string& host);

}  // namespace ddbench::launch
