#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "ddbench/experiment/execute_run.h"

namespace ddbench::experiment {

/// What the ranks of a program print, which the launcher collects in rank<N>.log. Nothing for a reference workload, whose
/// ranks are silent.
class ProgramOutput {
 public:
  ProgramOutput(const RunCase& run_case, std::filesystem::path run_directory);

  bool expected() const noexcept { return !shown_bytes_.empty(); }
  /// Hands every whole line that was printed since the last call to the observer.
  void show(RunObserver& observer);
  /// Copies each rank's output to `directory`, which is made; ranks that printed nothing leave no file.
  void keep(const std::filesystem::path& directory) const;

 private:
  std::filesystem::path log_of(std::size_t rank) const;

  std::filesystem::path run_directory_;
  std::vector<std::uint64_t> shown_bytes_;  ///< by rank; empty: there is nothing to show
};

/// Where the output of a run's program is kept: beside the store, <store>.logs/<run>/rank<N>.log.
std::filesystem::path output_directory(const std::filesystem::path& store, const store::RunId& run);

}  // namespace ddbench::experiment
