// Does a PMIx fence of this cluster wait for the ranks of all nodes? Each rank passes four fences, reaching each after a
// time of its own, and prints for each the moments of entering and leaving (the clock is common to all nodes).
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(void) {
  pmix_proc_t me, all;
  if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) return 1;
  PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
  for (int fence = 0; fence < 4; fence++) {
    usleep((me.rank + fence) % 4 * 10000);
    double entered = now();
    if (PMIx_Fence(&all, 1, NULL, 0) != PMIX_SUCCESS) return 1;
    printf("%d %.6f %.6f\n", fence, entered, now());
  }
  fflush(stdout);
  return PMIx_Finalize(NULL, 0);
}
