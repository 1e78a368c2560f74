#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/span.h"
#include "core/unique_handle.h"

namespace ddbench::host {

struct Scalar {
  std::uint32_t name_id = 0;
  std::uint32_t step = kNoStep;
  double value = 0;
  friend bool operator==(const Scalar&, const Scalar&) = default;
};

/// What a rank has spooled since the last read.
struct SpoolBatch {
  std::vector<Span> spans;
  std::vector<Scalar> scalars;
  std::vector<std::string> new_names;  ///< names with the ids that follow those read before
  std::uint64_t dropped = 0;           ///< total so far
  /// Spans and scalars left out because no recorder writes such values (span_limits.h); total so far.
  std::uint64_t invalid = 0;
  std::string first_invalid;  ///< the first of them and its place in the file; empty: none
  bool ended = false;         ///< the end frame was seen: the rank stopped in order
};

/// Reads a spool file (SPOOL.md) while its rank may still be writing it: complete frames only, each once. A
/// name is read before, or in one batch with, the first span that uses it. A frame cut short by a killed rank
/// stays unread; a frame that contradicts its checksum raises Error{kRunFailed}, without a native code,
/// naming the file and the offset. A span or scalar with an impossible value in a sound frame is left out and
/// counted: everything that the reader returns is within the limits of span_limits.h and has a known name.
class SpoolReader {
 public:
  /// Throws Error{kRunFailed} when the file cannot be opened (native code: errno) or is no spool of this
  /// version.
  explicit SpoolReader(std::filesystem::path file);

  /// Returns everything complete that was not read before; empty when there is nothing new. With a limit, it
  /// stops after the frame that reaches `max_spans` spans: then an empty batch means that everything was
  /// read.
  SpoolBatch read(std::size_t max_spans = std::numeric_limits<std::size_t>::max());

  /// -1 and empty until the head of the file was read, which the constructor does when it is there.
  int rank() const noexcept { return rank_; }
  const std::string& run_id() const noexcept { return run_id_; }
  /// Throws as for damage when the head was read and names another rank: a rank may only report its own
  /// spans.
  void check_rank(int expected) const;

 private:
  bool read_head();
  bool next_frame(SpoolBatch& batch);
  std::size_t fill(std::size_t wanted_bytes);
  void make_room(std::size_t wanted_bytes);
  bool apply(std::uint32_t type, const char* payload, std::size_t payload_bytes, SpoolBatch& batch);
  bool apply_names(const char* payload, std::size_t payload_bytes, SpoolBatch& batch);
  bool apply_spans(const char* payload, std::size_t payload_bytes, SpoolBatch& batch);
  bool apply_scalars(const char* payload, std::size_t payload_bytes, SpoolBatch& batch);
  void leave_out(const char* what, std::size_t place, const std::string& why);
  bool corrupt(const std::string& what);
  [[noreturn]] void throw_corruption() const;

  std::filesystem::path file_;
  UniqueFd fd_;
  std::uint64_t offset_ = 0;        ///< of the first byte not yet taken, in the file
  std::unique_ptr<char[]> buffer_;  ///< the file from offset_ - taken_ on
  std::size_t buffer_bytes_ = 0;
  std::size_t taken_ = 0;
  std::size_t filled_ = 0;
  std::uint32_t frames_ = 0;
  std::uint32_t names_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t invalid_ = 0;
  std::string first_invalid_;
  bool ended_ = false;
  int rank_ = -1;
  std::string run_id_;
  std::string corruption_;
};

}  // namespace ddbench::host
