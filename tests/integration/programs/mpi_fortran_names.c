/* Calls the entry points of Open MPI's Fortran library as compilers of Fortran do: by the names of mpif.h, and by those that its module
   mpi_f08 calls. Needs no compiler of Fortran. */
#include <mpi.h>
#include <stdio.h>

void mpi_allreduce_(const void*, void*, const int*, const int*, const int*, const int*, int*);
void ompi_allreduce_f(const void*, void*, const int*, const int*, const int*, const int*, int*);
void mpi_iallreduce_(const void*, void*, const int*, const int*, const int*, const int*, int*, int*);
void mpix_allreduce_init_(const void*, void*, const int*, const int*, const int*, const int*, const int*, int*, int*);
void ompi_ibarrier_f(const int*, int*, int*);
void mpi_gather_(const void*, const int*, const int*, void*, const int*, const int*, const int*, const int*, int*);
void mpi_alltoallv_(const void*, const int*, const int*, const int*, void*, const int*, const int*, const int*, const int*, int*);
void mpi_start_(int*, int*);
void mpi_startall_(const int*, int*, int*);
void mpi_wait_(int*, int*, int*);
void ompi_waitall_f(const int*, int*, int*, int*);
void mpi_waitany_(const int*, int*, int*, int*, int*);
void mpi_testsome_(const int*, int*, int*, int*, int*, int*);
void mpi_request_free_(int*, int*);
void mpi_comm_free_(int*, int*);
void mpi_send_(const void*, const int*, const int*, const int*, const int*, const int*, int*);
void mpi_recv_(void*, const int*, const int*, const int*, const int*, const int*, int*, int*);
void mpi_finalize_(int*);

enum { kSteps = 12 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const int world = MPI_Comm_c2f(MPI_COMM_WORLD);
  int other = MPI_Comm_c2f(copy);
  const int type = MPI_Type_c2f(MPI_DOUBLE);
  const int sum = MPI_Op_c2f(MPI_SUM);
  const int info = MPI_Info_c2f(MPI_INFO_NULL);
  int statuses[4 * sizeof(MPI_Status) / sizeof(int)];
  static double part[100], all[200];
  int error = 0, requests[2], persistent[2], index = 0, done = 0, indices[2];
  const int c10 = 10, c11 = 11, c12 = 12, c13 = 13, c14 = 14, c15 = 15, one = 1, two = 2, root = 0, tag = 0, peer = 1 - rank;
  const int counts[2] = {16, 16}, places[2] = {0, 16};

  mpix_allreduce_init_(part, all, &c13, &type, &sum, &world, &info, &persistent[0], &error);
  mpix_allreduce_init_(part, all + 100, &c14, &type, &sum, &other, &info, &persistent[1], &error);
  for (int step = 0; step < kSteps; ++step) {
    const double begun = MPI_Wtime();
    while (MPI_Wtime() - begun < 0.005) {
    }
    mpi_allreduce_(part, all, &c10, &type, &sum, &world, &error);
    ompi_allreduce_f(part, all, &c11, &type, &sum, &world, &error);
    mpi_iallreduce_(part, all, &c12, &type, &sum, &world, &requests[0], &error);
    ompi_ibarrier_f(&world, &requests[1], &error);
    mpi_waitany_(&two, requests, &index, statuses, &error);
    ompi_waitall_f(&two, requests, statuses, &error);
    mpi_start_(&persistent[0], &error);
    mpi_wait_(&persistent[0], statuses, &error);
    mpi_startall_(&two, persistent, &error);
    for (int i = 0; i < 2; i += done) mpi_testsome_(&two, persistent, &done, indices, statuses, &error);
    mpi_gather_(part, &c15, &type, all, &c15, &type, &root, &world, &error);
    mpi_alltoallv_(part, counts, places, &type, all, counts, places, &type, &world, &error);
    if (rank == 0) mpi_send_(part, &one, &type, &peer, &tag, &world, &error);
    if (rank == 1) mpi_recv_(part, &one, &type, &peer, &tag, &world, statuses, &error);
  }
  mpi_request_free_(&persistent[0], &error);
  mpi_request_free_(&persistent[1], &error);
  mpi_comm_free_(&other, &error);
  if (rank == 0) printf("done\n");
  fflush(stdout);
  mpi_finalize_(&error);
  return 0;
}
