#pragma once

#include <sys/socket.h>

#include "ddbench/record/error.h"
#include "ddbench/record/unique_handle.h"

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
