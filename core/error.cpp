#include "core/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace ddbench {

Error::Error(ErrorCode code, std::string message, int native_code, std::string where)
    : code_(code), message_(std::move(message)), native_code_(native_code), where_(std::move(where)) {}

void throw_errno(int errno_value, std::string_view what, ErrorCode code) {
  throw Error(code, fmt::format("{}: {}", what, std::generic_category().message(errno_value)), errno_value,
              std::string(what));
}

long check_posix(long status, std::string_view what, ErrorCode code) {
  if (status == -1) throw_errno(errno, what, code);
  return status;
}

}  // namespace ddbench
