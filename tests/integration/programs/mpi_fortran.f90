! Collectives as Fortran programs call them: a subroutine with the module mpi (as mpif.h) and one with mpi_f08, blocking and nonblocking.
subroutine old_names(rank)
  use mpi
  implicit none
  integer, intent(in) :: rank
  integer :: error, request, requests(2), index
  real :: part(100), total(200)
  part = real(rank)
  call MPI_Allreduce(part, total, 100, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Allgather(part, 100, MPI_REAL, total, 100, MPI_REAL, MPI_COMM_WORLD, error)
  call MPI_Iallreduce(part, total, 50, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Ibcast(part, 30, MPI_REAL, 0, MPI_COMM_WORLD, requests(1), error)
  call MPI_Ibarrier(MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
end subroutine

subroutine new_names(rank)
  use mpi_f08
  implicit none
  integer, intent(in) :: rank
  type(MPI_Request) :: request
  logical :: done
  real, asynchronous :: part(100), total(200)
  part = real(rank)
  call MPI_Reduce(part, total, 60, MPI_REAL, MPI_SUM, 0, MPI_COMM_WORLD)
  call MPI_Iallreduce(part, total, 70, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Iallgather(part, 20, MPI_REAL, total, 20, MPI_REAL, MPI_COMM_WORLD, request)
  done = .false.
  do while (.not. done)
    call MPI_Test(request, done, MPI_STATUS_IGNORE)
  end do
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call MPI_Send(part, 1, MPI_REAL, 1, 0, MPI_COMM_WORLD)
  if (rank == 1) call MPI_Recv(part, 1, MPI_REAL, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
end subroutine

program training
  use mpi
  implicit none
  integer :: error, rank, step
  double precision :: begun
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  do step = 1, 30
    begun = MPI_Wtime()
    do while (MPI_Wtime() - begun < 0.005)
    end do
    call old_names(rank)
    call new_names(rank)
  end do
  if (rank == 0) print *, 'done'
  call MPI_Finalize(error)
end program
