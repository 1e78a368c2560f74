#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace ddbench::cli {

/// The error in a command line that `app` refused: the option, what it expects and what it got, the option
/// that was probably meant, and where to find help. `words` are the arguments after the name of the
/// executable.
std::string usage_error_in_words(const CLI::App& app, const CLI::ParseError& error,
                                 std::span<char* const> words);

/// Throws Error{kBadInput} with the existing commands, and the one that was probably meant, when the first of
/// `words` is not a command of `app`. CLI11 itself only reports that a command is missing.
void check_command(const CLI::App& app, std::span<char* const> words);

}  // namespace ddbench::cli
