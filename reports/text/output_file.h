#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/unique_handle.h"

namespace ddbench::reports {

enum class Durability {
  kOnDisk,       ///< after a power cut it has the old content or the new one
  kReplacedSoon  ///< does not wait for the disk: for a file that is written again and again
};

/// A file that appears under its name only when it is complete: written beside it under a temporary name,
/// brought to disk and renamed by commit(). Without commit() nothing is left behind and an existing file of
/// that name is unchanged. A symbolic link is followed. A file that is not a regular file (a pipe) is written to
/// directly, and so is an open descriptor (/dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N), where it stands: `>>` keeps
/// what the file has. What another user has placed in a folder of all users is refused (core/files/planted_file.h).
///
/// Every method throws Error naming the file: kBadInput for a directory, such a file, a missing folder, missing
/// rights or a descriptor that is not open, kRunFailed for a full disk.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& file);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void commit(Durability durability = Durability::kOnDisk);

 private:
  void flush();

  std::filesystem::path target_;
  std::string temporary_;  ///< empty when written directly
  UniqueFd fd_;
  std::string buffer_;
};

/// An OutputFile of `text`, committed. Throws as it does.
void write_file(const std::filesystem::path& file, std::string_view text);

}  // namespace ddbench::reports
