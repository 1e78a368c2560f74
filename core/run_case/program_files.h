#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/facts/facts.h"
#include "core/program_file.h"

namespace ddbench {

/// The content of a program's files when it ran: hashes by name, from the facts of its run (program.files).
/// Empty if not recorded.
using ProgramFiles = std::map<std::string, std::string, std::less<>>;
ProgramFiles program_files(const Facts& facts);
void set_program_files(Facts& facts, const ProgramFiles& files);

/// The shell script that a command starts, by its path or as `sh SCRIPT`: what it starts in turn reports itself. Empty where it
/// starts none, or one that is not on this machine.
ProgramFiles shell_script_of(const std::vector<std::string>& command);

/// The files that both runs had and that differ: the script was edited. A file that only one of them recorded
/// is no evidence: a module may be imported on several ranks only.
std::vector<std::string> changed_files(const ProgramFiles& a, const ProgramFiles& b);
std::vector<std::string> changed_files(const Facts& a, const Facts& b);

/// The files of the run that have changed since in program.folder on this machine. Missing files are not
/// listed.
std::vector<std::string> files_changed_since(const Facts& facts);

/// "train.py and model.py", "train.py, model.py and 3 more". Empty for none.
std::string files_in_words(const std::vector<std::string>& names);

}  // namespace ddbench
