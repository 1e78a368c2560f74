#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/span.h"
#include "core/unique_handle.h"
#include "probes/recorder/spool.h"

namespace ddbench::host {

/// Writes one spool file (SPOOL.md), one system call per frame, none for empty content. One thread at a time.
/// Every member throws Error{kEnvironment} naming the file, the cause and the remaining space when the file
/// system refuses; the file then ends in a complete or a truncated frame, and must not be written any more.
class SpoolWriter {
 public:
  /// Creates or empties the file and writes its head; leaves no file when it cannot. Refuses a file that
  /// another process is writing.
  SpoolWriter(std::filesystem::path file, int rank, std::string_view run_id);

  /// Gives them the ids that follow those written before, which start at 0.
  void write_names(std::span<const std::string> names);
  /// All of one track, in its order; their names are written.
  void write_spans(std::span<const Span> spans);
  void write_scalars(std::span<const Scalar> scalars);
  /// In total, so far.
  void write_dropped(std::uint64_t spans);
  /// The rank has stopped in order: nothing follows.
  void write_end();
  /// Network file systems report only now that they are full.
  void close();

 private:
  void open_locked();
  void write(std::uint32_t frame_type, const void* payload, std::size_t payload_bytes);
  void write_head(int rank, std::string_view run_id);
  void write_all(const void* head, std::size_t head_bytes, const void* body, std::size_t body_bytes);
  [[noreturn]] void fail(int errno_value) const;

  std::filesystem::path file_;
  UniqueFd fd_;
  bool regular_ = false;  ///< not a device: may be emptied and removed
  std::uint32_t frames_ = 0;
  std::uint32_t names_ = 0;
};

}  // namespace ddbench::host
