// SPDX-License-Identifier: BSD-3-Clause
// How programs end and what they do in between: `life WHAT`.
//   plain     some collectives
//   fork      a child in the middle, which calls nothing of MPI, lives on and exits
//   wait      counts SIGCHLD and children that it never made
//   exit      exits without MPI_Finalize
//   kill      rank 1 kills itself
//   abort     rank 1 calls MPI_Abort
//   error     a call with a wrong datatype under MPI_ERRORS_RETURN
//   sequence  40000 all-reduces, more than can be kept
//   late      rank 1 comes 20 ms late to each of 50 barriers
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t children = 0;
static void on_child(int signal) {
    (void)signal;
    ++children;
}
static void barriers(int count) {
    for (int i = 0; i < count; ++i) MPI_Barrier(MPI_COMM_WORLD);
}
static void pause_ms(long ms) {
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

int main(int argc, char** argv) {
    const char* const what = argc > 1 ? argv[1] : "plain";
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    barriers(10);
    if (strcmp(what, "fork") == 0) {
        const pid_t child = fork();
        if (child == 0) {
            pause_ms(50);
            _exit(3);
        }
        barriers(10);
        int status = 0;
        waitpid(child, &status, 0);
        printf("rank %d child %d\n", rank, WEXITSTATUS(status));
    } else if (strcmp(what, "wait") == 0) {
        signal(SIGCHLD, on_child);
    } else if (strcmp(what, "exit") == 0) {
        if (rank != 1) pause_ms(500);  // so that the launcher hears of rank 1 first, with us and without
        _exit(rank == 1 ? 4 : 0);
    } else if (strcmp(what, "kill") == 0 && rank == 1) {
        raise(SIGKILL);
    } else if (strcmp(what, "abort") == 0 && rank == 1) {
        MPI_Abort(MPI_COMM_WORLD, 5);
    } else if (strcmp(what, "error") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int value = 1, total = 0;
        printf("rank %d refused %d\n", rank, MPI_Allreduce(&value, &total, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS);
    } else if (strcmp(what, "sequence") == 0) {
        int value = 1, total = 0;
        for (int i = 0; i < 40000; ++i) MPI_Allreduce(&value, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(what, "late") == 0) {
        for (int i = 0; i < 50; ++i) {
            if (rank == 1) pause_ms(20);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    if (strcmp(what, "wait") == 0) printf("rank %d signals %d children %d\n", rank, (int)children, waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : 1);
    else printf("rank %d of %d done\n", rank, size);
    return 0;
}
