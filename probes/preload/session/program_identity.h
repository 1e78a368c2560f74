#pragma once

#include <string>
#include <vector>

namespace ddbench::inject {

/// The names (core/program_file.h) that say what the calling process runs: its executable; of a Python its script, which the
/// modules beside it follow (ddbench_program_file). Empty where neither can be read.
std::vector<std::string> names_of_own_files();

/// The names of one file.
std::vector<std::string> names_of_file(const std::string& folder, const std::string& name);

}  // namespace ddbench::inject
