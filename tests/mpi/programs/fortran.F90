! SPDX-License-Identifier: BSD-3-Clause
! The calls of calls.c in Fortran, through mpif.h or mpi_f08, number i of the collectives i + 1 times.
program fortran_calls
#ifdef BINDING_f08
  use mpi_f08
  implicit none
  type(MPI_Comm) :: world
  type(MPI_Datatype), allocatable :: types(:)
  type(MPI_Comm) :: half
  type(MPI_Request) :: request
#else
  implicit none
  include 'mpif.h'
  integer :: world
  integer, allocatable :: types(:)
  integer :: half
  integer :: request
#endif
  integer :: rank, ranks, ierror, operation, call_number, root, i, offset
  integer, parameter :: n = 3
  integer, allocatable :: source(:), target_(:), counts(:), displs(:), own(:), even(:), bytes(:), even_bytes(:)
  integer(8) :: total
  logical :: in_place

  call MPI_Init(ierror)
  world = MPI_COMM_WORLD
  call MPI_Comm_rank(world, rank, ierror)
  call MPI_Comm_size(world, ranks, ierror)
  allocate(source(n * ranks * (ranks + 1)), target_(n * ranks * (ranks + 1)))
  allocate(counts(ranks), displs(ranks), own(ranks), even(ranks), bytes(ranks), even_bytes(ranks), types(ranks))
  offset = 0
  do i = 1, ranks
    counts(i) = i
    displs(i) = offset
    bytes(i) = offset * 4
    own(i) = rank + 1
    even(i) = (i - 1) * (rank + 1)
    even_bytes(i) = even(i) * 4
    types(i) = MPI_INTEGER
    offset = offset + i
  end do
  total = 0
  do operation = 0, 16
    do call_number = 0, operation
      root = mod(call_number, ranks)
      in_place = call_number == operation
      do i = 1, size(source)
        source(i) = rank * 100 + operation * 10 + call_number + i
        target_(i) = source(i)
      end do
      select case (operation)
      case (0)
        call MPI_Barrier(world, ierror)
      case (1)
        call MPI_Bcast(target_, n, MPI_INTEGER, root, world, ierror)
      case (2)
        call MPI_Reduce(source, target_, n, MPI_INTEGER, MPI_SUM, root, world, ierror)
      case (3)
        if (in_place) then
          call MPI_Allreduce(MPI_IN_PLACE, target_, n, MPI_INTEGER, MPI_SUM, world, ierror)
        else
          call MPI_Allreduce(source, target_, n, MPI_INTEGER, MPI_SUM, world, ierror)
        end if
      case (4)
        if (in_place) then
          call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, target_, n, MPI_INTEGER, world, ierror)
        else
          call MPI_Allgather(source, n, MPI_INTEGER, target_, n, MPI_INTEGER, world, ierror)
        end if
      case (5)
        call MPI_Allgatherv(source, rank + 1, MPI_INTEGER, target_, counts, displs, MPI_INTEGER, world, ierror)
      case (6)
        call MPI_Gather(source, n, MPI_INTEGER, target_, n, MPI_INTEGER, root, world, ierror)
      case (7)
        call MPI_Gatherv(source, rank + 1, MPI_INTEGER, target_, counts, displs, MPI_INTEGER, root, world, ierror)
      case (8)
        call MPI_Scatter(source, n, MPI_INTEGER, target_, n, MPI_INTEGER, root, world, ierror)
      case (9)
        call MPI_Scatterv(source, counts, displs, MPI_INTEGER, target_, rank + 1, MPI_INTEGER, root, world, ierror)
      case (10)
        call MPI_Alltoall(source, n, MPI_INTEGER, target_, n, MPI_INTEGER, world, ierror)
      case (11)
        call MPI_Alltoallv(source, counts, displs, MPI_INTEGER, target_, own, even, MPI_INTEGER, world, ierror)
      case (12)
        call MPI_Alltoallw(source, counts, bytes, types, target_, own, even_bytes, types, world, ierror)
      case (13)
        call MPI_Reduce_scatter(source, target_, counts, MPI_INTEGER, MPI_SUM, world, ierror)
      case (14)
        call MPI_Reduce_scatter_block(source, target_, n, MPI_INTEGER, MPI_SUM, world, ierror)
      case (15)
        call MPI_Scan(source, target_, n, MPI_INTEGER, MPI_SUM, world, ierror)
      case (16)
        call MPI_Exscan(source, target_, n, MPI_INTEGER, MPI_SUM, world, ierror)
      end select
      total = total * 31 + sum(target_(1:n))
    end do
  end do
  call MPI_Ibarrier(world, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  do i = 1, 2
    call MPI_Iallreduce(source, target_, n, MPI_INTEGER, MPI_SUM, world, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    total = total * 31 + sum(target_(1:n))
  end do
  ! a communicator made, used and freed in Fortran
  call MPI_Comm_split(world, mod(rank, 2), rank, half, ierror)
  call MPI_Barrier(half, ierror)
  call MPI_Comm_free(half, ierror)
  write (*, '(a,i0,a,i0,a,i0)') 'rank ', rank, ' of ', ranks, ': ', total
  call MPI_Finalize(ierror)
end program
