#include "harness/launch/worker/program_rank.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <limits>

#include "core/run_case/program_case.h"
#include "harness/launch/control/rank_wording.h"
#include "harness/launch/control/tcp.h"
#include "harness/launch/machine/process_facts.h"
#include "harness/launch/start/torchrun_variables.h"
#include "harness/launch/worker/program.h"
#include "harness/launch/worker/program_window.h"
#include "harness/launch/worker/require_own.h"

namespace ddbench::launch {
namespace {

/// A program that was started as if from a shell, and needs its rank and address.
std::string hint_at_places(const std::string& words) {
  if (std::getenv("RANK") != nullptr) return {};
  for (const char* wanted : {"environment variable RANK expected", "environment variable WORLD_SIZE expected",
                             "environment variable MASTER_ADDR expected", "KeyError: 'RANK'", "KeyError: 'LOCAL_RANK'",
                             "KeyError: 'WORLD_SIZE'", "KeyError: 'MASTER_ADDR'"}) {
    if (words.find(wanted) != std::string::npos)
      return ". It expects the variables of a launcher: --gpus N (also --gpus 1) starts N ranks with those of torchrun";
  }
  return {};
}

class ProgramRank {
 public:
  ProgramRank(WorkerSession& session, const Assignment& assignment, const RemoteRank* remote,
              MachineCounting& counting)
      : session_(session), assignment_(assignment), remote_(remote), counting_(counting) {}

  void run() {
    const ClockReading start = session_.read_clock(kLauncherAnswersIn);
    if (remote_ != nullptr) set_place_of_program();
    counting_.begin(remote_, assignment_.local_rank);
    const bool per_node = is_program_per_node(assignment_.run_case);
    if (per_node && assignment_.local_rank > 0) return stand_for_a_rank(start);
    const std::filesystem::path spool = std::filesystem::path(assignment_.spool).replace_extension();
    Program program({.command = program_command(assignment_.run_case),
                     .preload = recording_library(),
                     .spool = spool.string(),
                     .run_id = assignment_.run_id,
                     .python = std::get<UserProgram>(assignment_.run_case.work).python_marks ? python_folder() : "",
                     .window = window_for_program(assignment_.run_case),
                     .rank = per_node ? -1 : assignment_.rank});
    const auto [status, after_its_window] = follow(program, spool, start);
    if (status != 0 && !after_its_window) {
      if (session_.stopped()) throw Error(ErrorCode::kInterrupted, "stopped by the launcher");
      const std::string words =
          ddbench::launch::last_words(std::filesystem::path(assignment_.spool).replace_extension("log"));
      throw Error(ErrorCode::kRunFailed, fmt::format("the program {}{}", describe_end(status),
                                                     words.empty() ? "" : "; its last output: " + words + hint_at_places(words)));
    }
    deliver_program(peak_memory_of_children_bytes());
  }

 private:
  /// Also where this fails, nothing terminates the program once it is gone.
  ProgramEnd follow(Program& program, const std::filesystem::path& spool, const ClockReading& start) {
    const StopAction terminates(session_, [&program] { program.terminate(); });
    session_.send(Ready{"", "", start});
    return wait_for_end(program, assignment_.run_case, assignment_.rank, spool, session_);
  }

  /// The address of the program's rank 0, on a rank that ddbench did not start itself: as announced by rank
  /// 0, which uses the address that its starter gave it, else its own address and a free port there. A rank
  /// that cannot trust this uses the address that it was given itself.
  Endpoint program_master() {
    if (!remote_->launcher_is_proved) return own_master(remote_->placement);
    constexpr const char* kKey = "program.master";
    if (assignment_.rank == 0) {
      const char* const address = std::getenv("MASTER_ADDR");
      const char* const port = std::getenv("MASTER_PORT");
      const Endpoint own = local_end(listen_at({assignment_.address, 0}).get());
      const std::string master =
          address != nullptr && port != nullptr ? to_string({address, std::atoi(port)}) : to_string(own);
      session_.set(kKey, {master.begin(), master.end()});
    }
    const collective::Bytes master = session_.get(kKey, kLauncherAnswersIn);
    return endpoint_from({master.begin(), master.end()});
  }

  void set_place_of_program() {
    const RankPlace place{assignment_.rank, assignment_.run_case.nodes, assignment_.run_case.gpus_per_node};
    for (const auto& [name, value] : torchrun_variables(place, program_master())) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    ::setenv("OMP_NUM_THREADS", "1", 0);
  }

  /// A rank that the program of its node starts: this process only has its place and its clock.
  void stand_for_a_rank(const ClockReading& start) {
    session_.send(Ready{"", "", start});
    deliver_program(0);
  }

  void deliver_program(std::int64_t peak_bytes) {
    Result result;
    result.loss_first = result.loss_last = std::numeric_limits<double>::quiet_NaN();
    result.clock = session_.read_clock(kLauncherAnswersIn);
    result.peak_memory_bytes = peak_bytes;
    counting_.report();
    session_.ship_rest();
    session_.send(result);
    session_.wait_for_finish();
  }

  WorkerSession& session_;
  const Assignment& assignment_;
  const RemoteRank* remote_;
  MachineCounting& counting_;
};

}  // namespace

void run_program(WorkerSession& session, const Assignment& assignment, const RemoteRank* remote,
                 MachineCounting& counting) {
  ProgramRank(session, assignment, remote, counting).run();
}

}  // namespace ddbench::launch
