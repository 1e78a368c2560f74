#pragma once

#include "analyzer/store/rows/run_store.h"
#include "reports/text/sink.h"

namespace ddbench::reports {

/// The spans of a run as Chrome trace events (JSON), for ui.perfetto.dev and chrome://tracing. Ranks are
/// processes; lanes and steps are threads. All times are on the run's reference clock (ClockMap), counted
/// from the first span. The spans of one collective are joined by a flow from the first rank that arrived to
/// the last, and state how long each rank waited. Losses are counters. Spans of one lane that overlap without
/// nesting are moved to further threads. Damaged spans (which end before they begin) are left out and counted
/// under otherData.
///
/// Holds the spans of one rank at a time. Throws Error{kBadInput} on an unknown run.
void write_perfetto(const store::RunStore& store, const store::RunId& id, const Sink& sink);

}  // namespace ddbench::reports
