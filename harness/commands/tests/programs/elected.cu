// SPDX-License-Identifier: Apache-2.0
// Thread 0 counts on being the one that elect.sync elects, which no manual says.
extern "C" __global__ void elected(unsigned* out) {
  __shared__ unsigned word;
  unsigned chosen;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "elect.sync _|p, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(chosen));
  if (threadIdx.x == 0) word = 0;
  __syncwarp();
  if (chosen != 0) word = 1;
  if (threadIdx.x == 0) *out = word;
}
