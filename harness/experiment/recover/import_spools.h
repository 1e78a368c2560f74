#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/run_case/records.h"

namespace ddbench::experiment {

struct SpoolImportOptions {
  std::string name;  ///< of the program; empty: the folder's name
  std::int64_t batch_per_gpu = 1;
  int warmup = 5;  ///< steps that do not count
};

struct SpoolImport {
  store::RunId run;
  std::string sweep_id;        ///< "spools-" and a hash of what was recorded
  bool already_there = false;  ///< `run` is stored already, whatever the options: nothing was changed
  int ranks = 0;
  int machines = 0;
};

/// Makes one run from the spools rank<N>.<pid>.spool in `folder`, which the ranks of a program wrote without
/// a launcher of ddbench's (NCCL's profiler plug-in used alone), copied together from all machines. Nodes are
/// the machines; ranks of several machines, or of one whose kernel's boot id is not known, have no common
/// clock, so that waits for peers are not known then. The recording of a killed rank counts, and a note
/// states this. All or nothing; the spools are not changed. Throws Error{kBadInput} naming the folder or
/// file: no spools, fewer ranks than made collectives together, two processes of one rank that made some, a
/// damaged spool, one of a run of ddbench's own, ranks that are not spread evenly, no span at all; else as
/// RunStore::open.
SpoolImport import_spools(const std::filesystem::path& store_file, const std::filesystem::path& folder,
                          const SpoolImportOptions& options);

}  // namespace ddbench::experiment
