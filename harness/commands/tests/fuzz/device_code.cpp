// SPDX-License-Identifier: Apache-2.0
// ELF images, cubins, fat binaries and archives, as bytes in memory.
#include <span>
#include <vector>

#include "harness/code/archive.hpp"
#include "harness/code/cubin.hpp"
#include "harness/code/elf.hpp"
#include "harness/code/fatbin.hpp"
#include "harness/commands/tests/fuzz/reader.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  const std::span bytes(reinterpret_cast<const char*>(data), size);
  const auto look = [](const std::vector<char>& elf) {
    must_survive([&] {
      const DeviceCode code = device_code(elf);
      for (const std::string& kernel : code.kernels) is_kernel(kernel, "fma_chain<4>");
    });
    must_survive([&] {
      const ElfImage image(elf);
      for (std::size_t i = 0; i < image.sections().size(); ++i) image.relocations(i);
    });
  };
  look({bytes.begin(), bytes.end()});
  must_survive([&] {
    if (is_archive(bytes)) archive_members(bytes);
  });
  must_survive([&] {
    if (is_fatbin(bytes)) for_each_cubin(bytes, look);
  });
  must_survive([&] { unpack_lz4(bytes, 4 * size); });
  return 0;
}
