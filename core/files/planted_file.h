#pragma once

#include <filesystem>

namespace ddbench {

/// Whether `file` is a symbolic link or a FIFO that another user has placed in a folder of all users, such as /tmp: the rules of
/// Linux's fs.protected_symlinks, which a program that resolves links by itself passes by, and fs.protected_fifos, which many machines
/// leave off. Such a link leads to a file of the other user's choice, and a FIFO holds up whoever opens it. False for what is neither or
/// cannot be looked at.
bool is_planted_file(const std::filesystem::path& file);

/// Throws Error{kBadInput} naming the file and the remedy when it is one.
void refuse_planted_file(const std::filesystem::path& file);

}  // namespace ddbench
