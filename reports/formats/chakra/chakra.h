#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::reports {

struct ChakraExport {
  std::size_t ranks = 0;           ///< files written
  std::uint64_t nodes = 0;         ///< of all ranks
  std::uint64_t left_out = 0;      ///< communication for which Chakra has no type, or whose peer is not known
  std::uint64_t unknown_size = 0;  ///< collectives without comm_size: the recording has no size for them
};

/// Writes the steps of a run as MLCommons Chakra execution traces (schema/protobuf/et_def.proto of
/// mlcommons/chakra) into `folder`, which is created when it is missing: ddbench.<rank>.et for each rank that
/// recorded spans, a GlobalMetadata and then its nodes, each preceded by its length as a varint, as Chakra's
/// tools expect; and ddbench.comm_groups.json, the ranks of each process group by its name, where they are
/// known.
///
/// Compute, copies and waits for data are COMP_NODEs, collectives COMM_COLL_NODEs with comm_type, comm_size
/// and pg_name. comm_size is the size of a rank's input, as in Chakra's converter for PyTorch: for an
/// all_gather it is a part of the output. Times are microseconds on the run's reference clock counted from
/// the first span, as the schema requires; the attributes begin_ns and duration_ns hold the exact times. No
/// node represents host time.
///
/// Dependencies follow from the recorded times. A node waits for the last one of its lane that ended before
/// it began; a collective also for the last compute that ended before, and computation for a collective that
/// ended in the pause before it.
///
/// Holds the spans of one rank at a time. Throws Error{kBadInput} on an unknown run, and for a run without
/// spans in steps; and the errors of OutputFile if a file cannot be written.
ChakraExport export_chakra(const store::RunStore& store, const store::RunId& id, const std::filesystem::path& folder);

}  // namespace ddbench::reports
