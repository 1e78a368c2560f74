/* Persistent collectives under the names that this MPI has for them, and those with neighbours in a ring. Each rank prints how long its
   all-reduces of one size took, as it measured them itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../probes/preload/marks/ddbench.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif

enum { kSteps = 31, kElements = 250000, kPart = 100 };

static void compute(double seconds) {
  const double begun = MPI_Wtime();
  while (MPI_Wtime() - begun < seconds) {
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  float* gradient = calloc(kElements, sizeof(float));
  float* sum = calloc(kElements, sizeof(float));
  float* all = calloc(4 * kPart * ranks, sizeof(float));
  int* counts = malloc(ranks * sizeof(int));
  int* places = malloc(ranks * sizeof(int));
  for (int i = 0; i < ranks; ++i) counts[i] = kPart, places[i] = i * kPart;

  const int periodic = 0;
  MPI_Comm line; /* without a ring's end: the border ranks have one neighbour */
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &line);

  MPI_Request reduce, others[4], message;
  INIT(Allreduce)(gradient, sum, kElements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &reduce);
  INIT(Bcast)(all, kPart, MPI_FLOAT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &others[0]);
  INIT(Allgatherv)(gradient, kPart, MPI_FLOAT, all, counts, places, MPI_FLOAT, MPI_COMM_WORLD, MPI_INFO_NULL, &others[1]);
  INIT(Barrier)(MPI_COMM_WORLD, MPI_INFO_NULL, &others[2]);
  INIT(Neighbor_allgather)(gradient, 10, MPI_FLOAT, sum, 10, MPI_FLOAT, line, MPI_INFO_NULL, &others[3]);
  /* Made and freed: what gets its address is no collective. */
  MPI_Request freed;
  INIT(Allreduce)(gradient, sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &freed);
  MPI_Request_free(&freed);
  float small = 0;
  MPI_Recv_init(&small, 1, MPI_FLOAT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &message);

  double reducing = 0;
  for (int step = 0; step < kSteps; ++step) {
    compute(0.005);
    const double begun = MPI_Wtime();
    MPI_Start(&reduce);
    MPI_Wait(&reduce, MPI_STATUS_IGNORE);
    reducing += MPI_Wtime() - begun;
    MPI_Start(&message);
    MPI_Send(&small, 1, MPI_FLOAT, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
    MPI_Wait(&message, MPI_STATUS_IGNORE);
    /* Started in another order on each rank, which MPI allows for persistent ones. */
    if (rank % 2 == 0) {
      MPI_Start(&others[0]);
      MPI_Start(&others[1]);
    } else {
      MPI_Start(&others[1]);
      MPI_Start(&others[0]);
    }
    MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
    MPI_Startall(2, &others[2]);
    int done = 0;
    while (!done) MPI_Test(&others[2], &done, MPI_STATUS_IGNORE); /* MPICH 4.0.2 fails in MPI_Testall */
    MPI_Wait(&others[3], MPI_STATUS_IGNORE);

    MPI_Neighbor_alltoall(gradient, 20, MPI_FLOAT, sum, 20, MPI_FLOAT, line);
    MPI_Request request;
    MPI_Ineighbor_alltoall(gradient, 30, MPI_FLOAT, sum, 30, MPI_FLOAT, line, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Gatherv(gradient, kPart, MPI_FLOAT, all, counts, places, MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Scan(gradient, sum, 40, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    ddbench_step();
  }
  printf("rank %d: %.1f us an all-reduce\n", rank, reducing / kSteps * 1e6);
  MPI_Request_free(&reduce);
  for (int i = 0; i < 4; ++i) MPI_Request_free(&others[i]);
  MPI_Request_free(&message);

  MPI_Win window;
  MPI_Win_create(gradient, kElements * sizeof(float), sizeof(float), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(all, 1, MPI_FLOAT, (rank + 1) % ranks, 0, 1, MPI_FLOAT, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Comm_free(&line);
  printf("done\n");
  MPI_Finalize();
  return 0;
}
