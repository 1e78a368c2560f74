#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "core/facts/facts.h"
#include "core/library_error/as_error.h"
#include "core/run_case/program_case.h"
#include "harness/collective/communicator.h"
#include "harness/launch/control/tcp.h"
#include "harness/launch/machine/core_claim.h"
#include "harness/launch/machine/pinning.h"
#include "harness/launch/machine/process_facts.h"
#include "harness/launch/machine/sigterm.h"
#include "harness/launch/start/network_settings.h"
#include "harness/launch/worker/machine_counting.h"
#include "harness/launch/worker/program_rank.h"
#include "harness/launch/worker/require_own.h"
#include "harness/launch/machine/own_processes.h"
#include "harness/launch/worker/run_worker.h"
#include "harness/launch/worker/training_state.h"
#include "harness/launch/worker/failure_tracking_communicator.h"
#include "harness/launch/worker/worker.h"
#include "harness/microbench/micro.h"
#include "harness/plugin/probes/open_cuda_probe.h"
#include "harness/training/train.h"
#include "probes/machine/machine.h"
#include "probes/recorder/recorder.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kRequestIsHereIn{3};  // after a failure, which the launcher answers by a request to end
constexpr std::chrono::seconds kRanksGatherIn = std::chrono::hours(24 * 365);

int rank_from_environment() {
  const char* rank = std::getenv("DDBENCH_RANK");
  if (rank == nullptr)
    throw Error(ErrorCode::kBadInput, "`ddbench worker` is started by `ddbench run`, not by hand");
  return std::atoi(rank);
}

/// One rank's life after it has joined the run. run_worker sends the reports that remain when it fails.
class Worker {
 public:
  Worker(WorkerSession& session, TrainingState& state, const RemoteRank* remote)
      : session_(session),
        state_(state),
        remote_(remote),
        files_(remote != nullptr ? &remote->files : nullptr),
        counting_(session) {}
  ~Worker() {
    session_.watch({});
    session_.on_stop({});
  }

  void run(const Hello& hello) {
    // Ranks that come by themselves come when their machines are free: only the launcher knows for how long
    // to wait.
    assignment_ = session_.join(hello, files_ == nullptr ? kLauncherAnswersIn : kRanksGatherIn);
    if (remote_ != nullptr && remote_->own != nullptr) hold_against_own_command(hello);
    if (files_ != nullptr) {
      files_->open(assignment_.run_id, assignment_.rank);
      if (assignment_.reduce_spans) {
        files_->reduce_spool(StepSampler(first_measured()));
      }
      assignment_.spool = files_->spool().string();
      session_.answer_of(files_->spool().parent_path(), is_program(assignment_.run_case));
      if (assignment_.local_rank == 0) session_.send(Inventory{host::facts(host::inspect_hardware())});
      // The settings that the fabric passes to the ranks that it starts.
      for (const auto& [name, value] : network_settings(assignment_.run_case.requested_network)) {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
    }
    if (is_program(assignment_.run_case)) return run_program(session_, assignment_, remote_, counting_);
    // A rank that drives a GPU needs cores for the threads of CUDA and NCCL too.
    if (assignment_.run_case.on_cpu()) {
      claim_core();
    } else {
      show_own_processes();  // after the hello, which has the number that the launcher's /proc shows
    }
    const ClockReading start = session_.read_clock(kLauncherAnswersIn);
    // The device takes the GPU of this number (harness/device/gpu).
    ::setenv("LOCAL_RANK", std::to_string(assignment_.local_rank).c_str(), 1);
    open_recorder();
    if (!core_.blind().empty()) recorder_->intern(reported(fact_key<"cores.unclaimed">, core_.blind()));
    open_cuda_probe();
    connect();
    const RunCase& run_case = assignment_.run_case;
    if (run_case.ends_by_margin() && assignment_.rank == 0) state_.gather_step_times(first_measured());
    counting_.begin(remote_, assignment_.local_rank);
    session_.send(Ready{communicator_->transport(), pinned_to_, start});
    FailureTrackingCommunicator watched(*communicator_);
    try {
      deliver(train_or_measure(watched));
    } catch (...) {
      communication_failed_ = watched.failed();
      // The peers learn at once; closing a healthy communicator waits for all ranks to get there.
      communicator_->abort();
      throw;
    }
  }

  /// Call before the message about the rank's end.
  void report_counts() { counting_.report(); }

  /// What the spool and the launcher can still get from a rank that fails with `error`.
  Failure last_words(const Error& error) {
    session_.watch({});
    // If the session has an error of its own, the rank fails with that, whatever the training loop raised.
    const std::optional<Error> trouble = session_.trouble();
    const Error& cause = trouble ? *trouble : error;
    Failure failure;
    failure.code = cause.code();
    failure.message = cause.message();
    failure.native_code = cause.native_code();
    failure.where = cause.where();
    failure.communication = !trouble && communication_failed_ && error.code() == ErrorCode::kRunFailed;
    failure.peak_memory_bytes = peak_memory_bytes();
    if (!recorder_) return failure;
    if (kernels_) kernels_->stop();
    try {
      recorder_->stop();
    } catch (const Error&) {
      // An error of the spool is the rank's failure, unless another error came first.
    }
    failure.dropped_spans = recorder_->dropped();
    return failure;
  }

 private:
  /// The error is also shown here, not only at the launcher: one that is not proved may not be the user's.
  void hold_against_own_command(const Hello& hello) {
    try {
      if (remote_->launcher_is_proved) return require_same_case(assignment_, *remote_->own);
      require_own(assignment_, *remote_->own, remote_->placement);
    } catch (const Error& error) {
      fmt::print(stderr, "ddbench: the launcher at {}: {}\n", to_string(remote_->launcher), error.message());
      throw;
    }
    assignment_.address = hello.address;
  }

  void claim_core() {
    core_ = CoreClaim(core_claims_file(), {ordered_cores(), assignment_.core_slot, assignment_.run_id});
    pinned_to_ = pin_to_core(core_.core());
  }

  /// Step. The checkpoint that training continues from is named after the steps that are done.
  std::uint32_t first_measured() const { return assignment_.run_case.first_measured_step(ddp::steps_done_at(assignment_.resume_from)); }

  /// What `ddbench micro` measures leaves no loss and no parameters.
  ddp::TrainResult train_or_measure(collective::Communicator& communicator) {
    if (!is_micro(assignment_.run_case)) {
      return ddp::train(assignment_.run_case, communicator, *recorder_, state_,
                        {assignment_.checkpoint_directory, assignment_.resume_from}, kernels_.get());
    }
    micro::measure(assignment_.run_case, communicator, *recorder_, state_);
    return {.steps_done = static_cast<std::uint32_t>(assignment_.run_case.total_steps())};
  }

  void open_recorder() {
    host::RecorderOptions options;
    options.spool = assignment_.spool;
    options.rank = assignment_.rank;
    options.run_id = assignment_.run_id;
    recorder_ = std::make_unique<host::Recorder>(options);
    state_.keep_flight(std::filesystem::path(options.spool).replace_extension(host::kFlightSuffix), assignment_.communicator_id);
    session_.watch([this]() -> std::optional<Error> {
      const std::string failure = recorder_->failure();
      if (failure.empty()) return std::nullopt;
      return Error(ErrorCode::kEnvironment,
                   fmt::format("cannot write the spool {}: {}", assignment_.spool, failure), 0,
                   assignment_.spool);
    });
  }

  /// Before the first communicator. What is measured without steps is measured without probes.
  void open_cuda_probe() {
    if (!assignment_.run_case.on_gpus() || is_micro(assignment_.run_case)) return;
    std::string why_not;
    kernels_ = probe::open_cuda_probe(*recorder_, why_not);
    if (!why_not.empty()) recorder_->intern(reported(fact_key<"cupti.unavailable">, why_not));
  }

  void connect() {
    collective::CommunicatorOptions options;
    options.rank = assignment_.rank;
    options.world_size = assignment_.world_size;
    options.address = assignment_.address;
    options.id = assignment_.communicator_id;
    communication_failed_ = true;  // until the peers have come
    communicator_ = collective::make_communicator(assignment_.run_case.backend, options, session_);
    communication_failed_ = false;
    session_.on_stop([this] { communicator_->abort(); });
  }

  void deliver(const ddp::TrainResult& trained) {
    session_.watch({});
    if (kernels_) kernels_->stop();
    recorder_->stop();
    Result result{trained.loss_first,
                  trained.loss_last,
                  trained.parameter_hash,
                  recorder_->dropped(),
                  peak_memory_bytes()};
    result.clock = session_.read_clock(kLauncherAnswersIn);
    result.waits = state_.waits().count;
    result.wait_ns = state_.waits().total_ns;
    result.shared_with = core_.shared_with();
    result.steps_done = trained.steps_done;
    result.reached_target = trained.reached_target;
    report_counts();
    session_.ship_rest();
    session_.send(result);
    // Connections stay open until every rank has the data that it needs.
    session_.wait_for_finish();
  }

  WorkerSession& session_;
  TrainingState& state_;
  const RemoteRank* remote_;
  ShippedFiles* files_;
  Assignment assignment_;
  MachineCounting counting_;
  CoreClaim core_;
  std::string pinned_to_;  // empty: nowhere
  std::unique_ptr<host::Recorder> recorder_;
  std::unique_ptr<cuda::CudaProbe> kernels_;  // destroyed before the recorder
  std::unique_ptr<collective::Communicator> communicator_;
  bool communication_failed_ = false;
};

}  // namespace

int work(WorkerSession& session, TrainingState& state, const Hello& hello, const RemoteRank* remote) {
  Worker worker(session, state, remote);
  const auto fail = [&](const Error& error) {
    // Kubeflow, for one, starts a pod again or not by the code that it ends with.
    const std::optional<int> told = remote != nullptr ? session.exit_code_of_launcher() : 1;
    if (remote != nullptr && !session.joined()) return told.value_or(error.exit_code());  // rejected: no launcher listens
    session.send(state.snapshot());                                                        // how far it got
    const Failure failure = worker.last_words(error);
    worker.report_counts();
    session.ship_rest();
    session.send(failure);
    if (told) return *told;
    // A connection that another rank broke because it was to end may be noticed before the request to this rank.
    const bool others_started_it = remote->own != nullptr;
    const bool interrupted = others_started_it && session.exit_code_of_launcher(kRequestIsHereIn) == static_cast<int>(ErrorCode::kInterrupted);
    return static_cast<int>(interrupted ? ErrorCode::kInterrupted : error.code());
  };
  try {
    worker.run(hello);
    // mpirun and srun would take another code than 0 of a rank that has delivered for a failure.
    const bool others_started_it = remote != nullptr && remote->own != nullptr;
    return others_started_it ? session.exit_code_of_launcher().value_or(0) : 0;
  } catch (const std::exception& error) {
    return fail(as_error(error));
  }
}

int run_worker(int control_fd) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Ctrl-C and a closed terminal are the launcher's to answer, and a broken connection is an error that names
  // its collective.
  for (const int signal : {SIGINT, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(signal, SIG_IGN);
  expect_sigterm();
  try {
    const int rank = rank_from_environment();
    TrainingState state;
    // There is no launcher to report to: an orphan ends at once.
    WorkerSession session(UniqueFd(control_fd), state, [] { ::_exit(1); });
    return work(session, state, introduce(rank), nullptr);
  } catch (const Error& error) {
    fmt::print(stderr, "ddbench worker: {}\n", error.message());
    return error.exit_code();
  }
}

}  // namespace ddbench::launch
