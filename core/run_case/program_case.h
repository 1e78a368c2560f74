#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/run_case/run_case.h"

namespace ddbench {

/// Whether its ranks are a program of the user's.
bool is_program(const RunCase& run_case) noexcept;
/// Whether it is the work of `ddbench micro`.
bool is_micro(const RunCase& run_case) noexcept;
/// Whether batch, scaling and strategy of the case mean anything: of the reference workloads, and of programs.
bool is_training(const RunCase& run_case) noexcept;
/// Whether the reference engine, or what was imported, trains: neither a program nor collectives alone.
bool is_reference(const RunCase& run_case) noexcept;

/// Makes it the case of `command`, whose arguments are kept unchanged; fields that only the reference engine
/// chooses (device, backend, ...) become empty, and the batch is 1 per GPU until it is stated. Throws
/// Error{kBadInput} for an empty command, and for one that is not UTF-8 text. Returns the case's program.
UserProgram& set_program(RunCase& run_case, const std::vector<std::string>& command,
                         ProgramStart start = ProgramStart::kPerRank);
bool is_program_per_node(const RunCase& run_case) noexcept;

/// Samples per rank and step that the user states of a program.
void state_batch(RunCase& run_case, std::int64_t batch_per_gpu);
/// Whether batch_per_gpu was stated or chosen. For a program or an imported run without a stated batch it is 1
/// and has no meaning; where nothing is trained there is no batch.
bool has_known_batch(const RunCase& run_case);

/// Inverse of set_program. Throws Error{kBadInput} when the case has none.
const std::vector<std::string>& program_command(const RunCase& run_case);

/// What is run, for people: the name of the reference workload, "nccl-tests all_reduce, in place", or the program as one
/// would type it (arguments that need it are quoted for a shell).
std::string work_in_words(const RunCase& run_case);

}  // namespace ddbench
