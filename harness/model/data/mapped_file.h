#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace ddbench::workload {

/// A file's bytes, mapped read-only.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& file);  ///< throws Error{kBadInput} that names the file
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::uint8_t> bytes() const noexcept { return {bytes_, size_}; }

 private:
  const std::uint8_t* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace ddbench::workload
