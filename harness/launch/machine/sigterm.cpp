#include "harness/launch/machine/sigterm.h"

#include <signal.h>

namespace ddbench::launch {

// Held back and looked for, rather than handled: no system call of a library's threads is interrupted by it.
void expect_sigterm() noexcept {
  sigset_t held_back;
  ::sigemptyset(&held_back);
  ::sigaddset(&held_back, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &held_back, nullptr);
}

bool sigterm_pending() noexcept {
  sigset_t pending;
  return ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGTERM) == 1;
}

}  // namespace ddbench::launch
