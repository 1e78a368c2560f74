#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/experiment/ingest/run_observer.h"

namespace ddbench::experiment {

/// What the ranks of a program print, which the launcher collects in rank<N>.log. Nothing for a reference
/// workload, whose ranks are silent.
class ProgramOutput {
 public:
  ProgramOutput(const RunCase& run_case, std::filesystem::path run_directory);

  bool expected() const noexcept { return !shown_bytes_.empty(); }
  /// Hands every whole line that was printed since the last call to the observer, and of a progress bar, which goes back
  /// to the begin of its line, the last state. At most 1 MiB of each rank a call, and longer lines in pieces: whether there may
  /// be more.
  bool show(RunObserver& observer);
  /// Copies each rank's output to output_directory(store, run), which is made with its parent; ranks that printed nothing
  /// leave no file.
  void keep(const std::filesystem::path& store, const store::RunId& run) const;

 private:
  std::filesystem::path log_of(std::size_t rank) const;

  std::filesystem::path run_directory_;
  std::vector<std::uint64_t> shown_bytes_;  ///< by rank; empty: there is nothing to show
};

/// The purpose in OwnedDirectory::mark for a directory that keep() made.
inline constexpr const char* kOutputPurpose = "output";
/// Whether keep() makes a file of this relative path ("rank3.log") in its directory.
bool is_output_file(const std::string& relative_path);

/// Where the output of programs is kept: beside the store, <store>.logs.
std::filesystem::path output_base(const std::filesystem::path& store);
/// That of a run: <store>.logs/<run>, with a file rank<N>.log for each rank that printed something.
std::filesystem::path output_directory(const std::filesystem::path& store, const store::RunId& run);

/// A note for each reason why the dynamic linker could not load one of ddbench's libraries into the processes of a program: nothing of
/// these processes is recorded. From what it printed at the begin of the ranks' output (rank<N>.log in `run_directory`).
std::vector<std::string> loader_errors(const std::filesystem::path& run_directory, int ranks);

}  // namespace ddbench::experiment
