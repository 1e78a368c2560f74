#pragma once

#include <filesystem>
#include <vector>

namespace ddbench::gui {

/// Saves every page of the dashboard for this store as <page>-<light|dark>-<width>x<height>.png in
/// `directory`, which is created; only the start page when there are no runs to show. Returns the files.
/// Throws Error{kBadInput} when the directory cannot be written, kRunFailed when a page does not finish
/// loading.
std::vector<std::filesystem::path> make_screenshots(const std::filesystem::path& store,
                                                    const std::filesystem::path& directory);

}  // namespace ddbench::gui
