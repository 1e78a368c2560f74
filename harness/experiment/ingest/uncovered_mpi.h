#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/experiment/ingest/program_spools.h"

namespace ddbench::experiment {

/// What the ranks of a program over MPI called that is not recorded (core/program/mpi_report.h).
class UncoveredMpi {
 public:
  void take(const ProcessRecording& process);
  /// A note each for people: of the functions, the most frequent first, with their calls on all ranks; and of
  /// an MPI of which nothing is recorded.
  void describe(std::vector<std::string>& notes) const;

 private:
  std::map<std::string, std::uint64_t> calls_;  // by function
  std::string unknown_library_;
};

}  // namespace ddbench::experiment
