/* A hierarchical all-reduce over MPI: within rows and columns of a square of four ranks, and over all. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSteps = 30, kElements = 50000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  float* gradient = calloc(kElements, sizeof(float));
  MPI_Comm row;
  MPI_Comm column;
  MPI_Comm passing;
  /* Used by two ranks only and freed: a later communicator may get its handle. */
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &passing);
  if (rank < 2) MPI_Allreduce(MPI_IN_PLACE, gradient, 10, MPI_FLOAT, MPI_SUM, passing);
  MPI_Comm_free(&passing);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
  double sink = 0;
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < 1000000; ++i) sink += i * 1e-9;
    MPI_Allreduce(MPI_IN_PLACE, gradient, 2000, MPI_FLOAT, MPI_SUM, row);
    MPI_Allreduce(MPI_IN_PLACE, gradient, 2000, MPI_FLOAT, MPI_SUM, column);
    MPI_Allreduce(MPI_IN_PLACE, gradient, kElements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("done %f\n", sink);
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
  free(gradient);
  MPI_Finalize();
  return 0;
}
