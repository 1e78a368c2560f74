#pragma once

#include <signal.h>

namespace ddbench {

/// While it lives, the calling thread and the threads that it makes take no signals: those are for the
/// threads that the program prepared for them. Made threads stay so; the calling one is as before afterwards.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace ddbench
