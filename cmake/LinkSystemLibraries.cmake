# SPDX-License-Identifier: Apache-2.0
# cmake -DPROGRAM= -DFOLDER= -DCOMPILER= -DREADELF= -P: puts links to the system's libraries that
# PROGRAM is linked to into FOLDER, which its RPATH names. So the loader takes them from there, and
# not from where LD_LIBRARY_PATH says before the program can drop what that should not hold. A RPATH
# of the system's own folder would also decide which libcuda is taken, and that is for
# LD_LIBRARY_PATH to say: CUDA's forward compatibility rests on it. On a machine that has the
# libraries elsewhere the links lead nowhere, and the loader looks on.
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${READELF} -d ${PROGRAM} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*" lines "${dynamic}")
foreach(line IN LISTS lines)
  string(REGEX REPLACE ".*Shared library: .(.*).$" "\\1" name "${line}")
  if(EXISTS ${FOLDER}/${name} AND NOT IS_SYMLINK ${FOLDER}/${name})
    continue()  # carried along
  endif()
  execute_process(COMMAND ${COMPILER} -print-file-name=${name} OUTPUT_VARIABLE file
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(IS_ABSOLUTE "${file}")
    cmake_path(GET file PARENT_PATH system)
    file(REAL_PATH ${system} system)
    file(CREATE_LINK ${system}/${name} ${FOLDER}/${name} SYMBOLIC)
  endif()
endforeach()
