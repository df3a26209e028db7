// SPDX-License-Identifier: BSD-3-Clause
// Everything that policy/ must not do, planted for the check to find.
extern "C" {
int hwloc_topology_init(void**);
int PMPI_Barrier(int);
int spank_getenv(void*, const char*, char*, int);
int cuInit(unsigned);
char* getenv(const char*);
}

namespace toml {
int parse(int);
}

int impure(void* spank) {
    return hwloc_topology_init(nullptr) + PMPI_Barrier(0) + spank_getenv(spank, "A", nullptr, 0) + static_cast<int>(cuInit(0)) +
           (getenv("B") != nullptr ? 1 : 0) + toml::parse(0);
}
