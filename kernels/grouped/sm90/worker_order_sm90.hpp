// SPDX-License-Identifier: Apache-2.0
// With which tile of a raster each worker begins.
//
// A GPU gives neighbours among the clusters to the same GPC, whose SMs get a line from L2 once if
// they ask for it at about the same time. Down a band, eight neighbours have eight tile rows and a
// column between them, and little to share: nine lines of operands for eight tiles. In blocks of 2
// rows and 4 columns they need six. On an H100 products of groups of 16,384 to 32,768 rows were 9
// to 15% faster in bursts so, and fetched a quarter to a third less from DRAM
// (results/h100/2026-11-26-groups-orders).
#pragma once
#include <cuda_runtime_api.h>

#include "kernels/frame/divisor.hpp"

namespace assay::kernels {

class WorkerOrderSm90 {
 public:
  constexpr WorkerOrderSm90() = default;
  // Of so many workers, in a raster of such bands (Raster::band). Where bands have an odd number of
  // rows, and for workers beyond the last whole chunk, everything stays.
  constexpr WorkerOrderSm90(int workers, int band)
      : of_chunk_(kColumns * band),
        band_(band),
        end_(band % kRows == 0 ? workers / (kColumns * band) * (kColumns * band) : 0) {}

  // The index of the worker's first tile, from 0 to workers - 1, each of another worker.
  __host__ __device__ constexpr int at(int worker) const {
    if (worker >= end_) return worker;
    // A chunk is kColumns columns of a band. Its blocks lie below each other.
    const int chunk = of_chunk_.quotient(worker), in_chunk = of_chunk_.rest(worker, chunk);
    const int block = in_chunk / (kRows * kColumns);
    const int column = in_chunk / kRows % kColumns, row = in_chunk % kRows;
    return worker - in_chunk + column * band_ + block * kRows + row;
  }

 private:
  static constexpr int kRows = 2, kColumns = 4;  // of a block; powers of two: divided by without a
                                                 // division

  Divisor of_chunk_;
  int band_ = 1, end_ = 0;
};

}  // namespace assay::kernels
