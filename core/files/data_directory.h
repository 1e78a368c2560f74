#pragma once

#include <filesystem>

namespace ddbench {

/// Where this user's data of ddbench lies: $XDG_DATA_HOME/ddbench, else ~/.local/share/ddbench. Makes
/// nothing. Throws Error{kEnvironment} for a user without a home directory.
std::filesystem::path data_directory();

}  // namespace ddbench
