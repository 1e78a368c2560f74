#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace ddbench::imports {

/// The bytes of a file in order, inflated if it is gzip (recognised by its first two bytes; of several
/// members one after the other). A file that is not small is read and inflated on a thread of its own. Holds
/// a fixed amount of it. Throws Error{kBadInput} naming the file, and how far it could be read, when it
/// cannot be read, is damaged or truncated gzip, or inflates to more than 1 GB and 200 times its size, which no trace does.
class FileBytes {
 public:
  explicit FileBytes(const std::filesystem::path& file);
  FileBytes(FileBytes&&) noexcept;
  ~FileBytes();

  /// Writes up to `size` bytes; 0 at the end, and only there.
  std::size_t read(char* to, std::size_t size);
  /// Reads the rest, and returns FNV-1a of the file's raw bytes. Inflates no more than 16 MB for that: damage behind those is not
  /// reported, as nobody has read so far.
  std::uint64_t hash();
  const std::filesystem::path& file() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ddbench::imports
