/* SPDX-License-Identifier: Apache-2.0 */
/* assay's kernels for other programs: libassay_kernels.so.
 *
 * Every function works on the caller's device memory, enqueues on the caller's stream (a
 * cudaStream_t of the device that is current) and returns without waiting. It returns 0, or an
 * assay exit status (README) and leaves one line for assay_last_error(). Nothing is launched in
 * that case. */
#ifndef ASSAY_KERNELS_H
#define ASSAY_KERNELS_H

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_KERNELS_API __attribute__((visibility("default")))

/* Why the last call of this thread that failed did so. Valid until its next call that fails; "" if
 * none has. */
ASSAY_KERNELS_API const char* assay_last_error(void);

/* The commit this library was built from; "" outside a git checkout. */
ASSAY_KERNELS_API const char* assay_commit(void);

/* D[m, n] = A[m, k] * B[n, k]^T: bf16, row-major without gaps, f32 accumulation. n and k are
 * multiples of 8; pointers are aligned to 16 bytes. sm_90. */
ASSAY_KERNELS_API int assay_gemm_bf16_nt(void* d, const void* a, const void* b, int m, int n, int k,
                                         void* stream);

/* D[m, n] = X[m, k] * W[n, k]^T for m from 1 to 64: X and D bf16, row-major without gaps, f32
 * accumulation; W packed along k, the first element of a byte in its low bits. `weights` says how:
 *   "bf16"  k a multiple of 8
 *   "s8"    two's complement, scales f32 [n]; k a multiple of 16
 *   "e4m3"  scales f32 [n]; k a multiple of 16
 *   "s4"    two's complement, scales bf16 [n][k/128]; k a multiple of 128
 *   "s2"    two's complement, -2 to 1, scales bf16 [n][k/128]; k a multiple of 128
 *   "mxf4"  e2m1, scales [n][k/32], powers of two (e8m0); k a multiple of 32
 *   "nvf4"  e2m1, scales [n][k/16], e4m3, and *scale for all; k a multiple of 32
 * x, w and scales are aligned to 16 bytes; what a packing lacks may be null. sm_89 and newer. */
ASSAY_KERNELS_API int assay_skinny(const char* weights, void* d, const void* x, const void* w,
                                   const void* scales, const float* scale, int m, int n, int k,
                                   void* stream);

#ifdef __cplusplus
}
#endif
#endif
