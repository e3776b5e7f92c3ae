// SPDX-License-Identifier: Apache-2.0
// The targets: one row for each holds all that the suite knows of it. Everything else asks for
// features or reads fields, so that a new target is a new enumerator and a new row here, and
// nothing elsewhere. cmake/AssayTargets.cmake reads names, suffixes and defaults from this file,
// too.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace assay {

// `host` stands for probes of the CPU, which need no GPU at all.
enum class Target : std::uint8_t {
  host,
  sm_89,
  sm_90a,
  sm_100a,
  sm_103a,
  sm_110a,
  sm_120a,
  sm_121a,
};

// What a probe may ask of a target. 64 at most.
enum class Feature : std::uint8_t {
  // CTAs, copies and memory.
  clusters,                // clusters of CTAs: their barriers, and each other's shared memory
  cluster_launch_control,  // a running CTA takes over one not yet launched (UGETNEXTWORKID)
  dependent_launch,        // a grid begins while the one before it ends (griddepcontrol)
  setmaxnreg,              // warpgroups give registers back and take others'
  tma,                     // bulk copies and copies of boxes of a tensor
  tma_multicast,           // one bulk copy to several CTAs, without a warning that it is slow
  tma_gather,              // boxes of four rows from anywhere (tile::gather4)
  tma_scatter,             // ... and to anywhere (tile::scatter4)
  mbarrier_unit,           // mbarriers by SYNCS, not by atomics and loads of shared memory
  stmatrix,                // stores of 8 x 8 matrices to shared memory (STSM)
  vector_atomics,          // atomic sums of four f32, and of two bf16, in one instruction
  wide_loads,              // loads of 256 bits by one thread
  nccl_fp8,                // NCCL sums 8-bit floats
  // Matrix multiply-add.
  mma_b1_and,         // mma.sync of bits with AND: BMMA, not a routine
  mma_b1_xor,         // ... with XOR
  mma_block_scale,    // mma.sync with a scale for each block
  mma_f64_m16,        // mma.sync of f64 with 16 rows
  mma_f64_m16_whole,  // ... as one DMMA
  mma_fp8,            // mma.sync of 8-bit floats: QMMA, not conversions and HMMA
  mma_kinds,          // mma.sync spelled with .kind::f8f6f4
  mma_narrow_floats,  // ... of 6 and 4 bits, and sparse 8-bit ones with sums in f16
  mma_s4,             // mma.sync of 4-bit integers: IMMA, not a routine
  mma_s8_m8,          // mma.sync of 8 rows of integers: an IMMA of 8 rows, not half of one of 16
  wgmma,              // the warpgroup's MMA
  tcgen05,            // the fifth generation's MMA, and tensor memory
  tcgen05_integers,   // ... of 8-bit integers
  tcgen05_k96,        // ... with K = 96 for 4-bit floats
  tcgen05_ld_red,     // loads from tensor memory that tell the greatest of what they load
  // Arithmetic.
  bf16_arithmetic,      // bf16 sums, products, comparisons, ex2, tanh, and integers from and to it
  credux,               // a warp's minimum and maximum by CREDUX, not REDUX
  dpx,                  // VIADDMNMX, VIMNMX3 and VHMNMX
  f32_pairs,            // PTX has sums and products of f32x2
  f32_pairs_whole,      // ... each one instruction: FADD2, FMUL2, FFMA2
  f32_three_way,        // PTX has minimum and maximum of three f32
  f32_three_way_whole,  // ... each one instruction: FMNMX3
  fma_oob,              // fma.oob, which takes the NaN of out of bounds for 0
  integer_pairs,        // 16-bit pairs added and compared as such, and .relu of integers
  integers_64,          // IADD.64 and SEL.64, not two of 32 bits
  mixed_fma,            // FP32 sums with 16-bit operands (FHADD, FHFMA)
  narrow_conversions,   // conversion from and to floats of 6 and 4 bits and ue8m0
  packed_ex2,           // ex2 of two 16-bit floats by one MUFU
  redux_f32,            // a warp's minimum and maximum of f32
  stochastic_rounding,  // cvt.rs
  tf32_conversions,     // cvt to tf32 by rounding to even or toward zero
  uniform_arithmetic,   // integers that all threads share on the uniform path
  uniform_floats,       // FP32 there, too
  vabsdiff,             // VABSDIFF and VABSDIFF4
  vimnmx,               // VIMNMX, not IMNMX
  // How ptxas spells or does a thing that every target has.
  typed_vimnmx,         // VIMNMX.S32, and UVIMNMX on the uniform path
  block16_suffix,       // UTCOMMA.BLOCK16, not .4X
  divergence_routines,  // warp-wide instructions get a way aside for diverged warps: a CALL
  dmma_crosses,         // DMMA.8x8x4, not DMMA.884
  lds_scales_index,     // LDS multiplies an index, where others need an LEA
  redg,                 // REDG, not RED, for atomics on global memory without a result
  // What CUPTI counts.
  counts_shared_pipe,      // FP64 and tensor cores as one pipe, since they share dispatch
  counts_dram_bytes,       // DRAM reads and writes as dram__bytes_read and _write
  counts_dram_operations,  // ... as operations of the L2: dram__bytes_op_read and _write
};

class FeatureSet {
 public:
  constexpr FeatureSet() = default;
  constexpr FeatureSet(Feature feature) : bits_(std::uint64_t{1} << static_cast<int>(feature)) {}
  constexpr FeatureSet(std::initializer_list<Feature> features) {
    for (const Feature feature : features) bits_ |= FeatureSet(feature).bits_;
  }
  constexpr FeatureSet operator+(FeatureSet other) const { return of(bits_ | other.bits_); }
  constexpr FeatureSet operator-(FeatureSet other) const { return of(bits_ & ~other.bits_); }
  constexpr bool contains(FeatureSet other) const { return (*this + other).bits_ == bits_; }

 private:
  static constexpr FeatureSet of(std::uint64_t bits) {
    FeatureSet set;
    set.bits_ = bits;
    return set;
  }
  std::uint64_t bits_ = 0;
};

// What the tensor cores of one SM do with elements of a kind. 0 and "": not offered or not known.
struct TensorRate {
  double dense = 0;          // FLOP or integer operations per clock
  const char* counter = "";  // CUPTI 13.0's name of the operations of the target's fastest
                             // instructions, after "sm__ops_path_tensor_"
  double sparse_factor = 2;  // of a dense product's FLOP, A half zeros; 0: no sparse form
};

struct TensorRates {
  TensorRate f64, tf32, f16, bf16;
  TensorRate fp8;     // e4m3, e5m2
  TensorRate mxf8;    // the same with block scales
  TensorRate narrow;  // e3m2, e2m3, e2m1, each in a byte, with and without block scales
  TensorRate fp4;     // packed, with block scales: mxf4, nvf4
  TensorRate s8, s4, b1;
};

// Results per clock and SM: the column of a compute capability in "Throughput of Native Arithmetic
// Instructions", CUDA C++ Programming Guide 10 to 12.9 (up to 9.0) and CUDA C++ Best Practices
// Guide 13, 12.1.1 (10.0; 12.0 / 12.1). Pairs of 16-bit floats count as one, as instructions. 0:
// not found in what others quote of the table, or not in one voice.
struct ScalarRates {
  bool listed = false;  // the table has such a column; else what little is known is from elsewhere
  double f32 = 0;
  double half2 = 0;  // pairs of 16-bit floats
  double f64 = 0;
  double mufu = 0;  // reciprocals, roots, logarithms, exponentials, sines
  double ex2 = 0;   // of these ex2 alone
  double iadd3 = 0;
  double imad = 0;
  double logic = 0;   // LOP3, and shifts
  double minmax = 0;  // of integers
  double f32_minmax = 0;
  double compare = 0;
  double count = 0;  // POPC, FLO
  double shuffle = 0;
  double from_integer = 0, to_integer = 0, between_floats = 0;  // conversions
};

struct TargetRow {
  Target target;
  std::string_view name;        // as nvcc, ptxas and nvJitLink spell it
  std::string_view suffix;      // of the names of files with code for it and its like alone
  bool by_default = false;      // compiled for unless other targets are asked for
  int major = 0, minor = 0;     // compute capability
  std::string_view generation;  // NVIDIA's name of it
  std::string_view chips;       // which chips these are, and products with them
  std::string_view profiled;    // CUPTI's names of those it knows, between blanks
  std::string_view assembled;   // spellings that `assay isa` shows as columns, between blanks
  FeatureSet features;
  TensorRates tensor;
  ScalarRates scalar;
};

// What a generation brought, and what kinds of chips share.
inline constexpr FeatureSet kSinceHopper = {Feature::clusters,
                                            Feature::dependent_launch,
                                            Feature::setmaxnreg,
                                            Feature::tma,
                                            Feature::mbarrier_unit,
                                            Feature::stmatrix,
                                            Feature::vector_atomics,
                                            Feature::nccl_fp8,
                                            Feature::mma_f64_m16,
                                            Feature::bf16_arithmetic,
                                            Feature::fma_oob,
                                            Feature::integer_pairs,
                                            Feature::tf32_conversions,
                                            Feature::uniform_arithmetic,
                                            Feature::vimnmx,
                                            Feature::dmma_crosses,
                                            Feature::redg};
inline constexpr FeatureSet kSinceBlackwell =
    kSinceHopper + FeatureSet{Feature::cluster_launch_control,
                              Feature::tma_gather,
                              Feature::wide_loads,
                              Feature::mma_kinds,
                              Feature::f32_pairs,
                              Feature::f32_three_way,
                              Feature::mixed_fma,
                              Feature::narrow_conversions};
inline constexpr FeatureSet kTcgen05 =
    kSinceBlackwell + FeatureSet{Feature::tcgen05, Feature::tma_multicast, Feature::tma_scatter,
                                 Feature::vabsdiff, Feature::f32_three_way_whole};
inline constexpr FeatureSet kDatacenter = kTcgen05 + FeatureSet{Feature::dpx,
                                                                Feature::credux,
                                                                Feature::redux_f32,
                                                                Feature::stochastic_rounding,
                                                                Feature::f32_pairs_whole,
                                                                Feature::counts_dram_bytes};
inline constexpr FeatureSet kSm120 =
    kSinceBlackwell + FeatureSet{Feature::mma_fp8,         Feature::mma_narrow_floats,
                                 Feature::mma_block_scale, Feature::integers_64,
                                 Feature::uniform_floats,  Feature::typed_vimnmx};

// From 7.5 to 9.0 the table's columns differ in these, and that of 7.5 in few others.
constexpr ScalarRates scalar_until_hopper(double f32, double half2, double f64) {
  return {.listed = true,
          .f32 = f32,
          .half2 = half2,
          .f64 = f64,
          .mufu = 16,
          .ex2 = 16,
          .iadd3 = 64,
          .logic = 64,
          .minmax = 64,
          .f32_minmax = 64,
          .compare = 64,
          .shuffle = 32,
          .from_integer = 16,
          .to_integer = 16,
          .between_floats = 16};
}
inline constexpr ScalarRates kScalarSm120 = {.listed = true,
                                             .f32 = 128,
                                             .half2 = 64,
                                             .f64 = 2,
                                             .ex2 = 16,
                                             .iadd3 = 128,
                                             .imad = 64,
                                             .logic = 64,
                                             .minmax = 128,
                                             .f32_minmax = 64,
                                             .count = 16,
                                             .shuffle = 32,
                                             .to_integer = 2,
                                             .between_floats = 16};

// Tensor cores: NVIDIA H100 whitepaper (table 3), Ada and RTX Blackwell whitepapers, Blackwell
// datasheets, as collected in OpenXLA's cuda_core_info_table.cc. GeForce parts of sm_89 and sm_120
// halve 16-bit and 8-bit floats with f32 accumulation: the figures here are the full chips', and
// those parts' with f16 accumulation. There is no 8-bit container for narrow floats before
// Blackwell; there they run as 8-bit floats do. No datasheet states a rate of b1 after A100's,
// where it is eight times s8's (NVIDIA A100 whitepaper, table 1): Hopper's wgmma has the same
// proportion in its shapes, k = 256 against 32. 4-bit floats, B300 datasheet: 18 PFLOP/s sparse
// against 13.5 dense.
//
// Scalar rates of sm_103a: datacenter chips have 64 FP64 units but B300, which like the others has
// 2. On 12.0 the table gives conversions from floats to 32-bit integers 2.
//
// Features: what ptxas 13.0 takes, and the machine code that `assay sass --check` finds.
inline constexpr TargetRow kTargetTable[] = {
    {.target = Target::host, .name = "host"},
    {.target = Target::sm_89,
     .name = "sm_89",
     .suffix = "_sm89",
     .by_default = true,
     .major = 8,
     .minor = 9,
     .generation = "Ada",
     .chips = "AD102 to AD107: GeForce RTX 40, L4, L40S",
     .profiled = "AD102 AD103 AD104 AD106 AD107",
     .assembled = "sm_89",
     .features = {Feature::mma_b1_and, Feature::mma_b1_xor, Feature::mma_fp8, Feature::mma_s4,
                  Feature::mma_s8_m8, Feature::vabsdiff, Feature::divergence_routines,
                  Feature::lds_scales_index, Feature::counts_dram_bytes},
     .tensor = {.tf32 = {512, "src_tf32_dst_fp32"},
                .f16 = {1024, "src_fp16_dst_fp32"},
                .bf16 = {1024, "src_bf16_dst_fp32"},
                .fp8 = {2048, "src_fp8"},
                .s8 = {2048, "src_int8"},
                .s4 = {4096, "src_int4"}},
     .scalar = scalar_until_hopper(128, 64, 2)},
    {.target = Target::sm_90a,
     .name = "sm_90a",
     .suffix = "_sm90",
     .by_default = true,
     .major = 9,
     .minor = 0,
     .generation = "Hopper",
     .chips = "GH100: H100, H200, GH200",
     .profiled = "GH100",
     .assembled = "sm_90 sm_90a",
     .features = kSinceHopper + FeatureSet{Feature::wgmma, Feature::tma_multicast,
                                           Feature::mma_b1_and, Feature::mma_f64_m16_whole,
                                           Feature::mma_s8_m8, Feature::dpx, Feature::vabsdiff,
                                           Feature::counts_shared_pipe, Feature::counts_dram_bytes},
     .tensor = {.f64 = {256, "src_fp64", 0},
                .tf32 = {2048, "op_hgmma_src_tf32_dst_fp32"},
                .f16 = {4096, "op_hgmma_src_fp16"},
                .bf16 = {4096, "op_hgmma_src_bf16_dst_fp32"},
                .fp8 = {8192, "src_fp8"},
                .s8 = {8192, "op_igmma_src_int8"},
                .b1 = {8 * 8192, "op_bgmma_src_int1", 0}},
     .scalar = scalar_until_hopper(128, 128, 64)},
    {.target = Target::sm_100a,
     .name = "sm_100a",
     .suffix = "_sm100",
     .by_default = true,
     .major = 10,
     .minor = 0,
     .generation = "Blackwell",
     .chips = "GB100, GB102: B200, GB200",
     .profiled = "GB100 GB102",
     .assembled = "sm_100 sm_100a sm_100f",
     .features = kDatacenter + FeatureSet{Feature::tcgen05_integers, Feature::counts_shared_pipe},
     .tensor = {.f64 = {128, "src_fp64", 0},
                .tf32 = {4096, "op_utchmma_src_tf32_dst_fp32"},
                .f16 = {8192, "op_utchmma_src_fp16_dst_fp32"},
                .bf16 = {8192, "op_utchmma_src_bf16_dst_fp32"},
                .fp8 = {16384, "op_utcqmma_src_fp4_fp6_fp8_dst_fp32"},
                .mxf8 = {16384, "op_utcqmma_src_fp4_fp6_fp8_dst_fp32"},
                .narrow = {16384, "op_utcqmma_src_fp4_fp6_fp8_dst_fp32"},
                .fp4 = {32768, "op_utcomma_src_fp4_dst_fp32"},
                .s8 = {16384, "op_utcimma_src_int8"}},
     .scalar = {.listed = true,
                .f32 = 128,
                .half2 = 64,
                .f64 = 64,
                .ex2 = 16,
                .iadd3 = 64,
                .f32_minmax = 128}},
    {.target = Target::sm_103a,
     .name = "sm_103a",
     .suffix = "_sm100",
     .by_default = true,
     .major = 10,
     .minor = 3,
     .generation = "Blackwell",
     .chips = "GB110: B300, GB300",
     .profiled = "GB110",
     .assembled = "sm_103a",
     .features = kDatacenter + FeatureSet{Feature::tcgen05_k96, Feature::tcgen05_ld_red,
                                          Feature::packed_ex2, Feature::block16_suffix},
     .tensor = {.tf32 = {4096, "op_utchmma_src_tf32_dst_fp32"},
                .f16 = {8192, "op_utchmma_src_fp16_dst_fp32"},
                .bf16 = {8192, "op_utchmma_src_bf16_dst_fp32"},
                .fp8 = {16384, "op_utcqmma_src_fp8_dst_fp32"},
                .mxf8 = {16384, "op_utcqmma_src_fp8_dst_fp32"},
                .narrow = {16384, "op_utcqmma_src_fp4_fp6_dst_fp32"},
                .fp4 = {49152, "op_utcomma_src_fp4_dst_fp32", 4.0 / 3},
                .s8 = {512, "op_imma_src_int8"}},
     .scalar = {.half2 = 64, .f64 = 2, .ex2 = 32, .iadd3 = 64}},
    {.target = Target::sm_110a,
     .name = "sm_110a",
     .suffix = "_sm100",
     .by_default = false,
     .major = 11,
     .minor = 0,
     .generation = "Blackwell",
     .chips = "GB10B: Jetson T5000 (Thor)",
     .profiled = "GB10B",
     .assembled = "sm_110a",
     .features = kTcgen05 - FeatureSet{Feature::integer_pairs, Feature::vimnmx} +
                 FeatureSet{Feature::tcgen05_integers, Feature::tcgen05_ld_red}},
    {.target = Target::sm_120a,
     .name = "sm_120a",
     .suffix = "_sm120",
     .by_default = true,
     .major = 12,
     .minor = 0,
     .generation = "Blackwell",
     .chips = "GB202 to GB207: GeForce RTX 50, RTX PRO 6000 Blackwell",
     .profiled = "GB202 GB203 GB205 GB206 GB207",
     .assembled = "sm_120 sm_120a sm_120f",
     .features = kSm120 + FeatureSet{Feature::counts_dram_operations},
     .tensor = {.tf32 = {512, "op_hmma_src_tf32_dst_fp32"},
                .f16 = {1024, "op_hmma_src_fp16_dst_fp32"},
                .bf16 = {1024, "op_hmma_src_bf16_dst_fp32"},
                .fp8 = {2048, "src_fp8_dst_fp32"},
                .mxf8 = {2048, "src_fp8_dst_fp32"},
                .narrow = {2048, "src_fp4_fp6_dst_fp32"},
                .fp4 = {4096, "src_fp4_dst_fp32"},
                .s8 = {2048, "op_imma_src_int8"}},
     .scalar = kScalarSm120},
    {.target = Target::sm_121a,
     .name = "sm_121a",
     .suffix = "_sm120",
     .by_default = false,
     .major = 12,
     .minor = 1,
     .generation = "Blackwell",
     .chips = "GB20B: GB10 (DGX Spark)",
     .profiled = "GB20B",
     .assembled = "sm_121a",
     .features = kSm120,
     .scalar = kScalarSm120},
};

constexpr bool rows_are_ordered_as_the_enumerators() {
  int expected = 0;
  for (const TargetRow& row : kTargetTable)
    if (static_cast<int>(row.target) != expected++) return false;
  return true;
}
static_assert(rows_are_ordered_as_the_enumerators());

}  // namespace assay
