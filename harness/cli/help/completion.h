#pragma once

#include <string>

namespace CLI {
class App;
}

namespace ddbench::cli {

enum class Shell { kBash, kZsh, kFish };

/// A script that completes commands, options and the values that an option accepts, and otherwise file names.
/// To be sourced, or installed where the shell looks for such scripts.
std::string completion_script(const CLI::App& root, Shell shell);

}  // namespace ddbench::cli
