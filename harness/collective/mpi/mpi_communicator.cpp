#include "harness/collective/mpi/mpi_communicator.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <thread>
#include <utility>

#include "core/error.h"
#include "harness/collective/half_sum.h"

namespace ddbench::collective::mpi_backend {
namespace {

constexpr std::chrono::seconds kPatienceOfAbort{1};

/// MPI-3 counts in int.
constexpr std::int64_t kMostElements = std::numeric_limits<int>::max();

std::string text_of(int error) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  ::MPI_Error_string(error, text, &length);
  return text;
}

/// "Open MPI v4.1.4" of "Open MPI v4.1.4, package: ...".
std::string library_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  ::MPI_Get_library_version(text, &length);
  return std::string(text).substr(0, std::strcspn(text, ",\n"));
}

MPI_Datatype type_of(ElementType type) {
  return type == ElementType::kFloat32 ? MPI_FLOAT : MPI_UINT16_T;
}

template <ElementType kType>
void add(void* in, void* inout, int* count, MPI_Datatype*) {
  static const SumFunction sum = sum_function(kType);
  sum(inout, in, inout, static_cast<std::size_t>(*count));
}

MPI_Op make_sum(MPI_User_function* function) {
  MPI_Op sum = MPI_OP_NULL;
  ::MPI_Op_create(function, /*commute=*/1, &sum);
  return sum;
}

void check_counts(bool fit, const char* function, std::int64_t input, std::int64_t output, const char* rule) {
  if (fit) return;
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {} elements in and {} out do not fit together: {}",
                                                function, input, output, rule));
}

int checked_count(const char* function, std::int64_t elements) {
  if (elements <= kMostElements) return static_cast<int>(elements);
  throw Error(ErrorCode::kBadInput,
              fmt::format("{}: {} elements are more than MPI counts", function, elements));
}

/// Open MPI ends a process that srun started and that finds no PMI: report this before it happens.
void check_started_by_mpi() {
  if (std::getenv("SLURM_PROCID") == nullptr) return;
  for (const char* const variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(variable) != nullptr) return;
  }
  throw Error(ErrorCode::kEnvironment,
              library_name() +
                  ": srun has started these ranks without a word to MPI. Use --launcher mpirun, or, where "
                  "Slurm has a PMI that this MPI knows, srun with --launcher-args=--mpi=pmix");
}

/// Returns whether it was not started before.
bool start_mpi() {
  int started = 0;
  int ended = 0;
  ::MPI_Initialized(&started);
  ::MPI_Finalized(&ended);
  if (ended != 0)
    throw Error(ErrorCode::kEnvironment, "MPI was ended in this process and cannot start again");
  int provided = MPI_THREAD_SINGLE;
  if (started != 0) {
    ::MPI_Query_thread(&provided);
  } else {
    check_started_by_mpi();
    ::MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  }
  if (provided >= MPI_THREAD_SERIALIZED) return started == 0;
  throw Error(ErrorCode::kEnvironment,
              library_name() + " was built without support for threads (MPI_THREAD_SERIALIZED)");
}

}  // namespace

MpiCommunicator::MpiCommunicator(const CommunicatorOptions& options)
    : options_(options), exceptions_at_birth_(std::uncaught_exceptions()), started_mpi_(start_mpi()) {
  transport_ = "mpi " + library_name();
  int size = 0;
  ::MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != options.world_size) {
    throw Error(
        ErrorCode::kEnvironment,
        fmt::format(
            "{} sees {} of the run's {} ranks: MPI must have started them all. Use --launcher mpirun; "
            "with srun, --launcher-args=--mpi=pmix where Slurm has PMIx",
            library_name(), size, options.world_size));
  }
  // MPI counts its ranks in an order of its own.
  ::MPI_Comm_split(MPI_COMM_WORLD, 0, options.rank, &ranks_);
  ::MPI_Comm_set_errhandler(ranks_, MPI_ERRORS_RETURN);
  float16_sum_ = make_sum(add<ElementType::kFloat16>);
  bfloat16_sum_ = make_sum(add<ElementType::kBfloat16>);
}

MpiCommunicator::~MpiCommunicator() {
  // MPI_Finalize waits for all ranks: after a failure some may never call it.
  if (calls_.aborted() || std::uncaught_exceptions() > exceptions_at_birth_) return;
  ::MPI_Op_free(&float16_sum_);
  ::MPI_Op_free(&bfloat16_sum_);
  ::MPI_Comm_free(&ranks_);
  if (started_mpi_) ::MPI_Finalize();
}

template <typename Call>
void MpiCommunicator::run(const char* function, Call call) {
  int error = MPI_SUCCESS;
  calls_.run([&] { error = call(); });
  if (error == MPI_SUCCESS && !calls_.aborted()) return;
  throw Error(ErrorCode::kRunFailed,
              fmt::format("{} failed on rank {} of {}: {}", function, options_.rank, options_.world_size,
                          error == MPI_SUCCESS ? "aborted" : text_of(error)),
              error, function);
}

MPI_Op MpiCommunicator::sum_of(ElementType type) const noexcept {
  switch (type) {
    case ElementType::kFloat16: return float16_sum_;
    case ElementType::kBfloat16: return bfloat16_sum_;
    default: return MPI_SUM;
  }
}

void MpiCommunicator::all_reduce_sum(Elements data) {
  run("all_reduce", [&] {
    return ::MPI_Allreduce(MPI_IN_PLACE, data.data, checked_count("all_reduce", data.count),
                           type_of(data.type), sum_of(data.type), ranks_);
  });
}

void MpiCommunicator::broadcast(Elements data, int root) {
  run("broadcast", [&] {
    return ::MPI_Bcast(data.data, checked_count("broadcast", data.count), type_of(data.type), root, ranks_);
  });
}

void MpiCommunicator::reduce_sum(Elements data, int root) {
  run("reduce", [&] {
    const bool at_root = options_.rank == root;
    return ::MPI_Reduce(at_root ? MPI_IN_PLACE : data.data, at_root ? data.data : nullptr,
                        checked_count("reduce", data.count), type_of(data.type), sum_of(data.type), root,
                        ranks_);
  });
}

void MpiCommunicator::reduce_scatter_sum(Elements input, Elements output) {
  check_counts(input.count == output.count * options_.world_size && input.type == output.type,
               "reduce_scatter", input.count, output.count, "every rank gets one chunk of the input");
  run("reduce_scatter", [&] {
    const int count = checked_count("reduce_scatter", output.count);
    const Elements chunk = input.part(options_.rank * output.count, output.count);
    if (chunk.data != output.data) {
      return ::MPI_Reduce_scatter_block(input.data, output.data, count, type_of(input.type),
                                        sum_of(input.type), ranks_);
    }
    // In place, MPI leaves the result at the beginning.
    const int error = ::MPI_Reduce_scatter_block(MPI_IN_PLACE, input.data, count, type_of(input.type),
                                                 sum_of(input.type), ranks_);
    if (options_.rank != 0) {
      std::memcpy(output.data, input.data, static_cast<std::size_t>(output.bytes()));
    }
    return error;
  });
}

void MpiCommunicator::all_gather(Elements input, Elements output) {
  check_counts(output.count == input.count * options_.world_size && input.type == output.type, "all_gather",
               input.count, output.count, "the output has room for the input of every rank");
  run("all_gather", [&] {
    const int count = checked_count("all_gather", input.count);
    const bool in_place = output.part(options_.rank * input.count, input.count).data == input.data;
    return ::MPI_Allgather(in_place ? MPI_IN_PLACE : input.data, count, type_of(input.type), output.data,
                           count, type_of(output.type), ranks_);
  });
}

void MpiCommunicator::all_to_all(Elements input, Elements output) {
  check_counts(
      input.count == output.count && input.count % options_.world_size == 0 && input.type == output.type,
      "all_to_all", input.count, output.count, "both hold one chunk for each rank");
  run("all_to_all", [&] {
    const int count = checked_count("all_to_all", input.count / options_.world_size);
    return ::MPI_Alltoall(input.data, count, type_of(input.type), output.data, count, type_of(output.type),
                          ranks_);
  });
}

void MpiCommunicator::send(Elements data, int peer) {
  run("send", [&] {
    return ::MPI_Send(data.data, checked_count("send", data.count), type_of(data.type), peer, 0, ranks_);
  });
}

void MpiCommunicator::receive(Elements data, int peer) {
  run("receive", [&] {
    return ::MPI_Recv(data.data, checked_count("receive", data.count), type_of(data.type), peer, 0, ranks_,
                      MPI_STATUS_IGNORE);
  });
}

void MpiCommunicator::barrier() {
  run("barrier", [&] { return ::MPI_Barrier(ranks_); });
}

void MpiCommunicator::abort() noexcept {
  auto under_way = calls_.abort();
  if (!under_way) return;
  try {
    std::thread([under_way = std::move(under_way)] {
      std::this_thread::sleep_for(kPatienceOfAbort);
      if (*under_way) ::_exit(static_cast<int>(ErrorCode::kRunFailed));
    }).detach();
  } catch (const std::exception&) {
    ::_exit(static_cast<int>(ErrorCode::kRunFailed));
  }
}

}  // namespace ddbench::collective::mpi_backend
