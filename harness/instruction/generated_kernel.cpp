// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction/generated_kernel.hpp"

#include "harness/callable.hpp"
#include "harness/device.hpp"

namespace assay {

void launch_generated(const void* kernel, int ctas, int threads, const Launch& launch,
                      const void* in, void* out, std::size_t shared_bytes) {
  StopwatchRecord* records = launch.records;
  auto iterations = static_cast<std::uint32_t>(launch.iterations);
  std::uint32_t zero = 0;
  void* arguments[] = {&records, &in, &out, &iterations, &zero};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(ctas));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared_bytes;
  config.stream = launch.stream;
  check(cudaLaunchKernelExC(&config, kernel, arguments));
}

GeneratedKernel::GeneratedKernel(State& s, const std::string& entry, int threads,
                                 std::size_t in_bytes, std::size_t out_bytes,
                                 std::size_t shared_bytes, int cluster)
    : s_(s),
      kernel_(s.generated_kernel(entry)),
      threads_(threads),
      cluster_(cluster),
      in_bytes_(in_bytes),
      out_bytes_(out_bytes),
      shared_bytes_(shared_bytes),
      in_(s.allocate(in_bytes)),
      out_(s.allocate(out_bytes)) {
  if (shared_bytes > 0)
    check(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)));
}

void GeneratedKernel::upload(const void* values, std::size_t bytes) const {
  s_.require(bytes == in_bytes_, "a generated kernel got inputs of another size than it reads");
  // On the stream: nothing orders it with what the default stream does.
  check(cudaMemcpyAsync(in_, values, bytes, cudaMemcpyHostToDevice, s_.stream()));
  check(cudaStreamSynchronize(s_.stream()));
}

void GeneratedKernel::launch(int ctas, int threads, const Launch& launch) const {
  launch_generated(kernel_, ctas, threads, launch, in_, out_, shared_bytes_);
}

void GeneratedKernel::run_once(std::int64_t iterations, void* outputs) const {
  Buffer records(static_cast<std::size_t>(cluster_) * sizeof(StopwatchRecord));
  check(cudaMemsetAsync(out_, 0xff, out_bytes_, s_.stream()));
  launch(cluster_, threads_, {s_.stream(), iterations, records.as<StopwatchRecord>()});
  check(cudaStreamSynchronize(s_.stream()));
  check(cudaMemcpy(outputs, out_, out_bytes_, cudaMemcpyDeviceToHost));
}

Callable<void(const Launch&)> GeneratedKernel::on_every_sm(int threads) const {
  return [self = *this, threads, ctas = s_.device().sm_count / cluster_ * cluster_](
             const Launch& l) { self.launch(ctas, threads, l); };
}

}  // namespace assay
