#include <cstddef>

#include "core/clock.h"
#include "core/program_phase.h"
#define DDBENCH_PROVIDES_MARKS
#include "probes/preload/marks/ddbench.h"
#include "probes/preload/session/measuring_window.h"
#include "probes/preload/session/process_recorder.h"
#include "probes/preload/session.h"

void ddbench_step(void) {
  if (ddbench::inject::mark_step()) ddbench::inject::note_step_ended(0);
}

long long ddbench_now(void) {
  return ddbench::now_ns();
}

void ddbench_region(int phase, long long begin_ns, unsigned long long samples, unsigned long long id) {
  if (phase < 0 || static_cast<std::size_t>(phase) >= ddbench::kPhaseNames.size()) return;
  const auto which = static_cast<ddbench::ProgramPhase>(phase);
  ddbench::inject::record_phase(which, begin_ns, samples, id);
  if (which == ddbench::ProgramPhase::kOptimizer) ddbench::inject::note_step_ended(id);
}

void ddbench_mark_cost(long long ns) {
  ddbench::inject::set_mark_cost(ns);
}

int ddbench_report(const char* name) {
  if (name == nullptr || !ddbench::inject::recorder_is_open()) return 0;
  return ddbench::inject::report_inputs(name) ? 1 : 0;
}

int ddbench_program_file(const char* folder, const char* name) {
  if (folder == nullptr || name == nullptr || !ddbench::inject::recorder_is_open()) return 0;
  ddbench::inject::report_program_file(folder, name);
  return 1;
}
