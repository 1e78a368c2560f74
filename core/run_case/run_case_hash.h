#pragma once

#include <cstddef>
#include <cstdint>

#include "core/run_case/run_case.h"

namespace ddbench {

/// Over all fields but labels: equal for cases of one case_key(). The same within one process only.
std::uint64_t hash_of_unlabelled(const RunCase& run_case);

/// Whether they are equal but for their labels, as cases of one case_key() are.
bool equal_unlabelled(const RunCase& a, const RunCase& b);

/// For containers in which labels do not count.
struct UnlabelledHash {
  std::size_t operator()(const RunCase& run_case) const { return hash_of_unlabelled(run_case); }
};
struct UnlabelledEqual {
  bool operator()(const RunCase& a, const RunCase& b) const { return equal_unlabelled(a, b); }
};

}  // namespace ddbench
