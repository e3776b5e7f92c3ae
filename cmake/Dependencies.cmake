# SPDX-License-Identifier: Apache-2.0
# Other people's libraries: the distribution's where it has them, else fetched at these versions.
include(FetchContent)
set(FMT_INSTALL OFF)
set(BENCHMARK_ENABLE_TESTING OFF)
set(BENCHMARK_ENABLE_INSTALL OFF)
set(INSTALL_GTEST OFF)
set(RE2_BUILD_TESTING OFF)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})  # Findre2.cmake
function(assay_declare name version repository tag)
  FetchContent_Declare(${name} GIT_REPOSITORY https://github.com/${repository} GIT_TAG ${tag}
    GIT_SHALLOW ON SYSTEM FIND_PACKAGE_ARGS ${version})
endfunction()
assay_declare(fmt 9.1 fmtlib/fmt 9.1.0)
assay_declare(CLI11 2.1 CLIUtils/CLI11 v2.4.2)
assay_declare(nlohmann_json 3.11 nlohmann/json v3.11.3)
assay_declare(benchmark 1.7 google/benchmark v1.8.3)
assay_declare(re2 "" google/re2 2023-03-01)
FetchContent_MakeAvailable(fmt CLI11 nlohmann_json benchmark re2)

# assay::<name> for each, so that nothing else knows how it was found. fmt with its library: without
# one, each file compiles what it uses of fmt again.
function(assay_alias name real)
  add_library(assay_${name} INTERFACE)
  add_library(assay::${name} ALIAS assay_${name})
  set_target_properties(assay_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(assay_${name} INTERFACE ${real})
endfunction()
assay_alias(fmt fmt::fmt)
assay_alias(cli11 CLI11::CLI11)
assay_alias(json nlohmann_json::nlohmann_json)
assay_alias(benchmark benchmark::benchmark)
assay_alias(re2 re2::re2)
find_package(ZLIB REQUIRED)

# Headers of what is opened at run time only.
foreach(header zstd.h nvml.h nvJitLink.h nccl.h)
  find_path(ASSAY_HAS_${header} ${header} HINTS ${CUDAToolkit_INCLUDE_DIRS} ${ASSAY_EXTRA_CUDA_DIR}/include)
  if(NOT ASSAY_HAS_${header})
    message(FATAL_ERROR "${header} is missing: run scripts/setup.sh, which installs it")
  endif()
endforeach()

if(ASSAY_BUILD_TESTS)
  assay_declare(GTest 1.12 google/googletest v1.14.0)
  FetchContent_MakeAvailable(GTest)
  assay_alias(gtest GTest::gtest_main)
endif()

# Debian has Google Benchmark, fmt and RE2 as shared libraries only: copies lie beside the programs, so
# that the build folder can be carried to a machine without them. In a folder of a program's own are
# links to the system's libraries. The loader looks in both before it looks where LD_LIBRARY_PATH
# says, which often has an empty entry, the current folder. CMake would add another if the path
# changed on installation. A library that others load into their process has its process's.
set(ASSAY_LINKS assay_libraries)
if(NOT DEFINED CMAKE_INSTALL_RPATH)
  set(CMAKE_INSTALL_RPATH "\$ORIGIN")
endif()
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
add_link_options($<HOST_LINK:LINKER:--disable-new-dtags>)
function(assay_carry_shared_libraries target)
  foreach(library benchmark::benchmark fmt::fmt re2::re2)
    get_target_property(type ${library} TYPE)
    if(type STREQUAL SHARED_LIBRARY)
      add_custom_command(TARGET ${target} POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy_if_different
        $<TARGET_FILE:${library}>
        $<TARGET_FILE_DIR:${target}>/$<TARGET_SONAME_FILE_NAME:${library}>)
    endif()
  endforeach()
  set_property(TARGET ${target} APPEND PROPERTY INSTALL_RPATH "\$ORIGIN/${ASSAY_LINKS}")
  add_custom_command(TARGET ${target} POST_BUILD COMMAND ${CMAKE_COMMAND}
    -DPROGRAM=$<TARGET_FILE:${target}> -DFOLDER=$<TARGET_FILE_DIR:${target}>/${ASSAY_LINKS}
    -DCOMPILER=${CMAKE_CXX_COMPILER} -DREADELF=${CMAKE_READELF}
    -P ${PROJECT_SOURCE_DIR}/cmake/LinkSystemLibraries.cmake)
endfunction()
