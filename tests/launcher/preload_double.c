// SPDX-License-Identifier: BSD-3-Clause
// Stands in for libpaced_fabric.so: can be preloaded and does nothing.
extern int paced_fabric_preload_double;
int paced_fabric_preload_double = 1;
