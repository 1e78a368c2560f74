#pragma once

#include <cstdint>
#include <vector>

#include "core/measured.h"
#include "core/unique_handle.h"

namespace ddbench::host {

/// How long one thread of this process has been ready to run without a core since it began: the second number
/// of /proc/self/task/<thread>/schedstat. Any thread may read it. A reading is one system call.
class RunQueueDelay {
 public:
  /// `thread` as returned by own_thread() and list_threads().
  explicit RunQueueDelay(int thread);

  /// Missing, with the reason, where the kernel does not account for it or the thread has ended.
  Measured<std::int64_t> read_ns() const;

 private:
  UniqueFd file_;
};

/// The calling thread as /proc names it: in a pid namespace that sees the host's /proc this is not gettid().
/// 0 where there is no /proc.
int own_thread();
/// The threads of this process, with the same ids.
std::vector<int> list_threads();

}  // namespace ddbench::host
