// SPDX-License-Identifier: Apache-2.0
// A CUDA graph of kernels, and owners of its handles.
#pragma once
#include <cuda_runtime_api.h>

#include <utility>
#include <vector>

#include "probes/launch/stamped.hpp"

namespace assay {

class ExecutableGraph {
 public:
  explicit ExecutableGraph(cudaGraph_t graph);
  ~ExecutableGraph();
  ExecutableGraph(ExecutableGraph&& other) noexcept
      : executable_(std::exchange(other.executable_, nullptr)) {}
  operator cudaGraphExec_t() const { return executable_; }
  void launch(cudaStream_t stream) const;

 private:
  cudaGraphExec_t executable_ = nullptr;
};

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(Graph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  operator cudaGraph_t() const { return graph_; }

  // Adds a kernel behind `after`; if the shape is programmatic, over programmatic edges.
  cudaGraphNode_t add(const void* kernel, const LaunchShape& shape, void** arguments,
                      const std::vector<cudaGraphNode_t>& after);

 private:
  cudaGraph_t graph_ = nullptr;
};

}  // namespace assay
