#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddbench::imports {

/// An operation that the Flight Recorder holds.
struct RecordedOperation {
  std::int64_t order = 0;  ///< "record_id": in which the rank enqueued them
  std::string group;       ///< the name of the process group
  std::int64_t sequence = 0;  ///< in the group: of collectives, or of sends and receives
  std::string name;        ///< "nccl:all_reduce", "nccl:recv 2<-3"
  bool is_p2p = false;
  bool is_completed = false;
};

/// A process group as a rank knows it.
struct RecordedGroup {
  std::string description;  ///< "TENSOR_MODEL_PARALLEL_GROUP"
  std::vector<int> ranks;   ///< ascending; empty: not said in full
};

struct GroupProgress {
  std::int64_t enqueued = -1;  ///< the last; -1: none
  std::int64_t completed = -1;
};

/// What one rank's dump says.
struct FlightDump {
  std::string file;
  int rank = -1;
  std::string version;
  std::string nccl_version;
  std::map<std::string, RecordedGroup> groups;     ///< by name
  std::map<std::string, GroupProgress> progress;   ///< of collectives, by the rank's own number of the group
  std::map<std::string, std::string> numbers;      ///< that number by name, as far as operations tell
  std::vector<RecordedOperation> operations;       ///< as enqueued
};

/// Reads a dump of PyTorch's Flight Recorder (TORCH_NCCL_DUMP_ON_TIMEOUT), versions 2.x, a pickle or JSON. Throws
/// Error{kBadInput} that names `origin` and what is wrong.
FlightDump read_flight_dump(std::string_view bytes, const std::string& origin);

}  // namespace ddbench::imports
