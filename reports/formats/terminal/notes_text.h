#pragma once

#include <string>
#include <vector>

#include "reports/formats/terminal/layout/paint.h"

namespace ddbench::reports {

/// "Notes" and a bullet each; empty without notes.
std::string notes_section(const std::vector<std::string>& notes, const Paint& paint, std::size_t width);

}  // namespace ddbench::reports
