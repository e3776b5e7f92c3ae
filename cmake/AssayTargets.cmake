# SPDX-License-Identifier: Apache-2.0
# How a source file becomes device code for the targets its name allows.

# Flags that every part of the suite is compiled with.
# -Wno-restrict: GCC 12 sees overlaps in std::string's operator+ that are none (its bug 105651).
# --no-compress: the harness reads the cubins out of its own executable to check what runs.
# C7510 tells that ptxas serialized wgmma: a wrong number in the making, so it stops the build.
function(assay_compile_options target)
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-missing-field-initializers -Wno-restrict>
    $<$<COMPILE_LANGUAGE:CUDA>:--no-compress -lineinfo --expt-relaxed-constexpr
      -Xcompiler=-Wall,-Wno-missing-field-initializers,-Wno-restrict,-Wno-restrict --Werror=all-warnings -Wno-deprecated-gpu-targets>)
endfunction()

# For code of the CPU that no measurement waits for: it need not be fast, and takes a third less time
# to compile than at -O3. Device code stays at nvcc's -O3, which -Xcompiler leaves alone.
function(assay_compile_soon target)
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CONFIG:Release>>:-Xcompiler=-O1>)
endfunction()

# Headers that nearly every C++ file of the target includes are read once. Files include what they
# use all the same: the test of headers compiles without this.
function(assay_precompile target)
  foreach(header IN LISTS ARGN)
    list(APPEND headers "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
  endforeach()
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

# The targets that a file is compiled for: the suffix of its name says so, "_sm90" and so on, also of
# a C++ file, which belongs to its architecture's CUDA files, and of a test of them ("_sm90_test").
function(assay_architectures file result)
  set(wanted ${ASSAY_TARGETS})
  if(file MATCHES "_sm90(_test)?\\.(cu|cpp)$")
    set(only 90a)
  elseif(file MATCHES "_sm100(_test)?\\.(cu|cpp)$")
    set(only 100a 103a)
  elseif(file MATCHES "_sm120(_test)?\\.(cu|cpp)$")
    set(only 120a)
  else()
    set(only ${ASSAY_TARGETS})
  endif()
  set(chosen)
  foreach(target IN LISTS only)
    if(target IN_LIST wanted)
      list(APPEND chosen ${target}-real)
    endif()
  endforeach()
  set(${result} ${chosen} PARENT_SCOPE)
endfunction()

# A library of C++ files and of CUDA files that hold code for every target.
function(assay_add_library target type)
  add_library(${target} ${type} ${ARGN})
  assay_compile_options(${target})
  assay_architectures(any.cu every)
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${every}")
endfunction()

# assay_add_probes(<target> files...): an interface target; linking it into an executable registers
# the probes of those files there.
function(assay_add_probes target)
  add_library(${target} INTERFACE)
  set(groups)
  foreach(file IN LISTS ARGN)
    assay_architectures(${file} architectures)
    if(NOT architectures)
      continue()  # none of the configured targets has this file's instructions
    endif()
    if(file MATCHES "\\.cpp$")
      set(group cpp)
    else()
      string(REPLACE ";" "_" group "${architectures}")
    endif()
    list(APPEND groups ${group})
    list(APPEND files_${group} ${file})
    set(architectures_${group} ${architectures})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    set(objects ${target}_${group})
    add_library(${objects} OBJECT ${files_${group}})
    assay_compile_options(${objects})
    set_target_properties(${objects} PROPERTIES CUDA_ARCHITECTURES "${architectures_${group}}")
    target_link_libraries(${objects} PRIVATE assay::harness assay::fmt)
    target_link_libraries(${target} INTERFACE ${objects})
    target_sources(${target} INTERFACE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()
