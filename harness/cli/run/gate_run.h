#pragma once

#include <memory>
#include <string>
#include <utility>

#include "analyzer/gate/gate.h"
#include "analyzer/store/rows/run_store.h"

namespace ddbench::cli {

/// The options of `gate --run A B --pairs N`.
struct PairedRunRequest {
  std::pair<std::string, std::string>
      arguments;  ///< of `ddbench run`, for the baseline and for the candidate
  int pairs = 10;
  bool quiet = false;
};

/// Reads both sides as `ddbench run` reads its arguments. The fields in which the two cases differ are the
/// ones compared. Throws Error{kBadInput} or Error{kEnvironment} before anything is run.
class PairedRuns {
 public:
  PairedRuns(PairedRunRequest request, analyzer::GatePolicy policy);
  ~PairedRuns();
  PairedRuns(const PairedRuns&) = delete;
  PairedRuns& operator=(const PairedRuns&) = delete;

  /// Runs the pairs interleaved and judges them; a regression is measured again, policy.repeat_on_fail times,
  /// and stays one only if all pairs together show it. A run that fails ends the measurement and leaves no
  /// verdict. Throws Error{kInterrupted} after Ctrl-C.
  analyzer::GateVerdict measure(store::RunStore& store);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ddbench::cli
