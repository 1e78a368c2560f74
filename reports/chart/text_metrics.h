#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddbench::reports::svg {

/// Width of one line in a wide sans-serif face (DejaVu Sans): other faces need less, so that nothing that
/// fits by this measure overlaps on a machine with other fonts.
double text_width(std::string_view utf8, double font_px);

/// The text, shortened with an ellipsis if it is too wide.
std::string fit_text(std::string_view utf8, double width, double font_px);

/// Lines of at most `width`, broken at spaces; a longer word is broken anywhere. At most `max_lines`, the
/// last shortened.
std::vector<std::string> wrap_text(std::string_view utf8, double width, double font_px,
                                   std::size_t max_lines = 100);

}  // namespace ddbench::reports::svg
