// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/graph.hpp"

#include "harness/cuda.hpp"

namespace assay {

ExecutableGraph::ExecutableGraph(cudaGraph_t graph) {
  check(cudaGraphInstantiate(&executable_, graph));
}
ExecutableGraph::~ExecutableGraph() {
  if (executable_) cudaGraphExecDestroy(executable_);
}
void ExecutableGraph::launch(cudaStream_t stream) const {
  check(cudaGraphLaunch(executable_, stream));
}

Graph::Graph() { check(cudaGraphCreate(&graph_, 0)); }
Graph::~Graph() {
  if (graph_) cudaGraphDestroy(graph_);
}

cudaGraphNode_t Graph::add(const void* kernel, const LaunchShape& shape, void** arguments,
                           const std::vector<cudaGraphNode_t>& after) {
  cudaGraphNodeParams node{};
  node.type = cudaGraphNodeTypeKernel;
  node.kernel.func = const_cast<void*>(kernel);
  node.kernel.gridDim = shape.ctas;
  node.kernel.blockDim = shape.threads;
  node.kernel.kernelParams = arguments;
  cudaGraphEdgeData edge{};
  if (shape.programmatic) {
    edge.from_port = cudaGraphKernelNodePortProgrammatic;
    edge.type = cudaGraphDependencyTypeProgrammatic;
  }
  const std::vector<cudaGraphEdgeData> edges(after.size(), edge);
  cudaGraphNode_t added = nullptr;
  check(cudaGraphAddNode(&added, graph_, after.data(), edges.data(), after.size(), &node));
  const auto set = [&](cudaLaunchAttributeID id, const cudaLaunchAttributeValue& value) {
    check(cudaGraphKernelNodeSetAttribute(added, id, &value));
  };
  if (shape.cluster) {
    cudaLaunchAttributeValue value{};
    value.clusterDim = {shape.cluster, 1, 1};
    set(cudaLaunchAttributeClusterDimension, value);
  }
  if (shape.cooperative) {
    cudaLaunchAttributeValue value{};
    value.cooperative = 1;
    set(cudaLaunchAttributeCooperative, value);
  }
  return added;
}

}  // namespace assay
