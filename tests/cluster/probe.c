// The MPI program of the cluster's own tests.
//   probe sum          all-reduces 1 over the ranks and prints what came out and of how many
//   probe rate BYTES   sends BYTES from rank 0 to the last rank and prints the rate in Mbit/s
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void sum(int rank, int size) {
  int one = 1, total = 0;
  MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d of %d\n", total, size);
}

static void rate(int rank, int size, int bytes) {
  char *data = calloc(bytes, 1), answer = 0;
  double begin = MPI_Wtime();
  if (rank == 0) {
    MPI_Send(data, bytes, MPI_CHAR, size - 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&answer, 1, MPI_CHAR, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%.1f\n", bytes * 8e-6 / (MPI_Wtime() - begin));
  } else if (rank == size - 1) {
    MPI_Recv(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&answer, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  }
  free(data);
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc == 2 && strcmp(argv[1], "sum") == 0) sum(rank, size);
  if (argc == 3 && strcmp(argv[1], "rate") == 0) rate(rank, size, atoi(argv[2]));
  MPI_Finalize();
  return 0;
}
