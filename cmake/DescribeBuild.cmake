# SPDX-License-Identifier: Apache-2.0
# Compiled into the harness: what this build is, and where its toolkit lies.
function(assay_describe_build target)
  list(GET CUDAToolkit_LIBRARY_DIR 0 library_dir)
  target_compile_definitions(${target} PRIVATE ASSAY_VERSION="${PROJECT_VERSION}"
    ASSAY_NVCC_VERSION="${CMAKE_CUDA_COMPILER_VERSION}" ASSAY_CUDA_LIBRARY_DIR="${library_dir}")
  if(ASSAY_EXTRA_CUDA_DIR)
    target_compile_definitions(${target} PRIVATE ASSAY_EXTRA_CUDA_DIR="${ASSAY_EXTRA_CUDA_DIR}")
    target_include_directories(${target} SYSTEM PUBLIC
      $<BUILD_INTERFACE:${ASSAY_EXTRA_CUDA_DIR}/include>)
  endif()

  # Of one file alone, so that other objects are the same for all sets of targets.
  list(JOIN ASSAY_TARGETS " " targets)
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/harness/target.cpp
    PROPERTIES COMPILE_DEFINITIONS "ASSAY_TARGETS=\"${targets}\"")

  # At build time, not configure time: results name the commit that measured them.
  set(header ${CMAKE_CURRENT_BINARY_DIR}/generated/git_commit.hpp)
  add_custom_target(assay_git_commit BYPRODUCTS ${header}
    COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${CMAKE_CURRENT_SOURCE_DIR} -DOUTPUT=${header}
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/GitCommit.cmake)
  add_dependencies(${target} assay_git_commit)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)

  # CUPTI's headers lie apart in a toolkit from NVIDIA's own installer.
  find_path(ASSAY_CUPTI_INCLUDE_DIR cupti_range_profiler.h HINTS ${CUDAToolkit_INCLUDE_DIRS}
    ${CUDAToolkit_BIN_DIR}/../extras/CUPTI/include ${ASSAY_EXTRA_CUDA_DIR}/include)
  if(ASSAY_CUPTI_INCLUDE_DIR)
    target_compile_definitions(${target} PRIVATE ASSAY_HAS_CUPTI)
    target_include_directories(${target} SYSTEM PRIVATE ${ASSAY_CUPTI_INCLUDE_DIR})
  endif()
endfunction()
