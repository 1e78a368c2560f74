#include <fmt/format.h>

#include "ddbench/collective/communicator.h"
#include "ddbench/ddp/train.h"
#include "ddbench/device/device.h"
#include "ddbench/experiment/execute_run.h"
#include "ddbench/host/machine.h"
#include "ddbench/launch/link_rate.h"
#include "ddbench/launch/memory_check.h"
#include "ddbench/micro/micro.h"
#include "ddbench/micro/plan.h"
#include "ddbench/workload/workload.h"
#include "network.h"

namespace ddbench::experiment {
namespace {

void check_work(const RunCase& run_case) {
  if (micro::is_micro(run_case)) {
    micro::plan_measurements(run_case);
    return;
  }
  ddp::check_supported(run_case);
  if (run_case.data != "synthetic") {
    workload::make_workload(run_case.workload, run_case.workload_options)->make_dataset(run_case.data, run_case.seed);
  }
}

}  // namespace

void check_startable(const RunCase& run_case) {
  validate(run_case);
  if (!run_case.link.empty()) launch::parse_link_rate(run_case.link);
  check_work(run_case);
  device::make_device(run_case.device);
  if (run_case.world_size() > 1) collective::check_backend(run_case.backend);
  const host::Machine machine = host::inspect_machine();
  check_network(run_case, machine);
  if (machine.available_memory_bytes) {
    launch::check_memory(run_case, *machine.available_memory_bytes,
                         micro::is_micro(run_case) ? micro::memory_per_rank_bytes : ddp::memory_per_rank_bytes);
  }
}

}  // namespace ddbench::experiment
