#pragma once

#include <filesystem>
#include <vector>

namespace ddbench::gui {

/// Every page of the dashboard for this store as <page>-<light|dark>-<width>x<height>.png in `directory`,
/// which is created; the start page alone when there is nothing to show. Returns the files. Throws
/// Error{kBadInput} when the directory cannot be written, kRunFailed when a page does not come to rest.
std::vector<std::filesystem::path> make_screenshots(const std::filesystem::path& store,
                                                    const std::filesystem::path& directory);

}  // namespace ddbench::gui
