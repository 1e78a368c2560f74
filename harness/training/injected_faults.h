#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/model/probe.h"

namespace ddbench::ddp {

/// Faults of a known kind on a known rank, which `ddbench diagnose` is to find: "paced=3ms,operator=2ms,rank=1,from=40".
/// Durations are slept, so that ranks that share a core do not slow each other down.
struct FaultPlan {
  using Time = std::chrono::nanoseconds;
  Time paced{0};     ///< an operator "paced" that every rank runs in each step takes this long
  Time op{0};        ///< "operator": on the rank it takes so much longer
  Time data{0};      ///< "data": the rank waits so much longer for its batch
  Time host{0};      ///< "host": the rank is busy with something else for so long
  Time moving{0};    ///< "moving": the operator takes so much longer on one rank of each step, drawn anew
  Time everywhere{0};  ///< "everywhere": the operator takes so much longer on all ranks
  std::string link;    ///< "link": the rate of the node's link, by the launcher of a run over namespaces
  int node = -1;
  int rank = -1;
  std::uint32_t from = 0;  ///< the first step with the fault, counted with warm-up
};

/// Throws Error{kBadInput} that names what cannot be read.
FaultPlan fault_plan(std::string_view text);

/// Carries out on one rank the fault in kInjectVariable (core/run_case/injected.h); does nothing without it.
class InjectedFaults {
 public:
  InjectedFaults(int rank, int world_size, workload::Probe& probe);
  /// At the begin of a step, with its spans.
  void begin_step(std::uint32_t step, workload::Probe& probe) const;

 private:
  FaultPlan plan_;
  bool active_ = false;
  bool is_victim_ = false;
  int rank_ = 0;
  int world_size_ = 1;
  std::uint32_t operator_name_ = 0;
  std::uint32_t data_name_ = 0;
  std::uint32_t host_name_ = 0;
};

}  // namespace ddbench::ddp
