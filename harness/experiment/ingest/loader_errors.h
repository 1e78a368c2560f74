#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ddbench::experiment {

/// A note for each reason why the dynamic linker could not load one of ddbench's libraries into the processes of a program: nothing of
/// these processes is recorded. From what it printed at the begin of the ranks' output (rank<N>.log in `run_directory`).
std::vector<std::string> loader_errors(const std::filesystem::path& run_directory, int ranks);

}  // namespace ddbench::experiment
