#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ddbench::imports {

/// From the first rank's request for a tensor's collective to the message of rank 0 that all ranks have
/// requested it.
struct HorovodNegotiation {
  std::size_t tensor = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::size_t first_ready = 0;  ///< into HorovodTimeline::ready
  std::size_t ready = 0;        ///< how many ranks it names; 0 where Horovod had the tensor in its cache
};

struct HorovodReady {
  int rank = 0;
  std::int64_t at_ns = 0;
};

/// What was done with one tensor once all ranks had it.
struct HorovodOperation {
  std::size_t tensor = 0;
  std::string_view function;  ///< ddbench's name; empty if Horovod moves nothing (JOIN, ERROR)
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t bytes = 0;  ///< of the result; 0: not stated
};

/// A part of an operation, as Horovod names it: "NCCL_ALLREDUCE", "MEMCPY_IN_FUSION_BUFFER", "QUEUE".
struct HorovodActivity {
  std::size_t operation = 0;
  std::size_t name = 0;  ///< into HorovodTimeline::activity_names
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// A timeline of Horovod's. Times are nanoseconds since Horovod's start.
struct HorovodTimeline {
  std::vector<std::string> tensors;
  std::vector<std::string> activity_names;
  std::vector<HorovodNegotiation> negotiations;  ///< each list as they ended
  std::vector<HorovodReady> ready;
  std::vector<HorovodOperation> operations;
  std::vector<HorovodActivity> activities;
  std::uint64_t hash = 0;       ///< of the file
  int named_ranks = 0;          ///< one more than the highest rank named; 0: none is named
  std::size_t not_whole = 0;    ///< begins without an end, and ends without a begin, as at the ends of a recording
  bool is_cut_off = false;      ///< the file ends within the list of events
};

/// Reads what Horovod wrote to HOROVOD_TIMELINE: the Chrome trace of its rank 0, in which each tensor is a process. Memory: 24
/// to 56 bytes for each pair of a begin and an end. A file that Horovod could not end is read up to its last whole event.
/// Throws Error{kBadInput} that names the file and the offset for what is no such timeline, and for one without any negotiation
/// or operation that ended.
HorovodTimeline read_horovod_timeline(const std::filesystem::path& file);

}  // namespace ddbench::imports
