// An all-reduce over ddbench's MPI backend, as `ddbench micro` times it, and MPI_Allreduce in place, as
// osu_allreduce does it, in turn: `mpirun -n RANKS mpi_all_reduce BYTES` prints the medians of both in rank
// 0's nanoseconds and of their ratio.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "harness/microbench/lock_step.h"
#include "zeroed_all_reduce.h"

namespace ddbench {
namespace {

constexpr int kRounds = 9;

class NoStore final : public collective::KeyValueStore {
  void set(const std::string&, const collective::Bytes&) override {}
  collective::Bytes get(const std::string&, std::chrono::milliseconds) override { return {}; }
};

void compare(std::int64_t bytes) {
  int rank = 0;
  int world = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  NoStore store;
  const auto communicator = collective::make_communicator("mpi", {.rank = rank, .world_size = world}, store);
  bench::ZeroedAllReduce all_reduce(*communicator, bytes);
  std::vector<double> ours;
  std::vector<double> plain;
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    ours.push_back(
        bench::median(micro::time_in_lock_step(*communicator, 0.2, [&] { all_reduce.call.run(); }).times_ns));
    plain.push_back(bench::median(micro::time_in_lock_step(*communicator, 0.2, [&] {
                                    MPI_Allreduce(MPI_IN_PLACE, all_reduce.tensor.data,
                                                  static_cast<int>(all_reduce.tensor.elements()), MPI_FLOAT,
                                                  MPI_SUM, MPI_COMM_WORLD);
                                  }).times_ns));
    ratios.push_back(ours.back() / plain.back());
  }
  if (rank == 0) fmt::print("{} {} {}\n", bench::median(ours), bench::median(plain), bench::median(ratios));
}

}  // namespace
}  // namespace ddbench

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  ddbench::compare(std::strtol(argv[1], nullptr, 10));
  MPI_Finalize();
}
