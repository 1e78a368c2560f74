#pragma once

#include <filesystem>

#include "analyzer/import/horovod/timeline.h"
#include "analyzer/import/trace/import_trace.h"

namespace ddbench::imports {

struct HorovodOptions {
  TraceOptions trace;
  int ranks = 0;  ///< of the job; 0: those that the timeline names
};

/// The activity of rank 0 as spans: "negotiate" is a tensor's negotiation; a collective is the transfer
/// alone, that of all tensors that were fused for it (tensors whose activities of the same name begin within
/// 1 ms of each other and before the first of them ends); copies into and out of the fusion buffer are
/// copies. Waits for data and queueing are none of these.
///
/// The rows of collectives cover all ranks, as rank 0 saw them: RankTrace::reported_collectives. The peer wait of
/// a negotiation is how long a rank was ready before the last one, if the timeline names all ranks; otherwise
/// it is not known. Where some negotiations name all ranks, as before Horovod has a tensor in its cache, the others count, but
/// their times are left out: a note says how many.
///
/// Steps: a gradient's tensor is reduced once a step, so that the k-th time of all tensors ends the k-th
/// step. Throws Error{kBadInput} naming the file if the number of ranks is not stated, or `options.ranks` are
/// fewer than it names.
RankTrace horovod_trace(const HorovodTimeline& timeline, const std::filesystem::path& file, const HorovodOptions& options);

/// Makes one run of a timeline of Horovod's. Throws as read_horovod_timeline, horovod_trace and import_traces.
TraceImport import_horovod(const std::filesystem::path& store_file, const std::filesystem::path& file,
                           const HorovodOptions& options);

}  // namespace ddbench::imports
