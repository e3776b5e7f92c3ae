# SPDX-License-Identifier: Apache-2.0
# `cmake --install`, and what find_package(assay) then gives another project: assay::commands (the
# whole command line; it brings assay::harness along), assay::model (the host model), assay::kernel_frame (operands, checks and
# baselines of kernels) and assay_add_probes() and assay_add_ptx(). See examples/.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Fetched dependencies are not installed, and so neither is what is linked to them.
foreach(dependency fmt CLI11 nlohmann_json benchmark re2)
  if(NOT ${dependency}_FOUND)
    message(STATUS "assay: no install rules, since ${dependency} is fetched and not installed here")
    return()
  endif()
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
set_target_properties(assay_model PROPERTIES EXPORT_NAME model)
set_target_properties(assay_harness PROPERTIES EXPORT_NAME harness)
set_target_properties(assay_commands PROPERTIES EXPORT_NAME commands)
install(TARGETS assay RUNTIME)
install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${CMAKE_COMMAND}
  -DPROGRAM=$<TARGET_FILE:assay> -DCOMPILER=${CMAKE_CXX_COMPILER} -DREADELF=${CMAKE_READELF}
  -DFOLDER=\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/${ASSAY_LINKS}
  -P ${PROJECT_SOURCE_DIR}/cmake/LinkSystemLibraries.cmake)")
install(TARGETS assay_kernels LIBRARY)
set_target_properties(assay_kernel_frame PROPERTIES EXPORT_NAME kernel_frame)
install(TARGETS assay_model assay_harness assay_commands assay_kernel_frame
  assay_fmt assay_json assay_cli11 assay_benchmark assay_re2 EXPORT assayTargets)
install(EXPORT assayTargets NAMESPACE assay:: DESTINATION ${package_dir})

# What instructions cost, for `assay sass`: the newest measured result of every architecture.
install(DIRECTORY results DESTINATION ${CMAKE_INSTALL_DATADIR}/assay
  FILES_MATCHING PATTERN "run.json" PATTERN published EXCLUDE)

# Headers keep their place below the root, so that #include "harness/probe.hpp" holds there too.
install(DIRECTORY harness DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay-root
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh" PATTERN tests EXCLUDE)
install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/harness
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay-root)
install(DIRECTORY kernels/frame kernels/baselines
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay-root/kernels
  FILES_MATCHING PATTERN "*.hpp" PATTERN tests EXCLUDE)
install(DIRECTORY kernels/c_api/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")

# The table of targets, which AssayTargets.cmake reads, is one of them.
set(target_table ${CMAKE_INSTALL_INCLUDEDIR}/assay-root/harness/target_table.hpp)
configure_package_config_file(cmake/assayConfig.cmake.in assayConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS target_table)
write_basic_package_version_file(assayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/AssayTargets.cmake cmake/CudaInCmake325.cmake cmake/Findre2.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/assayConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/assayConfigVersion.cmake
  DESTINATION ${package_dir})
