#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ddbench/record/error.h"

namespace ddbench::launch {

/// Runs `action`, which must throw an Error of this code, and returns its message.
template <typename Action>
std::string message_of(ErrorCode code, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.message();
    return error.message();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace ddbench::launch
