# SPDX-License-Identifier: Apache-2.0
# The CUDA compiler and toolkit. -DCMAKE_CUDA_COMPILER or $CUDACXX chooses one; else it is the one
# that scripts/setup.sh found or fetched (.toolchain/cuda links to it); else the one on PATH.
set(toolchain ${CMAKE_CURRENT_LIST_DIR}/../.toolchain)
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS ${toolchain}/cuda/bin/nvcc)
  file(REAL_PATH ${toolchain}/cuda/bin/nvcc CMAKE_CUDA_COMPILER)
endif()
# Targets are named file by file (AssayTargets.cmake), not here.
set(CMAKE_CUDA_ARCHITECTURES OFF)
enable_language(CUDA)
include(${CMAKE_CURRENT_LIST_DIR}/CudaInCmake325.cmake)
find_package(CUDAToolkit 13.0 REQUIRED)

# What the toolkit lacks and setup.sh fetched (NCCL, nvdisasm, ...): searched after the toolkit.
if(IS_DIRECTORY ${toolchain}/nvidia/cu13)
  file(REAL_PATH ${toolchain}/nvidia/cu13 ASSAY_EXTRA_CUDA_DIR)
endif()
