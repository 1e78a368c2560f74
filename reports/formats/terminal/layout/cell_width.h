#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ddbench::reports {

// All texts here are valid UTF-8 without control characters: visible() has seen to that.

/// Columns that the text takes on a terminal: two per East Asian wide character, zero per combining mark.
std::size_t display_width(std::string_view text);

/// At most `columns` wide; ends in an ellipsis if it was cut.
std::string fitted(std::string_view text, std::size_t columns);

enum class Align { kLeft, kRight };

/// Lines of at most `columns`, broken at blanks; a longer word is not broken.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// The parts joined by `separator`, broken into lines of at most `columns` between parts.
std::vector<std::string> joined(const std::vector<std::string>& parts, std::string_view separator,
                                std::size_t columns);

}  // namespace ddbench::reports
