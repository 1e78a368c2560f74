#pragma once

#include <cstddef>
#include <cstdint>

#include "core/run_case/run_case.h"

namespace ddbench {

/// Over all fields, labels included: equal cases have equal hashes. The same within one process only.
std::uint64_t hash_of(const RunCase& run_case);

/// For std::unordered_map.
struct RunCaseHash {
  std::size_t operator()(const RunCase& run_case) const { return hash_of(run_case); }
};

}  // namespace ddbench
