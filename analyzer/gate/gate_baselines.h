#pragma once

#include <string_view>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// Adds the next version of the named baseline `name`: the runs to which `reference` resolves now. Throws
/// Error{kBadInput} when there are none, when one of them did not finish or is invalid, or when they are not
/// repetitions of one case on one machine: a baseline must never be the reason why a comparison is refused.
store::NamedBaseline set_baseline(store::RunStore& store, std::string_view name, std::string_view reference);

}  // namespace ddbench::analyzer
