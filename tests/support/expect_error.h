#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "text.h"

namespace ddbench::test {

/// The message of the Error that `action` throws, which must have `code`. Fails the test when none is thrown.
template <typename Action>
std::string message_of(ErrorCode code, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.message();
    return error.message();
  }
  ADD_FAILURE() << "no Error was thrown";
  return {};
}

/// EXPECTs an Error of `code` whose message holds `part`.
#define EXPECT_ERROR(code, part, ...)                                                            \
  do {                                                                                           \
    const std::string expect_error_text = ddbench::test::message_of(code, [&] { __VA_ARGS__; }); \
    EXPECT_TRUE(ddbench::test::contains(expect_error_text, part)) << expect_error_text;          \
  } while (false)

}  // namespace ddbench::test
