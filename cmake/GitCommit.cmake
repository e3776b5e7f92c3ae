# SPDX-License-Identifier: Apache-2.0
# Run at each build: writes OUTPUT, a header that says which commit SOURCE_DIR is at, if that changed.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/ArchiveCommit.cmake)
if(archived_commit MATCHES "^[0-9a-f]+$")
  set(commit ${archived_commit})
else()
  execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#pragma once
namespace assay {
inline constexpr const char* kGitCommit = \"@commit@\";
}
" @ONLY)
