#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the plugin shows to its host, what it loads, and what it expects the host to have. exports.sh PLUGIN
set -eu
plugin=$1
wrong=0

compare() { # WHAT IS EXPECTED
  [ "$2" = "$3" ] && return
  printf '%s\n  is:        %s\n  should be: %s\n' "$1" "$(echo "$2" | tr '\n' ' ')" "$(echo "$3" | tr '\n' ' ')"
  wrong=1
}

symbols=$(nm -D "$plugin")
compare exports "$(echo "$symbols" | awk 'NF == 3 && $2 != "U" { print $3 }' | sort)" "$(printf '%s\n' plugin_name plugin_type plugin_version \
  slurm_spank_exit slurm_spank_init slurm_spank_init_post_opt slurm_spank_local_user_init slurm_spank_task_exit slurm_spank_task_init \
  slurm_spank_user_init spank_plugin_version | sort)"
compare NEEDED "$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')" libc.so.6
compare "wanted from the host" "$(echo "$symbols" | awk '$1 == "U" && $2 !~ /@/ { print $2 }' | sort)" "$(printf '%s\n' slurm_debug slurm_info \
  slurm_spank_log slurm_verbose spank_context spank_get_item spank_getenv spank_option_register spank_setenv spank_unsetenv | sort)"
# -z now: an undefined symbol must show when the plugin is loaded, not in the middle of a step
readelf -d "$plugin" | grep -q BIND_NOW || { echo "not linked with -z now"; wrong=1; }
readelf -d "$plugin" | grep -q SYMBOLIC || { echo "not linked with -Bsymbolic"; wrong=1; }
readelf -lW "$plugin" | grep -q 'GNU_STACK.* RWE' && { echo "executable stack"; wrong=1; }
exit $wrong
