#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace ddbench {

/// Why something failed. The value is the exit code of the executable (README, "Exit codes").
enum class ErrorCode {
  kRunFailed = 1,
  kBadInput = 2,
  kRegression = 3,
  kNoVerdict = 4,
  kEnvironment = 5,
  kInterrupted = 130,
};

/// The one exception type. `message` is written for users: what failed, where (rank, node, file, field,
/// value) and what to do. `native_code` is the errno, SQLite or library status (0 when there is none);
/// `where` names the operation or file ("open /x/y.db"). Caught in three places only: the CLI (exit-code
/// table; a page that it serves), a GUI job, and the C ABI boundary.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message, int native_code = 0, std::string where = {});

  ErrorCode code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }
  int native_code() const noexcept { return native_code_; }
  const std::string& where() const noexcept { return where_; }
  int exit_code() const noexcept { return static_cast<int>(code_); }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorCode code_;
  std::string message_;
  int native_code_;
  std::string where_;
};

/// Throws Error{code, "<what>: <strerror(errno_value)>", errno_value, what}.
[[noreturn]] void throw_errno(int errno_value, std::string_view what, ErrorCode code = ErrorCode::kRunFailed);

/// For POSIX calls that return -1 and set errno: returns `status` when it is not -1, throws as throw_errno
/// otherwise.
long check_posix(long status, std::string_view what, ErrorCode code = ErrorCode::kRunFailed);

}  // namespace ddbench
