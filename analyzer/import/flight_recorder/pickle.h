#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ddbench::imports {

/// Reads a pickle of lists, tuples (as arrays), dictionaries with keys of text, texts, numbers, booleans and
/// None: the subset that PyTorch's Flight Recorder writes (protocol 2). Nothing in it is ever executed:
/// opcodes that construct objects are refused, as are all others not named here. Only texts are taken from
/// the memo, so that a small file cannot become a large value. Throws Error{kBadInput} that names `origin`
/// and the offset.
nlohmann::json read_pickle(std::string_view bytes, const std::string& origin);

}  // namespace ddbench::imports
