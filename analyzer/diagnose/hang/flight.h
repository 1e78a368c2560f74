#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ddbench::analyzer {

/// A collective, send or receive that a flight recorder holds: PyTorch's (analyzer/import/flight_recorder), or that of a rank of ours
/// (probes/recorder/flight_ring.h).
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
  std::vector<int> ranks;   ///< ascending; empty: the dump does not list all of them
};

struct GroupProgress {
  std::int64_t enqueued = -1;  ///< the last one; -1: none
  std::int64_t completed = -1;
};

/// The content of one rank's recorder.
struct FlightDump {
  std::string file;
  int rank = -1;
  std::string version;
  std::string nccl_version;
  std::map<std::string, RecordedGroup> groups;     ///< by name
  std::map<std::string, GroupProgress> progress;   ///< of collectives, by the rank's own number of the group
  std::map<std::string, std::string> numbers;      ///< group number by name, as far as operations state it
  std::vector<RecordedOperation> operations;       ///< as enqueued
};

}  // namespace ddbench::analyzer
