#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddbench {

/// A file that a program consists of: its script, a module beside that, its executable.
struct ProgramFile {
  std::string name;  ///< relative to the program's folder, with "/"; no comma, no control character
  std::string hash;  ///< of its content: 16 hexadecimal digits
  friend bool operator==(const ProgramFile&, const ProgramFile&) = default;
};

/// The file, recorded as `name` with commas and control characters replaced. Reads it: FNV-1a, 64 bits, of
/// all bytes, or for a file above 64 MiB of its size and its first and last 32 MiB. Nothing if it is not a
/// regular file or cannot be read.
std::optional<ProgramFile> read_program_file(std::string_view name, const std::string& path) noexcept;

/// The name that a process interns to report one (core/name_table.h): "file: 89ab... train.py".
std::string program_file_name(const ProgramFile& file);
/// Nothing where `name` is another name, or has no hash of that form.
std::optional<ProgramFile> parse_program_file(std::string_view name);

/// The same for the folder that the names are relative to: "folder: /home/me/project".
std::string program_folder_name(std::string_view folder);
std::optional<std::string> parse_program_folder(std::string_view name);

}  // namespace ddbench
