#pragma once

#include <filesystem>

namespace ddbench {

/// Whether `file` is a symbolic link that another user has placed in a folder of all users, such as /tmp: the rule of
/// Linux's fs.protected_symlinks, which a program that resolves links by itself passes by. Such a link leads
/// to a file of the other user's choice. False for what is no link or cannot be looked at.
bool is_planted_link(const std::filesystem::path& file);

/// Throws Error{kBadInput} naming the link and the remedy when it is one.
void refuse_planted_link(const std::filesystem::path& file);

}  // namespace ddbench
