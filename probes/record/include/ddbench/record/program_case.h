#pragma once

#include <string>
#include <vector>

#include "ddbench/record/run_case.h"

namespace ddbench {

/// RunCase::workload of a run whose ranks are a program of the user's: `ddbench run -- COMMAND`.
inline constexpr const char* kProgramWorkload = "program";

bool is_program(const RunCase& run_case) noexcept;

/// Makes it the case of `command`, whose arguments are kept as they are. Throws Error{kBadInput} for an empty
/// command.
void set_program(RunCase& run_case, const std::vector<std::string>& command);

/// Inverse of set_program. Throws Error{kBadInput} when the case has none.
std::vector<std::string> program_command(const RunCase& run_case);

/// What is run, for people: the name of the reference workload, or the program as one would type it (arguments that
/// need it are quoted for a shell).
std::string work_in_words(const RunCase& run_case);

}  // namespace ddbench
