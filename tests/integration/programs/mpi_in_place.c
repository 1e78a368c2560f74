/* Collectives in place, with null where MPI gives an argument no meaning. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  float part[100] = {0};
  float all[200] = {0};
  const int counts[2] = {100, 100};
  const int places[2] = {0, 100};
  for (int step = 0; step < 12; ++step) {
    usleep(5000); /* what it computes: a step begins with a pause, on a busy machine too */
    if (rank == 0) {
      MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 100, MPI_FLOAT, 0, MPI_COMM_WORLD);
      MPI_Scatter(all, 100, MPI_FLOAT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
    } else {
      MPI_Gather(part, 100, MPI_FLOAT, NULL, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
      MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, part, 100, MPI_FLOAT, 0, MPI_COMM_WORLD);
    }
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 100, MPI_FLOAT, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 100, MPI_FLOAT, MPI_COMM_WORLD);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, all, counts, places, MPI_FLOAT, MPI_COMM_WORLD);
  }
  printf("done\n");
  MPI_Finalize();
  return 0;
}
