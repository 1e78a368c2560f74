#pragma once

#include <gtest/gtest.h>

#include <string>

namespace ddbench::golden {

/// Compares with tests/golden/<name>. On a difference: fails with the differing lines, and writes
/// <name>.actual into the build directory. With DDBENCH_UPDATE_GOLDEN=1 in the environment the golden file is
/// rewritten instead.
testing::AssertionResult matches_golden(const std::string& name, const std::string& actual);

}  // namespace ddbench::golden
