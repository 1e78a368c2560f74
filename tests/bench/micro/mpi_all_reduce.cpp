// MPI_Allreduce in place, as osu_allreduce times it: `mpirun -n RANKS mpi_all_reduce BYTES ITERATIONS
// BATCHES` prints the median over batches of rank 0's nanoseconds.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  std::vector<float> data(std::strtoul(argv[1], nullptr, 10) / sizeof(float));
  const long iterations = std::strtol(argv[2], nullptr, 10);
  const long batches = std::strtol(argv[3], nullptr, 10);
  const auto all_reduce = [&] {
    MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  };
  all_reduce();
  std::vector<double> times_ns;
  for (long batch = 0; batch < batches; ++batch) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long i = 0; i < iterations; ++i) all_reduce();
    times_ns.push_back((MPI_Wtime() - begin) * 1e9 / static_cast<double>(iterations));
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::nth_element(times_ns.begin(), times_ns.begin() + batches / 2, times_ns.end());
  if (rank == 0) fmt::print("{}\n", times_ns[static_cast<std::size_t>(batches / 2)]);
  MPI_Finalize();
}
