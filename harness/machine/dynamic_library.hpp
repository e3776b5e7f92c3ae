// SPDX-License-Identifier: Apache-2.0
// NVIDIA's libraries and tools (and libzstd, which packs device code), found at run time: one
// binary starts on machines that lack any of them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

enum class Library : std::uint8_t {
  cuda_driver,
  nvml,
  cupti,
  nvperf_host,
  nccl,
  nvjitlink,
  cublaslt,
  zstd
};

// A library opened by dlopen (RTLD_NOW | RTLD_LOCAL). A cheap handle to copy. Libraries are never
// closed again: the driver and NCCL keep threads that would outlive their code.
class DynamicLibrary {
 public:
  // Searches, in this order: the override variable (ASSAY_NCCL_LIBRARY, ...), the loader's own
  // path, the toolkit found at build time and what set-up added to it, $CUDA_HOME, /usr/local/cuda,
  // a `.toolchain` or `.venv` above the executable, and Python's site-packages/nvidia. Throws
  // Error(unfit) naming the library, the reason and the override variable.
  static DynamicLibrary open(Library which);

  // The file open() would open, found without opening it, which takes 0.2 s for cuBLASLt; empty if
  // there is none. Does not see what only the loader's cache (ldconfig) knows.
  static std::string locate(Library which);

  // A function of the library, of the type that it is assigned to, which is its declaration's:
  //   decltype(&ncclGetVersion) get_version = library["ncclGetVersion"];
  // Throws Error(unfit) there if this version of the library has none.
  class Symbol {
   public:
    template <class F>
    operator F*() const {
      return reinterpret_cast<F*>(library_.address(name_, required_));
    }

   private:
    friend class DynamicLibrary;
    Symbol(const DynamicLibrary& library, const char* name, bool required)
        : library_(library), name_(name), required_(required) {}
    const DynamicLibrary& library_;
    const char* name_;
    bool required_;
  };
  Symbol operator[](const char* name) const { return {*this, name, true}; }
  // The same of a function that some versions lack: null there.
  Symbol find(const char* name) const { return {*this, name, false}; }

  // The file that was opened, for the environment section of a result.
  std::string path() const;

 private:
  DynamicLibrary(void* handle, std::string_view title) : handle_(handle), title_(title) {}
  void* address(const char* name, bool required) const;

  void* handle_;
  std::string_view title_;
};

// Path of NVIDIA's tool `name` ("nvdisasm", "cuobjdump"). Searches $ASSAY_NVDISASM (the tool's name
// in capitals), $PATH, $CUDA_HOME/bin, the build-time toolkit, /usr/local/cuda/bin, and a
// `.toolchain/nvidia/*/bin` above the executable; never the current folder, in which anybody's
// files may lie. Throws Error(unfit) if there is none.
std::string find_tool(std::string_view name);

}  // namespace assay
