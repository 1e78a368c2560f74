#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::reports {

struct ChakraExport {
  std::size_t ranks = 0;           ///< files written
  std::uint64_t nodes = 0;         ///< of all ranks
  std::uint64_t left_out = 0;      ///< communication that Chakra has no word for, or whose peer is not known
  std::uint64_t unknown_size = 0;  ///< collectives without comm_size, as what recorded them does not say it
};

/// Writes the steps of a run as MLCommons Chakra execution traces (schema/protobuf/et_def.proto of mlcommons/chakra) into
/// `folder`, which is created when it is missing: ddbench.<rank>.et for each rank that recorded spans, a GlobalMetadata and
/// then its nodes, each behind its length as a varint, as Chakra's tools read them; and ddbench.comm_groups.json, the ranks of
/// each process group by its name, where they are known.
///
/// Compute, copies and waits for data are COMP_NODEs, collectives COMM_COLL_NODEs with comm_type, comm_size and pg_name.
/// comm_size is what a rank gives, as Chakra's converter of PyTorch has it: for an all_gather a part of what it gets. Times are
/// microseconds on the run's reference clock from its first span on, as the schema wants them; the attributes begin_ns and
/// duration_ns have them exactly. Host time is in no node.
///
/// Dependencies are those that the recording shows. A node waits for the last one of its lane that ended before it began; a
/// collective also for the last compute that ended before, and computation for a collective that ended in the pause before it.
///
/// Holds the spans of one rank at a time. Throws Error{kBadInput} on an unknown run, and for one that has no spans in steps; as
/// OutputFile where a file cannot be written.
ChakraExport export_chakra(const store::RunStore& store, const store::RunId& id, const std::filesystem::path& folder);

}  // namespace ddbench::reports
