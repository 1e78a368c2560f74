#include "core/error.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

#include "core/library_error/as_error.h"
#include "core/unique_handle.h"

namespace ddbench {
namespace {

TEST(Error, CodesAreTheExitCodes) {
  EXPECT_EQ(Error(ErrorCode::kRunFailed, "").exit_code(), 1);
  EXPECT_EQ(Error(ErrorCode::kBadInput, "").exit_code(), 2);
  EXPECT_EQ(Error(ErrorCode::kRegression, "").exit_code(), 3);
  EXPECT_EQ(Error(ErrorCode::kNoVerdict, "").exit_code(), 4);
  EXPECT_EQ(Error(ErrorCode::kEnvironment, "").exit_code(), 5);
  EXPECT_EQ(Error(ErrorCode::kInterrupted, "").exit_code(), 130);
}

TEST(CheckPosix, PassesValuesAndThrowsWithErrnoAndWhat) {
  EXPECT_EQ(check_posix(3, "open /x"), 3);
  try {
    check_posix(::open("/nonexistent/file", O_RDONLY), "open /nonexistent/file", ErrorCode::kBadInput);
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.native_code(), ENOENT);
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_EQ(error.message(), "open /nonexistent/file: No such file or directory");
    EXPECT_EQ(error.where(), "open /nonexistent/file");
  }
}

TEST(Error, AnExceptionOfALibraryGetsTheCodeAndTheWordsForUsers) {
  const auto expect = [](const std::exception& thrown, ErrorCode code, const char* words) {
    const Error error = as_error(thrown);
    EXPECT_EQ(error.code(), code);
    EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
  };
  expect(std::bad_alloc(), ErrorCode::kEnvironment, "not enough memory");
  expect(std::system_error(EAGAIN, std::generic_category()), ErrorCode::kEnvironment, "temporarily unavailable");
  expect(std::out_of_range("at"), ErrorCode::kRunFailed, "at");
  expect(Error(ErrorCode::kBadInput, "a bad file"), ErrorCode::kBadInput, "a bad file");
}

TEST(UniqueFd, ClosesOnceAndMoves) {
  const int fd = ::open("/dev/null", O_RDONLY);
  {
    UniqueFd owner(fd);
    UniqueFd moved = std::move(owner);
    EXPECT_FALSE(owner);  // NOLINT(bugprone-use-after-move): the contract promises that it is empty
    EXPECT_EQ(moved.get(), fd);
  }
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace ddbench
