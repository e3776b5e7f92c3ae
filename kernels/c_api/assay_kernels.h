/* SPDX-License-Identifier: Apache-2.0 */
/* assay's kernels for other programs: libassay_kernels.so.
 *
 * Every function works on the caller's device memory, enqueues on the caller's stream (a
 * cudaStream_t of the device that is current) and returns without waiting. It returns 0, or an
 * assay exit status (README) and leaves one line for assay_last_error(). Nothing is launched in
 * that case. Refused are null pointers, pointers that are not aligned (to 16 bytes, where a
 * function does not say otherwise), memory and streams that are not of the current device, sizes
 * that are not positive or above 2^31 - 1, and what no kernel does.
 *
 * Hopper's kernels are launched early (programmatic dependent launch): their CTAs are set up while
 * the kernel before them on the stream ends, and wait for all of it before they touch memory. They
 * let a kernel behind them do the same, if it was launched so; it has to wait too.
 *
 * Dense products (assay_gemm..., and bf16 of assay_skinny) that share k among CTAs keep their sums
 * in memory of the library's own, some MB for each stream, and of cudaStreamPerThread for each
 * thread, as long as the process lives. So
 *   - calls for one stream come one after another, whatever threads they are from;
 *   - before a stream is captured into a graph, call the function once with the same sizes on that
 *     stream: a call that has to make memory is refused (2) during a capture;
 *   - a graph has the memory of the stream that it was captured on: it must not run at the same
 *     time as such calls on that stream, or as another graph captured on it;
 *   - the first such call on a stream that has the handle of a destroyed one waits for the device,
 *     where launches of that one may still run; during a capture it does not.
 * Long products of Hopper's (assay_gemm..., assay_grouped...) keep their CTAs in step by a counter
 * in such memory, 16 KiB for each stream. Theirs are right in all these cases. They only take
 * longer where a capture finds no memory, and on a stream whose counter two launches once shared:
 * the count may be wrong from then on, and CTAs wait for nobody. */
#ifndef ASSAY_KERNELS_H
#define ASSAY_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_KERNELS_API __attribute__((visibility("default")))

/* Why the last call of this thread that failed did so. Valid until its next call that fails; "" if
 * none has. */
ASSAY_KERNELS_API const char* assay_last_error(void);

/* The commit this library was built from; "" outside a git checkout. */
ASSAY_KERNELS_API const char* assay_commit(void);

enum { ASSAY_BF16 = 0, ASSAY_F16 = 1, ASSAY_F32 = 2, ASSAY_E4M3 = 3, ASSAY_E5M2 = 4 };

/* First letter A, second B. A is [m, k] (N) or stored as its transpose [k, m] (T); B is [k, n] (N)
 * or stored as its transpose [n, k] (T). All matrices are row-major without gaps. */
enum { ASSAY_NT = 0, ASSAY_NN = 1, ASSAY_TN = 2, ASSAY_TT = 3 };

/* GELU by the error function, and by tanh as x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). The
 * latter's tanh is the GPU's own: a result may be wrong by 2^-11.9 |x|. */
enum { ASSAY_IDENTITY = 0, ASSAY_GELU = 1, ASSAY_SILU = 2, ASSAY_GELU_TANH = 3 };

/* One factor for a matrix; or one for each row of A and each column of B. */
enum { ASSAY_SCALE_TENSOR = 1, ASSAY_SCALE_ROW = 2 };

/* D[m, n] = A[m, k] * B[n, k]^T: bf16, row-major without gaps, f32 accumulation. n and k are
 * multiples of 8. */
ASSAY_KERNELS_API int assay_gemm_bf16_nt(void* d, const void* a, const void* b, int m, int n, int k,
                                         void* stream);

/* D[m, n] = sum over blocks kb of 128 along k of scale_a[kb][m] * scale_b[n / 128][kb] * (A[m, k] *
 * B[n, k]^T over the block): A and B e4m3, D bf16, row-major without gaps; f32 scales. scale_a has
 * ceil(k / 128) rows, m floats rounded up to a multiple of 4 apart; scale_b ceil(n / 128) rows,
 * ceil(k / 128) floats rounded up to a multiple of 4 apart. k is a multiple of 16 and n of 8;
 * pointers are aligned to 16 bytes. sm_89 and newer. */
ASSAY_KERNELS_API int assay_gemm_e4m3_block128_nt(void* d, const void* a, const void* b,
                                                  const float* scale_a, const float* scale_b, int m,
                                                  int n, int k, void* stream);

/* Groups of rows, each with a B of its own: D[row, n] = sum over k of A[row, k] * B[group][n, k].
 * Contiguous (masked 0): A [rows, k] and D [rows, n] are sorted by group, and sizes[g] is where
 * group g's rows end. Masked: A [groups, rows, k] and D [groups, rows, n], of which the first
 * sizes[g] rows of a group are used. `sizes` lies on the device, an int for each group, aligned to
 * 4 bytes; groups may be empty. Rows of no group are not written. B is [groups, n, k]. Types and
 * alignment as in assay_gemm_bf16_nt and assay_gemm_e4m3_block128_nt; masked, scale_a is one of a
 * group's A after the other, and scale_b is one of a group's B after the other. sm_90. */
ASSAY_KERNELS_API int assay_grouped_bf16_nt(void* d, const void* a, const void* b, const int* sizes,
                                            int masked, int groups, int rows, int n, int k,
                                            void* stream);
ASSAY_KERNELS_API int assay_grouped_e4m3_block128_nt(void* d, const void* a, const void* b,
                                                     const float* scale_a, const float* scale_b,
                                                     const int* sizes, int masked, int groups,
                                                     int rows, int n, int k, void* stream);

/* Weight gradients of groups: D[g][k, n] = A^T B over the rows of group g, which sizes[g] ends. A
 * [rows, k], B [rows, n] and D [groups, k, n] are bf16; n and k are multiples of 8. D of a group
 * without rows is 0. sm_90. */
ASSAY_KERNELS_API int assay_grouped_gradient_bf16(void* d, const void* a, const void* b,
                                                  const int* sizes, int groups, int rows, int n,
                                                  int k, void* stream);

/* D = activation(alpha * A B + beta * C + bias), sums in f32. A and B are of `type`, bf16 or f16;
 * C, D and the bias of `type_d`, bf16, f16 or f32. C is read if beta is not 0, and may be D. The
 * bias has one value per column; null: none. n and k, and m where A is transposed, are multiples
 * of 8.
 */
ASSAY_KERNELS_API int assay_gemm(void* d, const void* a, const void* b, const void* c,
                                 const void* bias, int type, int type_d, int layout, int64_t m,
                                 int64_t n, int64_t k, float alpha, float beta, int activation,
                                 void* stream);

/* The same of A[m, k] * B[n, k]^T in 8-bit floats, e4m3 or e5m2 each, whose sums are multiplied by
 * scale_a and scale_b: f32 in device memory, aligned to 4 bytes, 1 each or m and n, as `scaling`
 * says. D is bf16, f16 or f32. n and k are multiples of 16. */
ASSAY_KERNELS_API int assay_gemm_fp8(void* d, const void* a, const void* b, const float* scale_a,
                                     const float* scale_b, const void* c, const void* bias,
                                     int type_a, int type_b, int type_d, int scaling, int64_t m,
                                     int64_t n, int64_t k, float alpha, float beta, int activation,
                                     void* stream);

/* The shapes that products are measured in, by an index from 0; 2 (usage) behind the last one.
 * `set`: 0 quick, 1 full, 2 survey. `model` and `layer` are "" for a shape of no model. */
ASSAY_KERNELS_API int assay_gemm_shape(int index, int* m, int* n, int* k, int* set,
                                       const char** model, const char** layer);

/* D[m, n] = X[m, k] * W[n, k]^T for m from 1 to 64: X and D bf16, row-major without gaps, f32
 * accumulation; W packed along k, the first element of a byte in its low bits. `weights` says how:
 *   "bf16"  k a multiple of 8
 *   "s8"    two's complement, scales f32 [n]; k a multiple of 16
 *   "e4m3"  scales f32 [n]; k a multiple of 16
 *   "s4"    two's complement, scales bf16 [n][k/128]; k a multiple of 128
 *   "s2"    two's complement, -2 to 1, scales bf16 [n][k/128]; k a multiple of 128
 *   "mxf4"  e2m1, scales [n][k/32], powers of two (e8m0); k a multiple of 32
 *   "nvf4"  e2m1, scales [n][k/16], e4m3, and *scale for all; k a multiple of 32
 * Each row of s4, s2, mxf4 and nvf4 scales begins at a multiple of 16 bytes: the bytes between the
 * end of one row and the next are not used. d is aligned to 2 bytes, x, w and scales to 16, scale
 * to 4. What a packing lacks may be null. n is at most 2^30 and k at most 2^22. sm_89 and newer. */
ASSAY_KERNELS_API int assay_skinny(const char* weights, void* d, const void* x, const void* w,
                                   const void* scales, const float* scale, int m, int n, int k,
                                   void* stream);

/* The layers that these products are measured in, by an index from 0; 2 (usage) behind the last
 * one. `set`: 0 quick, 1 full. `model` and `layer` are "" for a size of no model. */
ASSAY_KERNELS_API int assay_skinny_layer(int index, int* n, int* k, int* set, const char** model,
                                         const char** layer);

#ifdef __cplusplus
}
#endif
#endif
