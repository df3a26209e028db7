/* SPDX-License-Identifier: BSD-3-Clause */
/* A host in C, without libstdc++, as Slurm's own programs are: loads the plugin with every symbol resolved at once,
   reads what Slurm reads, and calls every callback in every context. */
#include <dlfcn.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/doubles/fake_spank.h"

static void require(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "failed: %s\n", what);
  exit(1);
}

static FILE *maps_with(const char *needle) {
  static char line[4096];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps))
    if (strstr(line, needle)) return maps;
  return NULL;
}

int main(int argc, char **argv) {
  struct fake_plugin plugin;
  require(argc == 2, "usage: host PLUGIN");
  require(!maps_with("libstdc++"), "the host itself is free of libstdc++");
  require(fake_load(&plugin, argv[1]), "dlopen");
  require(!maps_with("libstdc++"), "the plugin brings no libstdc++");

  require(strcmp(dlsym(plugin.handle, "plugin_name"), "paced_fabric") == 0, "plugin_name");
  require(strcmp(dlsym(plugin.handle, "plugin_type"), "spank") == 0, "plugin_type");
  require(*(unsigned *)dlsym(plugin.handle, "plugin_version") == SLURM_VERSION_NUMBER, "plugin_version");
  require(*(unsigned *)dlsym(plugin.handle, "spank_plugin_version") == 1, "spank_plugin_version");
  require(!dlsym(plugin.handle, "slurm_spank_job_prolog") && !dlsym(plugin.handle, "slurm_spank_job_epilog"), "no prolog, no epilog");
  require(!dlsym(plugin.handle, "slurm_spank_slurmd_exit") && !dlsym(plugin.handle, "init"), "nothing for slurmd, no init()");

  for (int context = S_CTX_ERROR; context <= S_CTX_JOB_SCRIPT; ++context) {
    fake_unload(&plugin);
    require(fake_load(&plugin, argv[1]), "dlopen again");
    fake_reset(context);
    require(plugin.init(NULL, 0, NULL) == 0, "init");
    require(plugin.init_post_opt(NULL, 0, NULL) == 0, "init_post_opt");
    require(plugin.local_user_init(NULL, 0, NULL) == 0, "local_user_init");
    require(plugin.user_init(NULL, 0, NULL) == 0, "user_init");
    require(plugin.task_init(NULL, 0, NULL) == 0, "task_init");
    require(plugin.task_exit(NULL, 0, NULL) == 0, "task_exit");
    require(plugin.exit(NULL, 0, NULL) == 0, "exit");
    const bool options = context == S_CTX_LOCAL || context == S_CTX_REMOTE || context == S_CTX_ALLOCATOR;
    require(fake.option_count == (options ? 5 : 0), "five options where there are any");
    require(fake.log[0] == '\0', fake.log);
  }
  return 0;
}
