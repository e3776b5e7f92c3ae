// SPDX-License-Identifier: Apache-2.0
// With which tile of a raster each worker begins.
//
// A GPU gives neighbours among the clusters to the same GPC, whose SMs get a line from L2 once if
// they ask for it at about the same time. Down a band, eight neighbours have eight tile rows and a
// column between them, and little to share: nine lines of operands for eight tiles. In blocks of 2
// rows and 4 columns they need six. On H100s the form of 128x160 was 5 to 13% faster in bursts with
// it; of eight groups of 2,048 rows in the mean by 28,672 x 4,096 it read 9.2 to 9.6 GB from
// DRAM in place of 10.4 to 14.4 (results/h100/2026-11-26-groups-orders/counters.csv).
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
