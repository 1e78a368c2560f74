/* Nonblocking collectives, seen complete in every way that MPI has, among messages that are none of them. */
#include <mpi.h>
#include <stdio.h>

enum { kRequests = 3 };

static float part[400];
static float all[800];
static float sums[kRequests][100];

static void compute(double seconds) {
  const double begun = MPI_Wtime();
  while (MPI_Wtime() - begun < seconds) {
  }
}

static void begin(MPI_Request requests[kRequests], int elements) {
  for (int i = 0; i < kRequests; ++i) {
    MPI_Iallreduce(part, sums[i], elements + i, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
  }
}

/* Each collective once, and each function that waits or tests once, on requests that are complete in any order. */
static void step(int rank) {
  const int counts[2] = {100, 100};
  const int places[2] = {0, 100};
  MPI_Request request, requests[kRequests];
  int flag = 0, index = 0, done = 0, indices[kRequests];

  compute(0.01); /* as a forward pass: it tells where a step begins */
  MPI_Ibcast(part, 100, MPI_FLOAT, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ireduce(part, all, 100, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  MPI_Iallgather(part, 200, MPI_FLOAT, all, 200, MPI_FLOAT, MPI_COMM_WORLD, &requests[1]);
  MPI_Ialltoall(part, 150, MPI_FLOAT, sums, 150, MPI_FLOAT, MPI_COMM_WORLD, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  MPI_Ireduce_scatter_block(all, part, 300, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Ireduce_scatter(all, sums[0], counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  flag = 0;
  while (!flag) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  MPI_Igather(rank == 0 ? MPI_IN_PLACE : part, rank == 0 ? 0 : 50, rank == 0 ? MPI_DATATYPE_NULL : MPI_FLOAT, all, 50,
              MPI_FLOAT, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Iscatter(all, 60, MPI_FLOAT, sums[0], 60, MPI_FLOAT, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Iallgatherv(part, 100, MPI_FLOAT, all, counts, places, MPI_FLOAT, MPI_COMM_WORLD, &requests[0]);
  MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
  MPI_Ialltoallv(part, counts, places, MPI_FLOAT, all, counts, places, MPI_FLOAT, MPI_COMM_WORLD, &requests[0]);
  MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);

  begin(requests, 10);
  for (int i = 0; i < kRequests; ++i) MPI_Waitany(kRequests, requests, &index, MPI_STATUS_IGNORE);
  begin(requests, 20);
  for (int i = 0; i < kRequests; i += done) MPI_Waitsome(kRequests, requests, &done, indices, MPI_STATUSES_IGNORE);
  begin(requests, 30);
  for (int i = 0; i < kRequests; i += flag) MPI_Testany(kRequests, requests, &index, &flag, MPI_STATUS_IGNORE);
  begin(requests, 40);
  for (int i = 0; i < kRequests; i += done) MPI_Testsome(kRequests, requests, &done, indices, MPI_STATUSES_IGNORE);

  /* What is under way while the program does something else lasts as long. Messages are waited for in the same way, and
     are no collectives. */
  MPI_Iallreduce(part, sums[0], 77, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(part, 10, MPI_FLOAT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Irecv(sums[1], 10, MPI_FLOAT, 1 - rank, 0, MPI_COMM_WORLD, &requests[2]);
  compute(0.005);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 12; ++i) step(rank);
  printf("done\n");
  MPI_Finalize();
  return 0;
}
