#pragma once

#include <cstddef>
#include <string>

namespace ddbench::launch {

/// The variables that give a rank the address of its launcher ("10.0.0.1:29501") and the secret of its run.
inline constexpr const char* kLauncherVariable = "DDBENCH_LAUNCHER";
inline constexpr const char* kTokenVariable = "DDBENCH_TOKEN";

inline constexpr std::size_t kFewestTokenBytes = 16;

/// 128 random bits as text.
std::string new_token();

/// The secret that the user gave in this variable (white space around it ignored), and removes it from the environment of this
/// process, so that no program inherits it. Empty: none is set. Throws Error{kBadInput} for one that is empty or shorter than
/// kFewestTokenBytes. Before the process has threads.
std::string take_token(const char* variable = kTokenVariable);

}  // namespace ddbench::launch
