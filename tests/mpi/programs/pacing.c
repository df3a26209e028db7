// SPDX-License-Identifier: BSD-3-Clause
// A job to be paced against its will: `pacing WHAT [CALLS [SEED]]`. All ranks draw the same operations on the same of several
// overlapping communicators, each rank pauses as it likes.
//   soak   only that; prints a checksum of all results, and the timer slack of its thread (which it has set)
//   fork   a child in the middle, which lives on, calls nothing of MPI and exits
//   exec   rank 0 runs a program in the middle
//   exit   rank 1 exits in the middle, without MPI_Finalize
//   abort  rank 1 calls MPI_Abort in the middle
//   kill   rank 1 kills itself in the middle
//   stop   rank 1 stops for 300 ms in the middle, by SIGSTOP
//   threads  two threads on communicators of their own
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kinds = 5, most = 4096 };
static MPI_Comm comms[kinds];
static int in[most], out[most * 4];
static unsigned long long sum = 14695981039346656037ull;

static unsigned next(unsigned long long* state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(*state >> 33);
}
static void digest(const int* values, int count) {
    for (int i = 0; i < count; ++i) sum = (sum ^ (unsigned)values[i]) * 1099511628211ull;
}
static void pause_us(long us) {
    const struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static void one_call(MPI_Comm comm, unsigned operation, int count, int i) {
    int size, rank;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    for (int k = 0; k < count; ++k) in[k] = rank * 7 + i + k;
    switch (operation) {
        case 0: MPI_Barrier(comm); break;
        case 1: MPI_Bcast(in, count, MPI_INT, i % size, comm), digest(in, count); break;
        case 2: MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, i % size, comm); if (rank == i % size) digest(out, count); break;
        case 3: MPI_Allgather(in, count / 4, MPI_INT, out, count / 4, MPI_INT, comm), digest(out, count / 4 * size); break;
        case 4: MPI_Alltoall(in, count / 4, MPI_INT, out, count / 4, MPI_INT, comm), digest(out, count / 4 * size); break;
        case 5: MPI_Reduce_scatter_block(in, out, count / 4, MPI_INT, MPI_SUM, comm), digest(out, count / 4); break;
        default: MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm), digest(out, count); break;
    }
}

static void* work(void* argument) {
    const long t = (long)argument;
    static int sums[2][2];
    for (int i = 0; i < 200; ++i) MPI_Allreduce(&sums[t][0], &sums[t][1], 1, MPI_INT, MPI_SUM, comms[t]);
    return NULL;
}

int main(int argc, char** argv) {
    const char* const what = argc > 1 ? argv[1] : "soak";
    const long calls = argc > 2 ? atol(argv[2]) : 2000;
    unsigned long long program = argc > 3 ? (unsigned long long)atol(argv[3]) : 1;
    int rank, size, provided;
    MPI_Init_thread(&argc, &argv, strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    prctl(PR_SET_TIMERSLACK, 77777, 0, 0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    unsigned long long own = program * 31 + (unsigned)rank;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comms[3]);
    MPI_Comm_split(MPI_COMM_WORLD, (rank + 1) / 2 % (size / 2 > 0 ? size / 2 : 1), rank, &comms[4]);
    if (strcmp(what, "threads") == 0 && provided == MPI_THREAD_MULTIPLE) {
        pthread_t threads[2];
        for (long t = 0; t < 2; ++t) pthread_create(&threads[t], NULL, work, (void*)t);
        for (long t = 0; t < 2; ++t) pthread_join(threads[t], NULL);
    }
    pid_t child = 0;
    for (long i = 0; i < calls; ++i) {
        const unsigned kind = next(&program) % kinds, operation = next(&program) % 10;
        const int count = next(&program) % 4 == 0 ? 1024 : 4;
        if (next(&own) % 8 == 0) pause_us(next(&own) % 200);
        if (i == calls / 2) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (strcmp(what, "fork") == 0 && (child = fork()) == 0) {
                pause_us(20000);
                _exit(3);
            }
            if (strcmp(what, "exec") == 0 && rank == 0) sum ^= (unsigned)system("/bin/true");
            if (strcmp(what, "exit") == 0) {
                if (rank != 1) pause_us(500000);
                _exit(rank == 1 ? 4 : 0);
            }
            if (strcmp(what, "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 5);
            if (strcmp(what, "kill") == 0 && rank == 1) raise(SIGKILL);
            if (strcmp(what, "stop") == 0 && rank == 1) {
                const pid_t self = getpid();
                if ((child = fork()) == 0) {
                    pause_us(300000);
                    kill(self, SIGCONT);
                    _exit(3);
                }
                raise(SIGSTOP);
            }
        }
        one_call(comms[kind], operation, count, (int)i);
    }
    int status = 0;
    if (child > 0) waitpid(child, &status, 0), sum ^= (unsigned)WEXITSTATUS(status);
    printf("rank %d sum %016llx slack %d\n", rank, sum, prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0));
    for (int kind = 1; kind < kinds; ++kind) MPI_Comm_free(&comms[kind]);
    MPI_Finalize();
    return 0;
}
