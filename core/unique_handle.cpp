#include "core/unique_handle.h"

#include <unistd.h>

namespace ddbench {

void UniqueFd::reset(int fd) noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

}  // namespace ddbench
