# SPDX-License-Identifier: Apache-2.0
# How a source file becomes device code for the targets its name allows. Which targets there are,
# and which ending of a file's name means which, is written in one place: the rows of
# harness/target_table.hpp.

# Reads the rows: ASSAY_KNOWN_TARGETS and ASSAY_DEFAULT_TARGETS ("90a"), ASSAY_SUFFIXES ("_sm90"),
# for each of these its targets, ASSAY_TARGETS_OF<suffix>, and the target of each compute capability,
# ASSAY_TARGET_OF_<major>.<minor>.
function(assay_read_target_table table)
  file(READ ${table} text)
  string(CONCAT row "\\.name = \"sm_([0-9]+[af]?)\",[ \n]*\\.suffix = \"(_sm[0-9]+)\",[ \n]*"
    "\\.by_default = (true|false),[ \n]*\\.major = ([0-9]+),[ \n]*\\.minor = ([0-9]+)")
  string(REGEX MATCHALL "${row}" rows "${text}")
  if(NOT rows)
    message(FATAL_ERROR "assay: ${table} holds no row of a target that begins with .name = "
      "\"sm_<n>\", .suffix = \"_sm<n>\", .by_default = true or false, .major = <n>, .minor = <n>")
  endif()
  foreach(found IN LISTS rows)
    string(REGEX MATCH "${row}" found "${found}")
    list(APPEND known ${CMAKE_MATCH_1})
    list(APPEND suffixes ${CMAKE_MATCH_2})
    list(APPEND of${CMAKE_MATCH_2} ${CMAKE_MATCH_1})
    set(ASSAY_TARGET_OF_${CMAKE_MATCH_4}.${CMAKE_MATCH_5} ${CMAKE_MATCH_1} PARENT_SCOPE)
    if(CMAKE_MATCH_3)
      list(APPEND default ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES suffixes)
  set(ASSAY_KNOWN_TARGETS ${known} PARENT_SCOPE)
  set(ASSAY_DEFAULT_TARGETS ${default} PARENT_SCOPE)
  set(ASSAY_SUFFIXES ${suffixes} PARENT_SCOPE)
  foreach(suffix IN LISTS suffixes)
    set(ASSAY_TARGETS_OF${suffix} ${of${suffix}} PARENT_SCOPE)
  endforeach()
endfunction()

# Where it is installed, assayConfig.cmake says so.
if(NOT ASSAY_TARGET_TABLE)
  set(ASSAY_TARGET_TABLE ${CMAKE_CURRENT_LIST_DIR}/../harness/target_table.hpp)
endif()
assay_read_target_table(${ASSAY_TARGET_TABLE})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ASSAY_TARGET_TABLE})
set(ASSAY_TARGETS ${ASSAY_DEFAULT_TARGETS} CACHE STRING "GPU targets to compile for")

# `native` stands for this machine's GPUs, found anew at each configuration.
if(ASSAY_TARGETS STREQUAL native)
  set(found)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE capabilities ERROR_VARIABLE why RESULT_VARIABLE failed)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" capabilities "${capabilities}")
  list(REMOVE_DUPLICATES capabilities)
  foreach(capability IN LISTS capabilities)
    list(APPEND found ${ASSAY_TARGET_OF_${capability}})
  endforeach()
  if(NOT found)
    message(FATAL_ERROR "assay: ASSAY_TARGETS is 'native', but nvidia-smi shows no GPU of a target "
      "in harness/target_table.hpp (${failed} ${capabilities}${why}): name targets yourself")
  endif()
  set(ASSAY_TARGETS ${found})
endif()
foreach(target IN LISTS ASSAY_TARGETS)
  if(NOT target IN_LIST ASSAY_KNOWN_TARGETS)
    list(JOIN ASSAY_KNOWN_TARGETS " " known)
    message(FATAL_ERROR "assay: ASSAY_TARGETS names '${target}', which is none of ${known}, the "
      "targets of harness/target_table.hpp")
  endif()
endforeach()

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
      -Xcompiler=-Wall,-Wno-missing-field-initializers,-Wno-restrict --Werror=all-warnings -Wno-deprecated-gpu-targets>)
endfunction()

# For code of the CPU that no measurement waits for: it need not be fast, and takes a third less time
# to compile than at -O3. Device code stays at nvcc's -O3, which -Xcompiler leaves alone.
function(assay_compile_soon target)
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CONFIG:Release>>:-Xcompiler=-O1>)
endfunction()

# For the tests' own code: what they wait for is the libraries they call. A quarter less time yet.
function(assay_compile_soonest target)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O0>)
endfunction()

# Headers that nearly every C++ file of the target includes are read once. Files include what they
# use all the same: the test of headers compiles without this.
function(assay_precompile target)
  foreach(header IN LISTS ARGN)
    list(APPEND headers "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
  endforeach()
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

# The suffix of a file's name that says what targets it is for: "_sm90" and so on, also of a C++ file,
# which belongs to its architecture's CUDA files, and of a test of them ("_sm90_test"). Empty if it is
# for all. A name that reads as one target and means another, or all, is an error.
function(assay_suffix file result)
  get_filename_component(rest ${file} NAME)
  string(REGEX REPLACE "(_test)?\\.[^.]+$" "" rest "_${rest}")
  set(suffix)
  if(rest MATCHES "_sm[0-9]+$" AND CMAKE_MATCH_0 IN_LIST ASSAY_SUFFIXES)
    set(suffix ${CMAKE_MATCH_0})
    string(REGEX REPLACE "${suffix}$" "" rest "${rest}")
  endif()
  if(rest MATCHES ".*(_[sS][mM]_?[0-9]+[a-z]*)")
    list(JOIN ASSAY_SUFFIXES " " known)
    message(FATAL_ERROR "assay: ${file} is named for a target, '${CMAKE_MATCH_1}', but names end in a "
      "suffix of a row of harness/target_table.hpp (a test's in suffix and _test): known are ${known}")
  endif()
  set(${result} "${suffix}" PARENT_SCOPE)
endfunction()

# For files that are compiled with others or not alone, such as headers: an error if a name is wrong.
function(assay_check_names)
  foreach(file IN LISTS ARGN)
    assay_suffix(${file} suffix)
  endforeach()
endfunction()

# The targets that a file is compiled for.
function(assay_architectures file result)
  set(allowed ${ASSAY_KNOWN_TARGETS})
  assay_suffix(${file} suffix)
  if(suffix)
    set(allowed ${ASSAY_TARGETS_OF${suffix}})
  endif()
  set(chosen)
  foreach(target IN LISTS ASSAY_TARGETS)
    if(target IN_LIST allowed)
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

# assay_share_ptx(<objects> [virtual] [oldest]): makes PTX once for all targets that have the same. What
# nvcc does before ptxas it does for each PTX anew, half and more of its time; Blackwell's targets differ
# in ptxas alone as long as a file has no instruction of one architecture, such as scatter4. nvcc refuses
# a file that has, and one that tells these targets apart by __CUDA_ARCH__ would go wrong: see
# assay_needs_own_ptx. "oldest" makes one of all PTX, that of the oldest target, for files that tell no
# targets apart. "virtual" keeps the PTX beside the machine code.
function(assay_share_ptx objects)
  get_target_property(own ${objects} ASSAY_OWN_PTX)
  get_target_property(architectures ${objects} CUDA_ARCHITECTURES)
  list(SORT architectures COMPARE NATURAL)
  list(GET architectures 0 oldest)
  string(REPLACE "-real" "" oldest ${oldest})
  set(bases)
  foreach(architecture IN LISTS architectures)
    string(REPLACE "-real" "" architecture ${architecture})
    set(base ${architecture})
    if(NOT own AND "oldest" IN_LIST ARGN)
      set(base ${oldest})
    elseif(NOT own)
      assay_ptx_base(${architecture} base)
    endif()
    list(APPEND bases ${base})
    list(APPEND codes_${base} sm_${architecture})
  endforeach()
  list(REMOVE_DUPLICATES bases)
  foreach(base IN LISTS bases)
    if("virtual" IN_LIST ARGN)
      list(PREPEND codes_${base} compute_${base})
    endif()
    list(JOIN codes_${base} "," codes)
    target_compile_options(${objects} PRIVATE
      $<$<COMPILE_LANGUAGE:CUDA>:--generate-code=arch=compute_${base},code=[${codes}]>)
  endforeach()
  set_target_properties(${objects} PROPERTIES CUDA_ARCHITECTURES OFF)
endfunction()

# The PTX that a target shares: of the first Blackwell, for those after it. Older ones' is their own.
function(assay_ptx_base target result)
  set(base ${target})
  string(REGEX MATCH "^[0-9]+" number ${target})
  foreach(known IN LISTS ASSAY_KNOWN_TARGETS)
    string(REGEX MATCH "^[0-9]+" first ${known})
    if(number GREATER_EQUAL 100 AND first GREATER_EQUAL 100)
      set(base ${first})
      break()
    endif()
  endforeach()
  set(${result} ${base} PARENT_SCOPE)
endfunction()

# Whether a file has instructions of one architecture, as those have that are named for one. Others
# say so in a line, "// Own PTX: why".
function(assay_needs_own_ptx file result)
  assay_suffix(${file} suffix)
  get_filename_component(path ${file} ABSOLUTE)
  set(own)
  if(EXISTS ${path})  # one that is yet to be generated says nothing
    file(STRINGS ${path} own REGEX "^// Own PTX: ")
  endif()
  if(suffix OR own)
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
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
    set(own FALSE)
    if(file MATCHES "\\.cpp$")
      set(group cpp)
    else()
      string(REPLACE ";" "_" group "${architectures}")
      assay_needs_own_ptx(${file} own)
      if(NOT own)
        set(group any)
      endif()
    endif()
    list(APPEND groups ${group})
    set(own_${group} ${own})
    list(APPEND files_${group} ${file})
    set(architectures_${group} ${architectures})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    set(objects ${target}_${group})
    add_library(${objects} OBJECT ${files_${group}})
    assay_compile_options(${objects})
    set_target_properties(${objects} PROPERTIES CUDA_ARCHITECTURES "${architectures_${group}}"
      ASSAY_OWN_PTX ${own_${group}})
    target_link_libraries(${objects} PRIVATE assay::harness assay::fmt)
    target_link_libraries(${target} INTERFACE ${objects})
    target_sources(${target} INTERFACE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()

# assay_add_ptx(<target> <architecture> files...): a target that makes <folder>/<name>.ptx of each CUDA
# file, for the host model to run; property PTX_FILES of the target has them all.
function(assay_add_ptx target architecture)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target})
  file(MAKE_DIRECTORY ${folder})
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME_WE)
    get_filename_component(path ${file} ABSOLUTE)
    set(ptx ${folder}/${name}.ptx)
    add_custom_command(OUTPUT ${ptx}
      COMMAND ${CMAKE_CUDA_COMPILER} -ptx -lineinfo -arch=${architecture} -std=c++20
        --expt-relaxed-constexpr -MD -MF ${ptx}.d
        "-I$<JOIN:$<TARGET_PROPERTY:assay::model,INTERFACE_INCLUDE_DIRECTORIES>,;-I>"
        -o ${ptx} ${path}
      DEPENDS ${path} DEPFILE ${ptx}.d COMMENT "PTX of ${name}" VERBATIM COMMAND_EXPAND_LISTS)
    list(APPEND made ${ptx})
  endforeach()
  add_custom_target(${target} ALL DEPENDS ${made})
  set_target_properties(${target} PROPERTIES PTX_FILES "${made}")
endfunction()
