# SPDX-License-Identifier: BSD-3-Clause
# Everything we need from outside. Required packages fail here; CUDA, NCCL, MPI and Gloo are each found or left
# out, and paced_print_dependencies() says which.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
# the archive where there is one: the plugin's helper reads YAML and needs libc alone
find_path(YAML_CPP_INCLUDE_DIR yaml-cpp/yaml.h REQUIRED)
find_library(YAML_CPP_LIBRARY NAMES libyaml-cpp.a yaml-cpp REQUIRED)
find_path(SLURM_INCLUDE_DIR slurm/spank.h REQUIRED)

# Open MPI and MPICH stand side by side on Debian under their own compiler wrappers. The interposer needs
# neither (it finds the MPI of the process at run time); workloads and tests do.
find_program(OPENMPI_CC NAMES mpicc.openmpi)
find_program(OPENMPI_FC NAMES mpif90.openmpi)
find_program(MPICH_CC NAMES mpicc.mpich)
find_program(MPICH_FC NAMES mpif90.mpich)
find_path(GLOO_INCLUDE_DIR gloo/allreduce.h)
find_path(CUDA_INCLUDE_DIR cuda.h HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include)
find_path(NCCL_INCLUDE_DIR nccl.h HINTS $ENV{NCCL_HOME}/include /usr/local/cuda/include)
# Only tests compare with it: mapping of graphs onto trees.
find_path(SCOTCH_INCLUDE_DIR scotch.h PATH_SUFFIXES scotch)
find_library(SCOTCH_LIBRARY scotch)
find_library(SCOTCHERR_LIBRARY scotcherr)

function(paced_print_dependencies)
  foreach(entry "Open MPI:OPENMPI_CC" "MPICH:MPICH_CC" "Gloo:GLOO_INCLUDE_DIR" "CUDA:CUDA_INCLUDE_DIR" "NCCL:NCCL_INCLUDE_DIR" "Scotch:SCOTCH_INCLUDE_DIR")
    string(REPLACE ":" ";" entry ${entry})
    list(GET entry 0 name)
    list(GET entry 1 variable)
    if(${variable})
      message(STATUS "${name}: found (${${variable}})")
    else()
      message(STATUS "${name}: not found, left out")
    endif()
  endforeach()
endfunction()
