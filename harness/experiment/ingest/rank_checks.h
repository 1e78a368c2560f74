#pragma once

#include <vector>

#include "analyzer/program/program_steps.h"
#include "harness/experiment/ingest/program_ingest.h"

namespace ddbench::experiment {

/// What the ranks of a program train on (analyzer/program/rank_inputs.h): facts, and a note for each mistake, with the ranks and the
/// remedy. Nothing for one rank.
void describe_rank_inputs(const std::vector<analyzer::ProgramRank>& ranks, ProgramRecording& recording);

}  // namespace ddbench::experiment
