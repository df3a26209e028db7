/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "tests/doubles/fake_spank.h"

#include <dlfcn.h>
#include <slurm/spank.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake_spank fake;

/* --- the job's environment --- */

static size_t count(void) {
  size_t n = 0;
  while (fake.environment && fake.environment[n]) ++n;
  return n;
}

static char **find(const char *name) {
  const size_t size = strlen(name);
  for (char **at = fake.environment; at && *at; ++at)
    if (strncmp(*at, name, size) == 0 && (*at)[size] == '=') return at;
  return NULL;
}

const char *fake_getenv(const char *name) {
  char **at = find(name);
  return at ? *at + strlen(name) + 1 : NULL;
}

static void drop(const char *name) {
  char **at = find(name);
  if (!at) return;
  free(*at);
  do at[0] = at[1];
  while (*at++);
}

void fake_setenv(const char *name, const char *value) {
  char *line = NULL;
  drop(name);
  if (asprintf(&line, "%s=%s", name, value) < 0) abort();
  const size_t n = count();
  fake.environment = realloc(fake.environment, (n + 2) * sizeof *fake.environment);
  fake.environment[n] = line;
  fake.environment[n + 1] = NULL;
}

static void forget_options(void) {
  for (int i = 0; i < fake.option_count; ++i) {
    free(fake.options[i]->name);
    free(fake.options[i]->arginfo);
    free(fake.options[i]->usage);
    free(fake.options[i]);
  }
  fake.option_count = 0;
}

void fake_reset(int context) {
  for (char **at = fake.environment; at && *at; ++at) free(*at);
  free(fake.environment);
  forget_options();
  memset(&fake, 0, sizeof fake);
  fake.context = context;
  fake.uid = getuid();
  fake.gid = getgid();
  fake.groups[0] = fake.gid;
  fake.group_count = 1;
  fake.job = 7;
  fake.nodes = fake.local_tasks = fake.tasks = 1;
  fake.task = -1;
  fake.environment = calloc(1, sizeof *fake.environment);
}

/* --- what Slurm exports --- */

spank_context_t spank_context(void) { return (spank_context_t)fake.context; }

static char *copy(const char *text) { return text ? strdup(text) : NULL; }

/* Slurm copies the strings too. */
spank_err_t spank_option_register(spank_t spank, struct spank_option *option) {
  (void)spank;
  if (fake.options_fail || fake.option_count == 16 || !option->name || strlen(option->name) > SPANK_OPTION_MAXLEN) return ESPANK_BAD_ARG;
  struct spank_option *mine = malloc(sizeof *mine);
  *mine = *option;
  mine->name = copy(option->name);
  mine->arginfo = copy(option->arginfo);
  mine->usage = copy(option->usage);
  fake.options[fake.option_count++] = mine;
  return ESPANK_SUCCESS;
}

int fake_option(int index, const char *value, int remote) {
  return fake.options[index]->cb(fake.options[index]->val, value, remote);
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...) {
  va_list out;
  spank_err_t result = ESPANK_SUCCESS;
  (void)spank;
  if (fake.items_fail) return ESPANK_BAD_ARG;
  /* srun knows its own command line, and no more of what we ask for */
  if (fake.context != S_CTX_REMOTE && (fake.context != S_CTX_LOCAL || item != S_JOB_ARGV)) return ESPANK_NOT_REMOTE;
  va_start(out, item);
  switch (item) {
    case S_JOB_UID: *va_arg(out, uid_t *) = fake.uid; break;
    case S_JOB_GID: *va_arg(out, gid_t *) = fake.gid; break;
    case S_JOB_ID: *va_arg(out, uint32_t *) = fake.job; break;
    case S_JOB_STEPID: *va_arg(out, uint32_t *) = fake.step; break;
    case S_JOB_NNODES: *va_arg(out, uint32_t *) = fake.nodes; break;
    case S_JOB_NODEID: *va_arg(out, uint32_t *) = fake.node; break;
    case S_JOB_LOCAL_TASK_COUNT: *va_arg(out, uint32_t *) = fake.local_tasks; break;
    case S_JOB_TOTAL_TASK_COUNT: *va_arg(out, uint32_t *) = fake.tasks; break;
    case S_JOB_ENV: *va_arg(out, char ***) = fake.environment; break;
    case S_JOB_ARGV:
      *va_arg(out, int *) = fake.argument_count;
      *va_arg(out, char ***) = fake.arguments;
      break;
    case S_JOB_SUPPLEMENTARY_GIDS:
      *va_arg(out, gid_t **) = fake.group_count ? fake.groups : NULL;
      *va_arg(out, int *) = fake.group_count;
      break;
    case S_TASK_ID:
      if (fake.task < 0) result = ESPANK_NOT_TASK;
      else *va_arg(out, int *) = fake.task;
      break;
    default: result = ESPANK_BAD_ARG;
  }
  va_end(out);
  return result;
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *buffer, int size) {
  (void)spank;
  if (fake.context != S_CTX_REMOTE) return ESPANK_NOT_REMOTE;
  const char *value = fake_getenv(name);
  if (!value) return ESPANK_ENV_NOEXIST;
  return snprintf(buffer, (size_t)size, "%s", value) >= size ? ESPANK_NOSPACE : ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite) {
  (void)spank;
  if (fake.context != S_CTX_REMOTE) return ESPANK_NOT_REMOTE;
  if (!overwrite && fake_getenv(name)) return ESPANK_ENV_EXISTS;
  fake_setenv(name, value);
  return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name) {
  (void)spank;
  if (fake.context != S_CTX_REMOTE) return ESPANK_NOT_REMOTE;
  drop(name);
  return ESPANK_SUCCESS;
}

#define LOG_FUNCTION(function, level)                                                                     \
  void function(const char *format, ...) {                                                                \
    size_t used = strlen(fake.log);                                                                       \
    va_list values;                                                                                       \
    va_start(values, format);                                                                             \
    used += (size_t)snprintf(fake.log + used, sizeof fake.log - used, "%s ", level);                      \
    if (used < sizeof fake.log) used += (size_t)vsnprintf(fake.log + used, sizeof fake.log - used, format, values); \
    va_end(values);                                                                                       \
    if (used + 1 < sizeof fake.log) strcpy(fake.log + used, "\n");                                        \
  }
LOG_FUNCTION(slurm_error, "error")
LOG_FUNCTION(slurm_info, "info")
LOG_FUNCTION(slurm_verbose, "verbose")
LOG_FUNCTION(slurm_debug, "debug")
LOG_FUNCTION(slurm_spank_log, "log")

/* --- loading --- */

bool fake_load(struct fake_plugin *plugin, const char *path) {
  memset(plugin, 0, sizeof *plugin);
  plugin->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!plugin->handle) {
    fprintf(stderr, "%s\n", dlerror());
    return false;
  }
  *(void **)&plugin->init = dlsym(plugin->handle, "slurm_spank_init");
  *(void **)&plugin->init_post_opt = dlsym(plugin->handle, "slurm_spank_init_post_opt");
  *(void **)&plugin->local_user_init = dlsym(plugin->handle, "slurm_spank_local_user_init");
  *(void **)&plugin->user_init = dlsym(plugin->handle, "slurm_spank_user_init");
  *(void **)&plugin->task_init = dlsym(plugin->handle, "slurm_spank_task_init");
  *(void **)&plugin->task_exit = dlsym(plugin->handle, "slurm_spank_task_exit");
  *(void **)&plugin->exit = dlsym(plugin->handle, "slurm_spank_exit");
  return true;
}

void fake_unload(struct fake_plugin *plugin) {
  forget_options();
  if (plugin->handle) dlclose(plugin->handle);
  memset(plugin, 0, sizeof *plugin);
}
