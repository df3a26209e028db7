/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's side of the SPANK interface, played by a plain process: set `fake`, load the plugin, call its callbacks.
   C, so that a host without libstdc++ can use it too. The host must export its symbols (ENABLE_EXPORTS in CMake). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spank_option;

struct fake_spank {
  int context;            /* enum spank_context */
  bool items_fail;        /* every item is refused */
  bool options_fail;      /* no option is taken */
  uid_t uid;
  gid_t gid;
  gid_t groups[4];
  int group_count;
  uint32_t job, step, nodes, node, local_tasks, tasks;
  int task;               /* -1: not in a task */
  int argument_count;
  char **arguments;
  char **environment;     /* the job's; fake_setenv and the plugin change it. NULL: Slurm knows none */

  /* what the plugin did */
  char log[256 * 1024];   /* "LEVEL text\n", LEVEL as in slurm_error: error, info, verbose, debug, log */
  int option_count;
  struct spank_option *options[16];
};
extern struct fake_spank fake;

/* As if this process had just been started: a job of this user with one task on one node, and an empty environment. */
void fake_reset(int context);
void fake_setenv(const char *name, const char *value);
const char *fake_getenv(const char *name); /* NULL: unset */

/* The callbacks of a plugin, loaded anew with all its state. NULL where it has none. */
struct fake_plugin {
  void *handle;
  int (*init)(void *, int, char **);
  int (*init_post_opt)(void *, int, char **);
  int (*local_user_init)(void *, int, char **);
  int (*user_init)(void *, int, char **);
  int (*task_init)(void *, int, char **);
  int (*task_exit)(void *, int, char **);
  int (*exit)(void *, int, char **);
};
bool fake_load(struct fake_plugin *plugin, const char *path); /* prints why not */
void fake_unload(struct fake_plugin *plugin);
int fake_option(int index, const char *value, int remote);    /* calls the callback of a registered option */

#ifdef __cplusplus
}
#endif
