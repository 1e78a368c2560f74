#pragma once

#include <string>

#include "analyzer/predict/step_recording.h"
#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// Whether RankStep::operators is filled.
enum class RecordedDetail { kWork, kOperators };

/// The measured steps of a run with the probes on, at most `most_steps` of them from the first on. Steps whose ranks did
/// not all record the same collectives in the same order are left out, with a note. Missing with the reason where nothing
/// can be replayed: no spans, a run of `ddbench micro`, no step that all ranks recorded. Throws Error{kBadInput}
/// when the run is unknown.
Measured<StepRecording> recording_of(const store::RunStore& store, const store::RunRecord& run,
                                     std::size_t most_steps = 256, RecordedDetail detail = RecordedDetail::kWork);

}  // namespace ddbench::analyzer
