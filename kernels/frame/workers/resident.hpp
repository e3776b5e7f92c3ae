// SPDX-License-Identifier: Apache-2.0
// How large a persistent grid is.
#pragma once
#include <string>

namespace assay::kernels {

// Clusters of `ctas` CTAs, each of `threads` threads and `shared_bytes` of dynamic shared memory,
// that fit on the current device at once. GPCs with an odd number of free SMs make this less than
// SMs / ctas. Asked once per device and kernel: the answer takes longer than a small product. Lets
// the kernel have its shared memory. Thread-safe. 0: none fits.
int clusters_that_fit(const void* kernel, int ctas, int threads, int shared_bytes);

// The same, but throws Error(unfit), naming `name`, if none fits.
int resident_clusters(const void* kernel, int ctas, int threads, int shared_bytes,
                      const std::string& name);

}  // namespace assay::kernels
