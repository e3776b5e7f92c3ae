// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/plan_sm90.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "harness/error.hpp"
#include "harness/ptx/descriptor/tensor_map.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/launch.hpp"
#include "kernels/frame/matrix_shape.hpp"
#include "kernels/frame/workers/resident.hpp"
#include "kernels/frame/workers/worker_places.hpp"
#include "kernels/frame/workers/workspace.hpp"
#include "kernels/gemm/sm90/arguments_sm90.hpp"
#include "kernels/gemm/sm90/parts_sm90.hpp"

namespace assay::kernels {
namespace {

CUtensorMapDataType map_type(const std::string& type) {
  if (type == "bf16") return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if (type == "f16") return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  if (type == "f32") return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

// A matrix of `rows` rows without gaps.
ptx::TensorMapShape map_of(const void* base, const std::string& type, int rows, int columns,
                           int box_rows, int box_columns, ptx::Swizzle swizzle) {
  ptx::TensorMapShape shape =
      matrix_shape(map_type(type), base, rows, columns, columns, box_rows, box_columns, swizzle);
  // 256 bytes fetch lines in vain where rows do not begin on a line: 5% slower at k = 3000.
  shape.l2_promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  return shape;
}

OutputType output_type(const std::string& type) {
  return type == "f32" ? OutputType::f32 : type == "f16" ? OutputType::f16 : OutputType::bf16;
}

}  // namespace

std::string GemmChoiceSm90::text() const {
  const std::string order = band == kUsualBand ? "" : fmt::format(" band {}", band);
  if (parts > 1) return fmt::format("{} split {}{}", variant->name, parts, order);
  if (stream_tiles == 0) return variant->name + order;
  return fmt::format("{} stream {} over {}{}", variant->name, stream_tiles, workers, order);
}

GemmLaunchSm90 launch_of_gemm_sm90(const GemmProblem& problem, const GemmOperands& operands,
                                   const GemmChoiceSm90& choice) {
  const GemmVariantSm90& v = *choice.variant;
  if (choice.workers > WorkerPlaces::kMost)
    throw Error(ExitCode::defect, fmt::format("gemm {}: {} workers, not at most {}", v.name,
                                              choice.workers, WorkerPlaces::kMost));
  const auto [m, n, k] = std::tuple(problem.m, problem.n, problem.k);
  const int rows = v.swapped ? n : m, columns = v.swapped ? m : n;
  const void* const p = v.swapped ? operands.b : operands.a;
  const void* const q = v.swapped ? operands.a : operands.b;
  GemmLaunchSm90 l{.variant = &v};
  const auto operand = [&](const void* data, const std::string& type, int major, int extent,
                           int box_0, int box_1) {
    return major == 0 ? map_of(data, type, extent, k, box_1, box_0, ptx::Swizzle::bytes128)
                      : map_of(data, type, k, extent, box_1, box_0, ptx::Swizzle::bytes128);
  };
  l.p = operand(p, v.type_p, v.major_p, rows, v.box_p(0), v.box_p(1));
  l.q = operand(q, v.type_q, v.major_q, columns, v.box_q(0), v.box_q(1));
  // Of a k-major operand's last rows, a box of no more.
  l.edge_p = l.p;
  l.edge_q = l.q;
  const auto cut = [](ptx::TensorMapShape& map, int extent, int share) {
    if (extent % share != 0) map.box[1] = static_cast<std::uint32_t>(extent % share);
  };
  if (v.major_p == 0) cut(l.edge_p, rows, v.box_p(1));
  if (v.major_q == 0) cut(l.edge_q, columns, v.box_q(1));

  // Boxes of D and of C have 128 bytes of its rows, or less of narrow tiles that are not swapped.
  const std::string& d_type = problem.d_type();
  const int box_columns = d_type == "f32" ? 32 : 64;
  const int store_columns = std::min(v.store_columns, box_columns);
  if (v.swapped) {
    l.d = map_of(operands.d, d_type, m, n, store_columns, box_columns, ptx::Swizzle::bytes128);
  } else {
    l.d = map_of(operands.d, d_type, m, n, 16, store_columns,
                 store_columns == box_columns ? ptx::Swizzle::bytes128
                 : store_columns > 16         ? ptx::Swizzle::bytes64
                                              : ptx::Swizzle::bytes32);
  }
  // A map must be one where it is not used, too.
  l.c = map_of(problem.beta != 0 ? operands.c : operands.d, d_type, m, n,
               v.swapped ? v.tile_n : v.tile_m, box_columns, ptx::Swizzle::bytes128);

  GemmArgumentsSm90& a = l.args;
  const Raster raster{.rows = divide_up(rows, v.tile_m * v.cluster_m),
                      .columns = divide_up(columns, v.tile_n * v.cluster_n),
                      .band = choice.band};
  a.schedule = GemmSchedule(raster, divide_up(k, v.tile_k), choice.stream_tiles, choice.workers,
                            choice.parts,
                            worker_places(choice.workers, v.cluster_m, v.cluster_n, raster.columns,
                                          std::min(raster.band, raster.rows)));
  a.first = FirstStepsSm90(a.schedule);
  a.p_read_once = a.schedule.raster.columns() == 1;
  a.alpha = problem.alpha;
  a.beta = problem.beta;
  a.activation = static_cast<int>(problem.activation);
  a.adds_c = problem.beta != 0;
  a.type = output_type(problem.d_type());
  a.rows = rows;
  a.columns = columns;
  const float* const scale_p = v.swapped ? operands.scale_b : operands.scale_a;
  const float* const scale_q = v.swapped ? operands.scale_a : operands.scale_b;
  if (problem.scaling == Scaling::tensor) {
    a.tensor_scale_p = scale_p;
    a.tensor_scale_q = scale_q;
  } else if (problem.scaling == Scaling::row) {
    a.row_scale = scale_p;
    a.column_scale = scale_q;
  }
  if (problem.bias) a.bias = operands.bias;
  a.plain = problem.plain();
  a.half_operands = problem.type == "f16";

  l.grid = choice.workers * v.cluster_size();
  const bool whole = choice.stream_tiles == 0 && choice.parts == 1;
  const int steps = divide_up(raster.count(), choice.workers) * a.schedule.k_steps * v.depth;
  l.early = !whole || !gains_by_places(v.tile_m, v.tile_n, v.cluster_m, v.cluster_n, raster.rows,
                                       raster.columns, steps);
  if (choice.parts == 1) {
    a.meeting =
        step_meeting(choice.workers, 1.0 * a.schedule.k_steps * raster.count() / choice.workers);
  } else {
    l.reduce =
        reduce_of_sm90(v, a.schedule.raster, choice.parts, rows, columns, a.type, operands.d);
    l.reduce.swapped = v.swapped;
    l.reduce.plain = a.plain;
    l.reduce.activation = a.activation;
    l.reduce.alpha = a.alpha;
    l.reduce.beta = a.beta;
    l.reduce.bias = a.bias;
    l.reduce.c = a.adds_c ? operands.c : nullptr;
    l.reduce.tensor_scale_p = a.tensor_scale_p;
    l.reduce.tensor_scale_q = a.tensor_scale_q;
    l.reduce.row_scale = a.row_scale;
    l.reduce.column_scale = a.column_scale;
  }
  if (choice.stream_tiles > 0 || choice.parts > 1)
    l.workspace_bytes = bytes_of_partials_sm90(v, l.grid);
  return l;
}

void give_workspace_sm90(GemmLaunchSm90& launch, void* workspace) {
  launch.args.meeting = with_counter(launch.args.meeting, workspace);
  launch.args.flags = static_cast<std::uint32_t*>(workspace);
  launch.args.partials = partials_sm90(workspace);
  launch.reduce.partials = launch.args.partials;
}

Plan plan_gemm_sm90(const GemmProblem& problem, const GemmOperands& operands,
                    const GemmChoiceSm90& choice) {
  const GemmLaunchSm90 launch = launch_of_gemm_sm90(problem, operands, choice);
  const GemmVariantSm90& v = *launch.variant;
  // Lets the kernel have its shared memory.
  resident_clusters(v.kernel, v.cluster_size(), v.threads, v.shared_bytes, "gemm " + v.name);
  return {.variant = choice.text(),
          .run = [l = launch, p = ptx::encode_tensor_map(launch.p),
                  q = ptx::encode_tensor_map(launch.q), d = ptx::encode_tensor_map(launch.d),
                  edge_p = ptx::encode_tensor_map(launch.edge_p),
                  edge_q = ptx::encode_tensor_map(launch.edge_q),
                  c = ptx::encode_tensor_map(launch.c)](cudaStream_t stream) mutable {
            if (l.workspace_bytes > 0) {
              give_workspace_sm90(l, workspace(stream, l.workspace_bytes));
            } else {
              l.args.meeting = with_counter_of(l.args.meeting, stream);
            }
            const GemmVariantSm90& own = *l.variant;
            void* arguments[] = {&p, &q, &d, &edge_p, &edge_q, &c, &l.args};
            if (own.plain) arguments[5] = &l.args;  // C is nothing to it
            launch_kernel(own.kernel,
                          {.ctas = l.grid,
                           .threads = own.threads,
                           .shared_bytes = own.shared_bytes,
                           .early = l.early},
                          arguments, stream);
            if (l.reduce.parts > 0) launch_reduce_sm90(own.reduce.kernel, l.reduce, stream);
          }};
}

}  // namespace assay::kernels
