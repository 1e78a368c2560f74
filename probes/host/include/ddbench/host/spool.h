#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ddbench/record/span.h"

namespace ddbench::host {

struct Scalar {
  std::uint32_t name_id = 0;
  std::uint32_t step = kNoStep;
  double value = 0;
};

/// What a rank has spooled since the last read.
struct SpoolBatch {
  std::vector<Span> spans;
  std::vector<Scalar> scalars;
  std::vector<std::string> new_names;  ///< names with the ids that follow those read before
  std::uint64_t dropped = 0;           ///< total so far
  bool ended = false;                  ///< the end frame was seen: the rank stopped in order
};

/// Reads a spool file while its rank may still be writing it: complete frames only, each once.
/// A frame cut short by a killed rank stays unread; a frame that contradicts its checksum is an Error{kRunFailed} that
/// names the file and the offset.
class SpoolReader {
 public:
  explicit SpoolReader(std::filesystem::path file);
  SpoolBatch read();
  int rank() const noexcept;
};

}  // namespace ddbench::host
