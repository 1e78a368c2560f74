#pragma once

#include <ctime>
#include <string_view>

namespace ddbench::analyzer {

/// Hours from `now` until a deadline in local time: "36" and "36h" (hours), "2026-11-27" and "friday" or "fri" (the end of that day; of the
/// next one of that name, which may be today), each of these with a time, "2026-11-27 18:00" and "fri 18:00" (the next one that is still
/// to come). Throws Error{kBadInput} that names --deadline for anything else and for a time that has passed.
double hours_until(std::string_view text, std::time_t now);

}  // namespace ddbench::analyzer
