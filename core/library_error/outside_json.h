#pragma once

#include <cstddef>
#include <string_view>

namespace ddbench {

/// JSON that comes from outside, before a library parses it: what prints, copies or flattens values calls itself for each level, and a
/// library that keeps the order of keys compares each with all before it. Throws Error{kBadInput} for more than 64 levels, or more than
/// `most_keys` keys in all. Everything else that may be wrong with the text is left to the parser.
void check_outside_json(std::string_view json, std::size_t most_keys = 10'000);

}  // namespace ddbench
