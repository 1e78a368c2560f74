#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "core/run_case/program_case.h"
#include "harness/collective/communicator.h"
#include "harness/device/device.h"
#include "harness/experiment/run/execute_run.h"
#include "harness/experiment/run/gpus.h"
#include "harness/experiment/run/network.h"
#include "harness/launch/machine/link_rate.h"
#include "harness/launch/machine/memory_check.h"
#include "harness/microbench/micro.h"
#include "harness/microbench/plan.h"
#include "harness/model/architectures/registry.h"
#include "harness/training/footprint.h"
#include "harness/training/train.h"
#include "probes/machine/machine.h"

namespace ddbench::experiment {
namespace {

/// As execvp will look for it.
void check_program(const RunCase& run_case) {
  const std::string program = program_command(run_case).front();
  if (program.find('/') != std::string::npos) {
    if (::access(program.c_str(), X_OK) == 0) return;
    throw Error(ErrorCode::kBadInput, fmt::format("the program {} cannot be executed: {}", program,
                                                  std::generic_category().message(errno)));
  }
  const char* const variable = std::getenv("PATH");
  std::istringstream directories(variable != nullptr ? variable : "/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (::access((std::filesystem::path(directory) / program).c_str(), X_OK) == 0) return;
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("there is no program {} in the directories of PATH", program));
}

void check_work(const RunCase& run_case) {
  if (is_program(run_case)) return check_program(run_case);
  if (is_micro(run_case)) {
    micro::plan_measurements(run_case);
    return;
  }
  ddp::check_supported(run_case);
  if (run_case.data != "synthetic") {
    workload::make_workload(run_case)
        ->make_dataset(run_case.data, run_case.seed);
  }
}

/// Of a microbenchmark; `bytes`: of a rank.
std::vector<std::string> smaller_messages(const RunCase& run_case, std::int64_t bytes) {
  const int ranks = run_case.world_size();
  return {fmt::format("messages of at most {} bytes (max_bytes)", micro::usual_max_bytes(bytes * ranks, ranks))};
}

}  // namespace

void check_parts_fit(const RunCase& run_case) {
  const bool on_gpu = run_case.on_gpus();
  const auto refuse = [](const std::string& message) { throw Error(ErrorCode::kBadInput, message); };
  if ((run_case.precision == "tf32" || run_case.precision == "fp16") && !on_gpu) {
    refuse(fmt::format("precision {} is one of GPUs: use it with --device cuda", run_case.precision));
  }
  if (run_case.cuda_graph != CudaGraphs::kAuto && !on_gpu) {
    refuse("--cuda-graph is an option of GPUs: use it with --device cuda");
  }
  if (run_case.world_size() == 1) return;
  if (on_gpu && run_case.backend != "nccl") {
    refuse(fmt::format("backend {} does not read the memory of GPUs: use --backend nccl with --device cuda",
                       run_case.backend));
  }
  if (!on_gpu && run_case.backend == "nccl") {
    refuse(fmt::format("backend nccl needs GPUs, not --device {}: use --backend gloo", run_case.device));
  }
}

void check_startable(const RunCase& run_case, const launch::LauncherOptions& launcher) {
  validate(run_case);
  if (!run_case.link.empty()) launch::parse_link_rate(run_case.link);
  launch::check_launcher(run_case, launcher);
  check_work(run_case);
  if (is_program(run_case)) return;  // what it computes with, and needs, is its own business
  check_parts_fit(run_case);
  if (run_case.backend == "mpi" && run_case.world_size() > 1 &&
      launcher.launcher == launch::Launcher::kLocal) {
    throw Error(
        ErrorCode::kBadInput,
        "backend mpi needs ranks that MPI has started: use it with --launcher mpirun, on this machine too");
  }
  if (launcher.launcher != launch::Launcher::kLocal)
    return;  // what the ranks' machines have, they say themselves
  device::check_device(run_case.device);
  if (run_case.world_size() > 1) collective::check_backend(run_case.backend);
  const host::Machine machine = host::inspect_machine();
  check_gpus(run_case, machine, launcher.share_gpus);
  check_network(run_case, machine);
  if (!is_micro(run_case)) check_gpu_memory(run_case, machine);
  if (machine.available_memory_bytes) {
    launch::check_memory(
        run_case, *machine.available_memory_bytes,
        is_micro(run_case) ? micro::memory_per_rank_bytes : ddp::memory_per_rank_bytes,
        is_micro(run_case) ? launch::WaysToFit(smaller_messages) : ddp::ways_to_fit_process);
  }
}

}  // namespace ddbench::experiment
