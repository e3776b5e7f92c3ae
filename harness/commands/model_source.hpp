// SPDX-License-Identifier: Apache-2.0
// What `assay model` runs of a file.
#pragma once
#include <string>
#include <vector>

namespace assay::commands {

// The PTX of a .ptx file, or what nvcc makes of any other for `target` ("sm_90a"), with these
// folders to include from. Throws Error(usage) with a line if the file cannot be read, nvcc refuses
// it, or the assembler rejects the PTX, Error(unfit) without nvcc.
std::string ptx_of_file(const std::string& file, const std::string& target,
                        const std::vector<std::string>& include);

}  // namespace assay::commands
