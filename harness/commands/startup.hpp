// SPDX-License-Identifier: Apache-2.0
// What a program makes sure of before it does anything else.
#pragma once

namespace assay::commands {

// Descriptors 0 to 2 that the caller closed are opened: else the next file opened, such as a
// journal, would take their place and be printed into. Writing to a closed standard output stays an
// error.
void open_closed_descriptors();

// Takes entries that are not absolute (an empty one means the current folder) out of the variables
// that say where programs, libraries and Python packages lie. The loader has read its variable
// when the program starts, so the program starts itself again if that one was such.
void forget_current_folder(char** argv);

}  // namespace assay::commands
