/* A training loop over MPI as C programs have it: gradients averaged by MPI_Allreduce, a loss reduced now and then. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSteps = 40, kElements = 50000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  float* gradient = malloc(kElements * sizeof(float));
  for (int i = 0; i < kElements; ++i) gradient[i] = (float)rank;
  MPI_Bcast(gradient, 100, MPI_FLOAT, 0, MPI_COMM_WORLD);
  double sink = 0;
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < 2000000; ++i) sink += i * 1e-9;
    MPI_Allreduce(MPI_IN_PLACE, gradient, kElements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, gradient, 1000, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (step % 10 == 9) {
      float loss = (float)sink;
      float mean = 0;
      MPI_Reduce(&loss, &mean, 1, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("done %f\n", sink);
  free(gradient);
  MPI_Finalize();
  return 0;
}
