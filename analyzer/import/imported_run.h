#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/run_case/records.h"

namespace ddbench::imports {

/// A run measured by another tool, ready to be stored: done, of provenance `imported`, without an id yet.
struct ImportedRun {
  store::RunRecord run;
  std::vector<store::StepRecord> steps;              ///< one for a table's row: its step time
  std::vector<store::CollectiveRecord> collectives;  ///< of collective tests
};

using TakeRun = std::function<void(ImportedRun&& run)>;
/// Passes the runs of a file to `take`, in order, as often as it is called. Throws Error{kBadInput} at the
/// first thing that is wrong.
using RunSource = std::function<void(const TakeRun& take)>;
/// Called for each run: `done` of `all` are stored.
using ImportProgress = std::function<void(std::size_t done, std::size_t all)>;

struct ImportResult {
  std::string sweep_id;  ///< "import-" and a hash of the file: all its runs share it
  std::vector<store::RunId> added;
  bool already_there = false;  ///< the store already holds this file; nothing was changed
};

/// Stores the runs in one transaction, all or none; the store is not opened for a file with an error. Holds
/// some hundred runs at a time. The same `content` (that of the file, with the options it was read with) is stored
/// once, whoever else imports it at the same time: importing it again changes nothing. `origin` is kept with
/// each run as fact "import.file". Throws as `runs` and RunStore::open.
ImportResult import_runs(const std::filesystem::path& store_file, const RunSource& runs,
                         std::string_view content, const std::string& origin,
                         const ImportProgress& progress = {});

/// The whole file. Throws Error{kBadInput} that names it when it cannot be read or is larger than 256 MB.
std::string read_file(const std::filesystem::path& file);

}  // namespace ddbench::imports
