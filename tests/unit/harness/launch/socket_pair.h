#pragma once

#include <sys/socket.h>

#include "core/error.h"
#include "core/unique_handle.h"

namespace ddbench::launch {

/// Two connected stream sockets.
struct SocketPair {
  SocketPair() {
    int ends[2] = {-1, -1};
    check_posix(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "socketpair");
    left.reset(ends[0]);
    right.reset(ends[1]);
  }
  UniqueFd left;
  UniqueFd right;
};

}  // namespace ddbench::launch
