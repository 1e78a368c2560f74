#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>

#include "core/facts/facts.h"
#include "core/run_case/program_case.h"
#include "harness/collective/communicator.h"
#include "harness/launch/control/rank_wording.h"
#include "harness/launch/control/tcp.h"
#include "harness/launch/machine/machine_meter.h"
#include "harness/launch/machine/pinning.h"
#include "harness/launch/machine/process_facts.h"
#include "harness/launch/machine/sigterm.h"
#include "harness/launch/start/network_settings.h"
#include "harness/launch/start/torchrun_variables.h"
#include "harness/launch/worker/program.h"
#include "harness/launch/worker/require_own.h"
#include "harness/launch/worker/run_worker.h"
#include "harness/launch/worker/training_state.h"
#include "harness/launch/worker/watched_communicator.h"
#include "harness/launch/worker/worker.h"
#include "harness/microbench/micro.h"
#include "harness/plugin/probes/open_cuda_probe.h"
#include "harness/training/train.h"
#include "probes/machine/machine.h"
#include "probes/recorder/recorder.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

constexpr auto kLauncherAnswersIn = 120s;
constexpr std::chrono::seconds kRanksGatherIn = std::chrono::hours(24 * 365);

int rank_from_environment() {
  const char* rank = std::getenv("RANK");
  if (rank == nullptr)
    throw Error(ErrorCode::kBadInput, "`ddbench worker` is started by `ddbench run`, not by hand");
  return std::atoi(rank);
}

/// One rank's life after it has joined the run. What is left to say when it fails is said by run_worker.
class Worker {
 public:
  Worker(WorkerSession& session, TrainingState& state, const RemoteRank* remote)
      : session_(session),
        state_(state),
        remote_(remote),
        files_(remote != nullptr ? &remote->files : nullptr) {}
  ~Worker() {
    session_.watch({});
    session_.on_stop({});
  }

  void run(const Hello& hello) {
    // Ranks that come by themselves come when their machines are free: only the launcher knows for how long
    // to wait.
    assignment_ = session_.join(hello, files_ == nullptr ? kLauncherAnswersIn : kRanksGatherIn);
    if (remote_ != nullptr && remote_->own != nullptr) do_only_the_own_command(hello);
    if (files_ != nullptr) {
      files_->open(assignment_.run_id, assignment_.rank);
      if (assignment_.reduce_spans) {
        files_->reduce_spool(WholeSteps(static_cast<std::uint32_t>(assignment_.run_case.warmup)));
      }
      assignment_.spool = files_->spool().string();
      if (assignment_.local_rank == 0) session_.send(Inventory{host::facts(host::inspect_hardware())});
      // What the fabric says to ranks that it starts.
      for (const auto& [name, value] : network_settings(assignment_.run_case.requested_network)) {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
    }
    if (is_program(assignment_.run_case)) return run_program();
    // A rank that drives a GPU needs cores for the threads of CUDA and NCCL too.
    const std::string cores =
        assignment_.run_case.device == "cpu" ? pin_to_slot(assignment_.core_slot) : std::string();
    const ClockReading start = session_.read_clock(kLauncherAnswersIn);
    open_recorder();
    open_cuda_probe();
    connect();
    begin_counting();
    session_.send(Ready{communicator_->transport(), cores, start});
    WatchedCommunicator watched(*communicator_);
    try {
      deliver(train_or_measure(watched));
    } catch (...) {
      communication_failed_ = watched.failed();
      // The peers learn at once; closing a healthy communicator waits for all ranks to get there.
      communicator_->abort();
      throw;
    }
  }

  /// Before the message that says how the rank ended: what is missing of it is no reason to say nothing.
  void tell_counts() {
    const std::unique_ptr<MachineMeter> meter = std::move(meter_);
    if (!meter) return;
    try {
      MachineCounts counts = meter->stop();
      session_.send(Counted{std::move(counts.facts), std::move(counts.notes)});
    } catch (const std::exception& error) {
      fmt::print(stderr, "ddbench worker: what this machine counted cannot be told: {}\n", error.what());
    }
  }

  /// What the spool and the launcher can still get from a rank that fails with `error`.
  Failure last_words(const Error& error) {
    session_.watch({});
    // A rank that gave up for its own trouble fails with that, whatever the training loop made of it.
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
      // The spool's own trouble is what the rank failed with, or comes second to it.
    }
    failure.dropped_spans = recorder_->dropped();
    return failure;
  }

 private:
  /// A launcher that wants something else may be anybody: the user is told here, too, and not by it alone.
  void do_only_the_own_command(const Hello& hello) {
    try {
      require_own(assignment_, *remote_->own, remote_->placement);
    } catch (const Error& error) {
      fmt::print(stderr, "ddbench: the launcher at {}: {}\n", to_string(remote_->launcher), error.message());
      throw;
    }
    assignment_.address = hello.address;
  }

  /// A program of the user's places and pins its threads itself, and its collectives are none of ours.
  void run_program() {
    const ClockReading start = session_.read_clock(kLauncherAnswersIn);
    if (files_ != nullptr) set_place_of_program();
    begin_counting();
    const bool per_node = is_program_per_node(assignment_.run_case);
    if (per_node && assignment_.local_rank > 0) return stand_for_a_rank(start);
    Program program({.command = program_command(assignment_.run_case),
                     .preload = recording_library(),
                     .spool = std::filesystem::path(assignment_.spool).replace_extension().string(),
                     .run_id = assignment_.run_id,
                     .rank = per_node ? -1 : assignment_.rank});
    session_.on_stop([&program] { program.terminate(); });
    session_.send(Ready{"", "", start});
    const int status = program.wait();
    session_.on_stop({});
    if (status != 0) {
      if (session_.stopped()) throw Error(ErrorCode::kInterrupted, "stopped by the launcher");
      const std::string words =
          ddbench::launch::last_words(std::filesystem::path(assignment_.spool).replace_extension("log"));
      throw Error(ErrorCode::kRunFailed, fmt::format("the program {}{}", describe_end(status),
                                                     words.empty() ? "" : "; its last output: " + words));
    }
    deliver_program(peak_memory_of_children_bytes());
  }

  /// Where rank 0 of the program is, on a rank that ddbench did not start itself: what rank 0 says, which is
  /// what whoever started the world told it, else its own address and a port that is free there. A rank that
  /// cannot trust that takes what it was told itself.
  Endpoint program_master() {
    if (remote_->own != nullptr) return own_master(remote_->placement);
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
    tell_counts();
    session_.ship_rest();
    session_.send(result);
    session_.wait_for_finish();
  }

  /// What `ddbench micro` measures leaves no loss and no parameters.
  ddp::TrainResult train_or_measure(collective::Communicator& communicator) {
    if (!micro::is_micro(assignment_.run_case)) {
      return ddp::train(assignment_.run_case, communicator, *recorder_, state_,
                        {assignment_.checkpoint_directory, assignment_.resume_from}, kernels_.get());
    }
    micro::measure(assignment_.run_case, communicator, *recorder_, state_);
    return {};
  }

  /// Elsewhere, on each node. When the environment is what it will be: it has threads that may read it.
  void begin_counting() {
    if (files_ != nullptr && assignment_.local_rank == 0) meter_ = std::make_unique<MachineMeter>();
  }

  void open_recorder() {
    host::RecorderOptions options;
    options.spool = assignment_.spool;
    options.rank = assignment_.rank;
    options.run_id = assignment_.run_id;
    recorder_ = std::make_unique<host::Recorder>(options);
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
    if (assignment_.run_case.device != "cuda" || micro::is_micro(assignment_.run_case)) return;
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
                  0,
                  session_.read_clock(kLauncherAnswersIn)};
    result.peak_memory_bytes = peak_memory_bytes();
    tell_counts();
    session_.ship_rest();
    session_.send(result);
    // Connections stay up until every rank has what it needs.
    session_.wait_for_finish();
  }

  WorkerSession& session_;
  TrainingState& state_;
  const RemoteRank* remote_;
  ShippedFiles* files_;
  Assignment assignment_;
  std::unique_ptr<MachineMeter> meter_;  // of ranks elsewhere, one a node
  std::unique_ptr<host::Recorder> recorder_;
  std::unique_ptr<cuda::CudaProbe> kernels_;  // ends before what it records into
  std::unique_ptr<collective::Communicator> communicator_;
  bool communication_failed_ = false;
};

}  // namespace

int work(WorkerSession& session, TrainingState& state, const Hello& hello, const RemoteRank* remote) {
  Worker worker(session, state, remote);
  const auto fail = [&](const Error& error) {
    if (remote != nullptr && !session.joined()) return 1;  // turned away: nobody listens
    session.send(state.snapshot());                        // how far it got
    const Failure failure = worker.last_words(error);
    worker.tell_counts();
    session.ship_rest();
    session.send(failure);
    return 1;
  };
  try {
    worker.run(hello);
    return 0;
  } catch (const Error& error) {
    return fail(error);
  } catch (const std::bad_alloc&) {
    return fail(Error(ErrorCode::kEnvironment, "no memory is left"));
  } catch (const std::exception& error) {
    return fail(Error(ErrorCode::kRunFailed, error.what()));
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
    // Nobody is left to tell: an orphan ends at once.
    WorkerSession session(UniqueFd(control_fd), state, [] { ::_exit(1); });
    return work(session, state, introduce(rank), nullptr);
  } catch (const Error& error) {
    fmt::print(stderr, "ddbench worker: {}\n", error.message());
    return error.exit_code();
  }
}

}  // namespace ddbench::launch
