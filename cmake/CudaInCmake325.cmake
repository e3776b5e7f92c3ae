# SPDX-License-Identifier: Apache-2.0
# What CMake 3.25, Debian 12's, does not know about CUDA 13; later ones do. Include it once CUDA is
# enabled and before CUDAToolkit is looked for.

# How nvcc is asked for C++20.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()

# That there is no libnvToolsExt any more: FindCUDAToolkit marks the target as deprecated, and stops
# where there is none.
if(NOT TARGET CUDA::nvToolsExt)
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()
