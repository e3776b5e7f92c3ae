// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/launches.hpp"

#include <cuda.h>

#include <memory>
#include <type_traits>

#include "harness/cuda.hpp"
#include "harness/error.hpp"

namespace assay {
namespace {

// A function of the driver, null where it has none of that name.
template <class Function>
Function* driver_function(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  check(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found));
  return found == cudaDriverEntryPointSuccess ? reinterpret_cast<Function*>(function) : nullptr;
}

// The runtime knows only kernels that it has a symbol of, the driver those of loaded cubins too.
// CUDA 12.3 is the first that has names.
struct Driver {
  decltype(&cuGraphKernelNodeGetParams) params =
      driver_function<CUresult(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*)>("cuGraphKernelNodeGetParams",
                                                                       12000);
  decltype(&cuFuncGetName) function_name =
      driver_function<CUresult(const char**, CUfunction)>("cuFuncGetName", 12030);
  decltype(&cuKernelGetName) kernel_name =
      driver_function<CUresult(const char**, CUkernel)>("cuKernelGetName", 12030);

  bool complete() const { return params && function_name && kernel_name; }
};

KernelLaunch launch_of(const Driver& driver, CUgraphNode node) {
  CUDA_KERNEL_NODE_PARAMS p = {};
  const char* name = nullptr;
  CUresult status = driver.params(node, &p);
  if (status == CUDA_SUCCESS)
    status = p.func ? driver.function_name(&name, p.func) : driver.kernel_name(&name, p.kern);
  if (status != CUDA_SUCCESS || !name)
    throw Error(ExitCode::failed, "the driver does not say which kernel a captured launch is of");
  return {.kernel = name,
          .grid = {p.gridDimX, p.gridDimY, p.gridDimZ},
          .block = {p.blockDimX, p.blockDimY, p.blockDimZ},
          .shared_bytes = p.sharedMemBytes};
}

void add_launches(const Driver& driver, cudaGraph_t graph, std::vector<KernelLaunch>& launches) {
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0) check(cudaGraphGetNodes(graph, nodes.data(), &count));
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    check(cudaGraphNodeGetType(node, &type));
    if (type == cudaGraphNodeTypeKernel) launches.push_back(launch_of(driver, node));
    if (type != cudaGraphNodeTypeGraph) continue;
    cudaGraph_t child = nullptr;
    check(cudaGraphChildGraphNodeGetGraph(node, &child));
    add_launches(driver, child, launches);
  }
}

}  // namespace

std::vector<KernelLaunch> kernels_launched(cudaStream_t stream, const Callable<void()>& work) {
  static const Driver driver;
  if (!driver.complete()) return {};
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  bool captured = true;
  try {
    work();
  } catch (...) {  // mostly of a call that is not allowed meanwhile; the stream must come out of it
    captured = false;
  }
  cudaGraph_t ended = nullptr;
  captured = cudaStreamEndCapture(stream, &ended) == cudaSuccess && captured;
  const std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, decltype(&cudaGraphDestroy)> graph(
      ended, cudaGraphDestroy);
  cudaGetLastError();  // a capture that was broken off is noted as an error
  std::vector<KernelLaunch> launches;
  if (captured) add_launches(driver, graph.get(), launches);
  return launches;
}

}  // namespace assay
