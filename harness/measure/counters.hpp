// SPDX-License-Identifier: Apache-2.0
// Hardware counters of a kernel, through CUPTI's host and range profiler interfaces, opened at run
// time. Counters are collected in launches of their own, never in timed ones.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/callable.hpp"
#include "harness/machine/or_reason.hpp"
#include "harness/target.hpp"

namespace assay {

struct Counter {
  const char* metric;  // CUPTI's name with its rollup
  const char* meaning;
  FeatureSet needs = {};  // of the target
};

// What `assay run --counters` records beside each measurement; counters_test schedules it for every
// chip of every target. Names differ between chips: the tensor memory pipes exist only with
// tcgen05, and some count DRAM reads and writes as operations of the L2.
inline constexpr Counter kCounters[] = {
    {"gpu__time_duration.sum", "duration, ns"},
    {"sm__cycles_active.avg", "cycles with a warp resident, mean over SMs"},
    {"sm__cycles_elapsed.max", "cycles elapsed"},
    {"smsp__inst_executed.sum", "warp instructions"},
    {"sm__inst_executed_pipe_alu.sum", "of which integer and logic"},
    {"sm__inst_executed_pipe_fma.sum", "of which FP32 and IMAD"},
    {"sm__inst_executed_pipe_fp64.sum", "of which FP64"},
    {"sm__inst_executed_pipe_xu.sum", "of which special functions and conversions"},
    {"sm__inst_executed_pipe_lsu.sum", "of which loads and stores"},
    {"sm__inst_executed_pipe_uniform.sum", "of which uniform datapath"},
    {"sm__inst_executed_pipe_tensor.sum", "of which tensor cores (mma, wgmma)"},
    {"sm__inst_executed_pipe_tma.sum", "of which TMA", Feature::tma},
    {"sm__inst_executed_pipe_tc.sum", "of which tcgen05.mma and its kin", Feature::tcgen05},
    {"sm__inst_executed_pipe_tmem.sum", "of which tensor memory", Feature::tcgen05},
    {"sm__pipe_tensor_cycles_active.avg", "cycles the tensor cores worked, mean over SMs"},
    {"sm__pipe_shared_cycles_active.avg",
     "cycles FP64 or tensor cores worked, which share dispatch", Feature::counts_shared_pipe},
    {"sm__pipe_tc_cycles_active.avg", "cycles tcgen05.mma worked, mean over SMs", Feature::tcgen05},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "shared memory wavefronts"},
    {"l1tex__data_bank_conflicts_pipe_lsu.sum", "of which bank conflicts"},
    {"l1tex__t_sector_hit_rate.pct", "L1 hit rate, percent"},
    {"lts__t_bytes.sum", "L2 traffic, bytes"},
    {"lts__t_sector_hit_rate.pct", "L2 hit rate, percent"},
    {"dram__bytes_read.sum", "DRAM reads, bytes", Feature::counts_dram_bytes},
    {"dram__bytes_write.sum", "DRAM writes, bytes", Feature::counts_dram_bytes},
    {"dram__bytes_op_read.sum", "DRAM reads, bytes", Feature::counts_dram_operations},
    {"dram__bytes_op_write.sum", "DRAM writes, bytes", Feature::counts_dram_operations},
};

// The metrics of kCounters that a target's chips have.
std::vector<std::string> counters_for(Target target);

// Values of `metrics` for what `launch_once` launches on GPU `index`, the current device. It is
// called once per pass (three or four for kCounters) and must do the same work each time. Metrics
// that this GPU cannot count are left out of the map. Missing libraries, permissions, another
// profiler, ...: no map, but the reason. Throws only what `launch_once` throws, and Error(failed)
// if its kernel fails.
OrReason<std::map<std::string, double>> collect_counters(int index,
                                                         std::vector<std::string> metrics,
                                                         const Callable<void()>& launch_once);

// Without a GPU, for a chip by NVIDIA's name ("GH100"; AD10x, GB10x and GB20x likewise): which of
// `metrics` it cannot count, and in how many passes it counts all of them.
OrReason<std::vector<std::string>> unschedulable(const std::string& chip,
                                                 const std::vector<std::string>& metrics);
OrReason<int> pass_count(const std::string& chip, const std::vector<std::string>& metrics);

// "counters unavailable: ..." for a CUptiResult from `function`: the reason, and how to mend it.
std::string explain_cupti(int result, std::string_view function);

}  // namespace assay
