#pragma once

#include <atomic>
#include <memory>

namespace ddbench::collective::mpi_backend {

/// Calls of one thread, one after the other, which nothing ends from outside, and the request of another thread to give them up.
/// Either the call under way is seen by abort(), or it is not begun: a call marks that it is under way before it looks whether it
/// was aborted, and abort() writes and reads in the opposite order, all sequentially consistent.
class AbortableCalls {
 public:
  /// Runs `call` unless abort() came before.
  template <typename Call>
  void run(const Call& call) {
    struct UnderWay {
      explicit UnderWay(std::atomic<bool>& of) : flag(of) { flag = true; }
      ~UnderWay() { flag = false; }  // also after an exception
      std::atomic<bool>& flag;
    };
    const UnderWay under_way(*under_way_);
    if (!aborted_) call();
  }

  bool aborted() const noexcept { return aborted_; }

  /// From now on no call is run. Returns what shows whether the call goes on that is under way, and may outlive this; null where
  /// there is none, and where it was aborted before. May see a call that is about to find itself aborted.
  std::shared_ptr<const std::atomic<bool>> abort() noexcept {
    if (aborted_.exchange(true) || !*under_way_) return nullptr;
    return under_way_;
  }

 private:
  const std::shared_ptr<std::atomic<bool>> under_way_ = std::make_shared<std::atomic<bool>>(false);
  std::atomic<bool> aborted_{false};
};

}  // namespace ddbench::collective::mpi_backend
