#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "analyzer/predict/network/collective_cost.h"
#include "analyzer/predict/step_recording.h"
#include "analyzer/store/rows/run_store.h"

namespace ddbench::cli {

inline constexpr const char* kReplayedRunHelp = "Run to replay: an id, a name, or \"last\"";

/// --network
void add_network_option(CLI::App& app, std::vector<std::string>& networks);

/// The costs of collectives that `networks` hold: each is a SKU of the catalogue, a file of nccl-tests, or a stored run. Costs of
/// their tiers that are added later do not count (CollectiveCosts::set_requested). Throws Error{kBadInput} for a name that is none
/// of these, or has no costs, and for anything beside a SKU.
analyzer::CollectiveCosts network_costs(const store::RunStore& store, const std::vector<std::string>& networks,
                                        const std::string& catalogue_file);

/// The recording of a run. Throws Error{kBadInput} with the reason where it cannot be replayed.
analyzer::StepRecording replayable(const store::RunStore& store, const store::RunRecord& run);

}  // namespace ddbench::cli
