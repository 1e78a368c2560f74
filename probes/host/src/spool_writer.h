#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "ddbench/record/unique_handle.h"
#include "spool_format.h"

namespace ddbench::host {

/// Writes one spool file (SPOOL.md), one system call a frame. One thread at a time.
/// Every member throws Error{kEnvironment} that names the file, the cause and the space left when the file
/// system refuses; the file then ends in a complete frame or in one that is cut short, and must not be
/// written any more.
class SpoolWriter {
 public:
  /// Creates or empties the file and writes its head; leaves no file when it cannot. Refuses a file that
  /// another process is writing.
  SpoolWriter(std::filesystem::path file, int rank, std::string_view run_id);

  void write(FrameType type, const void* payload, std::size_t payload_bytes);
  /// Network file systems tell only now that they are full.
  void close();

 private:
  void open_locked();
  void write_head(int rank, std::string_view run_id);
  void write_all(const void* head, std::size_t head_bytes, const void* body, std::size_t body_bytes);
  [[noreturn]] void fail(int errno_value) const;

  std::filesystem::path file_;
  UniqueFd fd_;
  bool regular_ = false;  ///< not a device: may be emptied and removed
  std::uint32_t frames_ = 0;
};

}  // namespace ddbench::host
