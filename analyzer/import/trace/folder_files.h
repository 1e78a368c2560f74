#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace ddbench::imports {

/// The files of each folder whose names end so, in order, and each file as it is. Throws Error{kBadInput} for a folder without
/// any.
std::vector<std::filesystem::path> files_of_folders(const std::vector<std::filesystem::path>& files_and_folders,
                                                    const std::vector<std::string_view>& endings);

}  // namespace ddbench::imports
