#pragma once

#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"
#include "core/span.h"

namespace ddbench::test {

/// Quotes, SQL, NUL, newlines, several scripts.
extern const std::string kHostileText;

/// A run with a value of its own in every field.
store::RunRecord full_run(const std::string& id);
/// A run with an id, a start and otherwise defaults.
store::RunRecord plain_run(const std::string& id, std::int64_t started_wall_ns = 0);
store::RankRecord full_rank(int rank);
store::StepRecord full_step(int rank, std::uint32_t step);

/// EXPECTs that all fields are equal.
void expect_same(const store::RunRecord& actual, const store::RunRecord& expected);
void expect_same(const store::RankRecord& actual, const store::RankRecord& expected);
void expect_same(const store::StepRecord& actual, const store::StepRecord& expected);

}  // namespace ddbench::test
