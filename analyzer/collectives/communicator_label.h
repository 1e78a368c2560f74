#pragma once

#include <string>

#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// Distinguishes a communicator from the one of all ranks of a run of `world_size`: "ranks 0-1", "ranks 0-1,
/// communicator 2" (the second with these members), "size not known", "ranks 0-1, size not known". Empty for
/// the communicator of all ranks.
std::string communicator_label(const store::CommunicatorRecord& communicator, int world_size);

}  // namespace ddbench::analyzer
