# SPDX-License-Identifier: Apache-2.0
# find_package(re2): re2::re2. RE2's own package file where there is one; Debian and Ubuntu install
# the library and its headers alone.
find_package(re2 ${re2_FIND_VERSION} CONFIG QUIET)
if(NOT TARGET re2::re2)
  find_path(RE2_INCLUDE_DIR re2/re2.h)
  find_library(RE2_LIBRARY re2)
  mark_as_advanced(RE2_INCLUDE_DIR RE2_LIBRARY)
endif()
include(FindPackageHandleStandardArgs)
if(TARGET re2::re2)
  find_package_handle_standard_args(re2 CONFIG_MODE)
else()
  find_package_handle_standard_args(re2 REQUIRED_VARS RE2_LIBRARY RE2_INCLUDE_DIR)
endif()
if(re2_FOUND AND NOT TARGET re2::re2)
  find_package(Threads REQUIRED)
  if(RE2_LIBRARY MATCHES "\\.so$")
    # The name that programs ask the loader for, so that a copy can be carried along.
    execute_process(COMMAND ${CMAKE_READELF} -d ${RE2_LIBRARY} OUTPUT_VARIABLE dynamic_section)
    string(REGEX REPLACE ".*\\(SONAME\\)[^[]*\\[([^]]*)\\].*" "\\1" soname "${dynamic_section}")
    add_library(re2::re2 SHARED IMPORTED)
    set_target_properties(re2::re2 PROPERTIES IMPORTED_SONAME ${soname})
  else()
    add_library(re2::re2 STATIC IMPORTED)
  endif()
  set_target_properties(re2::re2 PROPERTIES IMPORTED_LOCATION ${RE2_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${RE2_INCLUDE_DIR} INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
