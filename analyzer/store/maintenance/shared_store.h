#pragma once

#include <filesystem>
#include <string>

namespace ddbench::store {

/// Whether several users may write the store: its file is writable for its group or for all. False for one
/// that is not there. Its log and journal have the mode and, because of its directory, the group of the file.
bool is_shared(const std::filesystem::path& file) noexcept;

/// The name of the file's group, or its number. Empty if the file is not there.
std::string group_of(const std::filesystem::path& file);

/// Creates the empty store `file` for the members of `group` (empty: that of its directory, or of this
/// process if the directory is created): mode 0660, in a directory of mode 2770 or one that exists, is
/// writable for that group and hands its group on (setgid). Whatever the umask. Throws Error{kBadInput} if
/// something is there already, and for a group that does not exist; Error{kEnvironment} for a directory that
/// does not suit, with the commands that mend it, and for a group that this user is not in.
void create_shared_store(const std::filesystem::path& file, const std::string& group);

/// Makes the folder beside `store` in which each run has a folder of its own, if it is missing: mode 0700; of
/// a shared store 3770 and the store's group, so that each user can add folders and remove only their own. One of this user that
/// has another mode or group there, as a killed process leaves it, gets these. Throws Error{kEnvironment} as refuse_link, and
/// where the folder of a store that is not shared is another user's. Other errors show when something is put into it.
void make_folder_beside(const std::filesystem::path& store, const std::filesystem::path& folder);

/// Makes the marked `folder` (OwnedDirectory::make_marked) of a run, and the one that it lies in by make_folder_beside(), also if
/// another run removes the latter, as empty, meanwhile. Throws as both.
void make_in_folder_beside(const std::filesystem::path& store, const std::filesystem::path& folder, const std::string& purpose);

/// Throws Error{kEnvironment} if `folder`, beside a store that several users share, is a symbolic link: one
/// of them may have made it.
void refuse_link(const std::filesystem::path& store, const std::filesystem::path& folder);

}  // namespace ddbench::store
