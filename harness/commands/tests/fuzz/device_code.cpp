// SPDX-License-Identifier: Apache-2.0
// ELF images, cubins, fat binaries and archives, as bytes in memory.
#include <span>
#include <vector>

#include "harness/code/archive.hpp"
#include "harness/code/cubin.hpp"
#include "harness/code/elf.hpp"
#include "harness/code/fatbin.hpp"
#include "harness/commands/tests/fuzz/reader.hpp"

namespace assay {
namespace {

void look(const std::vector<char>& elf) {
  must_survive([&] {
    const DeviceCode code = device_code(elf);
    for (const std::string& kernel : code.kernels) is_kernel(kernel, "fma_chain<4>");
  });
  must_survive([&] {
    const ElfImage image(elf);
    for (std::size_t i = 0; i < image.sections().size(); ++i) image.relocations(i);
  });
}

const FuzzedReader reader("device_code", [](std::string_view input) {
  const std::span bytes(input.data(), input.size());
  look({bytes.begin(), bytes.end()});
  must_survive([&] {
    if (is_archive(bytes)) archive_members(bytes);
  });
  must_survive([&] {
    if (is_fatbin(bytes)) for_each_cubin(bytes, look);
  });
  must_survive([&] { unpack_lz4(bytes, 4 * bytes.size()); });
});

}  // namespace
}  // namespace assay
