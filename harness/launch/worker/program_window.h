#pragma once

#include <filesystem>
#include <string>

#include "core/run_case/run_case.h"
#include "harness/collective/key_value_store.h"
#include "harness/launch/worker/program.h"

namespace ddbench::launch {

/// How a program ended.
struct ProgramEnd {
  int status = 0;                ///< its wait status
  bool after_its_window = false; ///< ddbench ended it when its measuring window was over: the status means nothing
};

/// Waits for the program's end, and if the case requests it (`--after stop`) ends it once the window is over
/// in all ranks: a rank that ended earlier would break a collective of another. Windows end when the
/// processes of this node report it (probes/preload/session/measuring_window.h); with a duration, in a
/// program that marks no steps, that long after the first process recorded something. `keys`: of all ranks.
/// `spool`: as in Program::Options. `rank`: this one's. Throws Error as KeyValueStore::get.
ProgramEnd wait_for_end(Program& program, const RunCase& run_case, int rank, const std::filesystem::path& spool,
                        collective::KeyValueStore& keys);

/// DDBENCH_WINDOW, for the processes of the program; empty where the window has no end.
std::string window_for_program(const RunCase& run_case);

}  // namespace ddbench::launch
