#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "ddbench/store/records.h"

namespace ddbench::experiment {

struct SpoolImportOptions {
  std::string name;  ///< of the program; empty: the folder's name
  std::int64_t batch_per_gpu = 1;
  int warmup = 5;  ///< steps that do not count
};

struct SpoolImport {
  store::RunId run;  ///< empty when it was there already
  std::string sweep_id;
  int ranks = 0;
  int machines = 0;
};

/// Makes one run of the spools rank<N>.<pid>.spool in `folder`, which the ranks of a program wrote without a
/// launcher of ddbench's (NCCL's profiler plug-in used alone), copied together from all machines. Nodes are
/// the machines; ranks of several machines have no common clock, so that waits for peers are not known then.
/// The same spools are stored once. All or nothing: the spools are left as they are. Throws Error{kBadInput}
/// that names the folder or file: no spools, a rank's is missing or damaged, one is of a run of ddbench's
/// own, ranks that are not spread evenly; else as RunStore::open.
SpoolImport import_spools(const std::filesystem::path& store_file, const std::filesystem::path& folder,
                          const SpoolImportOptions& options);

}  // namespace ddbench::experiment
