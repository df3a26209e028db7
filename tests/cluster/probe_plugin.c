// A plugin under the real one's file name: shows each task the arguments that plugstack.conf gave it.
#include <slurm/spank.h>

SPANK_PLUGIN(cluster_probe, 1)

int slurm_spank_user_init(spank_t spank, int argc, char **argv) {
  char name[] = "PROBE_ARGUMENT_0";
  for (int i = 0; i < argc && i < 9; i++) {
    name[sizeof name - 2] = (char)('0' + i);
    spank_setenv(spank, name, argv[i], 1);
  }
  return 0;
}
