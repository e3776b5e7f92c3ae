// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/cost/pipe.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string>

#include "harness/error.hpp"
#include "harness/target.hpp"

namespace assay::sass {
namespace {

// Names and duties: Nsight Compute, Kernel Profiling Guide, "Pipelines". That an SM's schedulers
// share the memory pipes and the ADU, by way of the MIO, and that FP32 runs on two halves of which
// only fmaheavy multiplies integers (sm_86 to sm_90): Greg Smith of NVIDIA, forum threads 302018
// and 315200. "tmem" (loads, stores and copies of tensor memory) and "other" are no metric's names.
constexpr Pipe kPipes[] = {
    {"fma", false, ""},   {"fmaheavy", false, "fma"}, {"fmalite", false, "fma"},
    {"alu", false, ""},   {"fp16", false, ""},        {"fp64", false, ""},
    {"xu", false, ""},    {"uniform", false, ""},     {"tensor", false, ""},
    {"cbu", false, ""},   {"adu", true, ""},          {"lsu", true, ""},
    {"tex", true, ""},    {"tma", true, ""},          {"tmem", false, ""},
    {"other", false, ""},
};

// Opcodes by pipe, without modifiers. From the descriptions named above, and for opcodes they do
// not mention, by kind; run.json tables that hold measured pipes (sass/pipes/...) override this.
struct Row {
  std::string_view pipe;
  std::string_view opcodes;  // separated by blanks
};
constexpr Row kRows[] = {
    {"fma",
     "FADD FMUL FFMA FADD2 FMUL2 FFMA2 FADD32I FMUL32I FFMA32I FSWZADD HADD2 HMUL2 HFMA2 "
     "HADD2_32I HMUL2_32I HFMA2_32I"},
    {"fmaheavy", "IMAD IMUL IDP IDP4A"},
    {"alu",
     "IADD3 IADD IADD32I VIADD VIADDMNMX VIMNMX VIMNMX3 IABS IMNMX ISETP ISET LOP3 LOP LOP32I "
     "PLOP3 "
     "SHF SHL SHR LEA PRMT SEL BMSK SGXT FSEL FSETP FSET FMNMX FMNMX3 FCHK HMNMX2 HSETP2 HSET2 "
     "VHMNMX MOV MOV32I P2R R2P CSEL VOTE F2FP I2FP CS2R VABSDIFF VABSDIFF4 ISCADD LEPC"},
    {"fp64", "DADD DMUL DFMA DSETP"},
    {"xu", "MUFU I2F F2I F2F FRND I2I POPC FLO BREV MOVM"},
    {"uniform",
     "R2UR UIADD3 UIMAD UISETP ULOP3 ULOP UPLOP3 USHF USHL USHR ULEA UMOV USEL UPRMT UFLO UPOPC "
     "UBREV UBMSK USGXT UP2UR UR2UP ULDC LDCU VOTEU ELECT UCLEA UFADD UFMUL UFFMA UFSETP UFSEL "
     "UFMNMX UF2FP UI2F UF2I UVIADD UVIMNMX UIABS UIMNMX REDUX CREDUX UGETNEXTWORKID UI2FP"},
    {"tensor",
     "HMMA IMMA BMMA DMMA QMMA OMMA HGMMA QGMMA IGMMA BGMMA UTCHMMA UTCQMMA UTCIMMA "
     "UTCOMMA"},
    {"cbu",
     "BRA BRX BRXU JMP JMX JMXU BSSY BSYNC BREAK BMOV BMOVR WARPSYNC EXIT CALL RET YIELD "
     "NANOSLEEP KILL BPT RPCMOV"},
    {"adu",
     "LDC BAR B2R S2R S2UR DEPBAR LDGDEPBAR ERRBAR CGAERRBAR FENCE UCGABAR_ARV "
     "UCGABAR_WAIT WARPGROUP USETMAXREG ACQBULK PREEXIT"},
    {"lsu",
     "LD LDG LDL LDS LDSM ST STG STL STS STSM ATOM ATOMG ATOMS RED REDG LDGSTS LDGMC SHFL "
     "MATCH CCTL CCTLL CCTLT MEMBAR SYNCS STAS REDAS ARRIVES QSPC"},
    {"tex", "TEX TLD TLD4 TMML TXD TXQ SULD SUST SUATOM SURED SUQUERY"},
    {"tma", "UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL UTMACMDFLUSH UBLKCP UBLKRED UBLKPF"},
    {"tmem", "LDTM STTM UTCCP UTCSHIFT UTCBAR UTCATOMSWS"},
};

// Which opcodes each figure of ScalarRates is of.
struct Documented {
  std::string_view opcodes;
  double ScalarRates::*threads;
};
constexpr Documented kDocumented[] = {
    {"FADD FMUL FFMA FADD32I FMUL32I FFMA32I", &ScalarRates::f32},
    {"HADD2 HMUL2 HFMA2 HADD2_32I HMUL2_32I HFMA2_32I", &ScalarRates::half2},
    {"DADD DMUL DFMA", &ScalarRates::f64},
    {"MUFU", &ScalarRates::mufu},
    {"IADD3 IADD IADD32I VIADD", &ScalarRates::iadd3},
    {"IMAD IMUL", &ScalarRates::imad},
    {"LOP3 LOP LOP32I SHF SHL SHR", &ScalarRates::logic},
    {"IMNMX VIMNMX", &ScalarRates::minmax},
    {"FMNMX", &ScalarRates::f32_minmax},
    {"ISETP ISET FSETP FSET", &ScalarRates::compare},
    {"POPC FLO", &ScalarRates::count},
    {"SHFL", &ScalarRates::shuffle},
    {"I2F", &ScalarRates::from_integer},
    {"F2I", &ScalarRates::to_integer},
    {"F2F", &ScalarRates::between_floats},
};

// Where the table says nothing: what most instructions of the pipe are known to reach.
struct Rate {
  std::string_view pipe;
  double threads;
};
constexpr Rate kRates[] = {{"fmaheavy", 64}, {"alu", 64}, {"xu", 16}, {"lsu", 32}};

// Compute capabilities that are no targets: foreign files hold code for them. For pairs of 16-bit
// floats on 8.6 the guide says twice what GPUs were measured to do, `half2`; for 8.7 it has no
// column.
struct Older {
  int capability;
  ScalarRates rates;
  double half2 = rates.half2;
};
constexpr ScalarRates rates_of_turing() {
  ScalarRates rates = scalar_until_hopper(64, 64, 2);
  rates.imad = 64;
  rates.count = rates.shuffle = 16;
  return rates;
}
constexpr Older kOlder[] = {{75, rates_of_turing()},
                            {80, scalar_until_hopper(64, 128, 32)},
                            {86, scalar_until_hopper(128, 0, 2), 64},
                            {87, {.f32 = 128, .half2 = 64, .f64 = 2}}};

// "sm_103a" as "sm_103": code for either runs at one rate.
std::string_view without_suffix(std::string_view arch) {
  return arch.substr(0, arch.find_last_of("0123456789") + 1);
}

// What is known of an architecture ("sm_90a").
std::optional<Older> rates_of(std::string_view arch) {
  for (const TargetRow& row : kTargetTable)
    for (const std::string_view spelling : words(row.assembled))
      if (without_suffix(spelling) == without_suffix(arch)) return Older{0, row.scalar};
  for (const Older& older : kOlder)
    if (without_suffix(arch) == "sm_" + std::to_string(older.capability)) return older;
  return std::nullopt;
}

// All targets have 128 units for 32-bit floats.
constexpr double kF32 = 128;

bool has_any(std::string_view opcode, std::initializer_list<const char*> parts) {
  return std::ranges::any_of(parts,
                             [&](const char* part) { return opcode.find(part) != opcode.npos; });
}

// Not sums and products of pairs, for all their names, and measured at 64 on sm_90: HADD2.F32
// converts a half to a 32-bit float, HFMA2.OOB makes a zero where an operand is out of bounds.
constexpr double kConversionRate = 64;
bool is_conversion(std::string_view opcode) {
  return opcode.starts_with('H') && has_any(opcode, {"HADD2.F32", ".OOB"});
}

// Of 64-bit types, a product's other half, bfloat16 or one of those: what the rows above do not
// speak of.
bool is_variant(std::string_view opcode) {
  if (opcode.starts_with('D')) return false;
  return is_conversion(opcode) || has_any(opcode, {"64", ".HI", ".WIDE", "BF16"});
}

bool lists(std::string_view opcodes, std::string_view wanted) {
  while (!opcodes.empty()) {
    const std::size_t end = std::min(opcodes.find(' '), opcodes.size());
    if (opcodes.substr(0, end) == wanted) return true;
    opcodes.remove_prefix(std::min(end + 1, opcodes.size()));
  }
  return false;
}

bool is_any(const Instruction& instruction, std::string_view opcodes) {
  return lists(opcodes,
               std::string_view(instruction.opcode).substr(0, instruction.opcode.find('.')));
}

}  // namespace

bool is_pipe(std::string_view name) {
  return std::ranges::find(kPipes, name, &Pipe::name) != std::end(kPipes);
}

const Pipe& pipe_called(std::string_view name) {
  const auto* const found = std::ranges::find(kPipes, name, &Pipe::name);
  if (found != std::end(kPipes)) return *found;
  std::string known;
  for (const Pipe& pipe : kPipes) known += (known.empty() ? "" : ", ") + std::string(pipe.name);
  throw Error(ExitCode::usage, "no pipe is called '" + std::string(name) + "', only " + known);
}

const Pipe& documented_pipe(std::string_view opcode) {
  // A table asks for each of its opcodes at each instruction of a kernel.
  static const std::map<std::string_view, const Pipe*> by_opcode = [] {
    std::map<std::string_view, const Pipe*> pipes;
    for (const Row& row : kRows)
      for (const std::string_view listed : words(row.opcodes))
        pipes.emplace(listed, &pipe_called(row.pipe));
    return pipes;
  }();
  const auto found = by_opcode.find(opcode.substr(0, opcode.find('.')));
  return found == by_opcode.end() ? pipe_called("other") : *found->second;
}

std::optional<DocumentedRate> documented_rate(std::string_view opcode, const Pipe& pipe,
                                              std::string_view arch) {
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  const std::optional<Older> known = rates_of(arch);
  if (known && known->rates.listed && !is_variant(opcode))
    for (const Documented& row : kDocumented)
      if (lists(row.opcodes, base) && known->rates.*row.threads > 0)
        return DocumentedRate{known->rates.*row.threads, true};

  const auto unchecked = [](double threads) {
    return threads > 0 ? std::optional(DocumentedRate{threads, false}) : std::nullopt;
  };
  if (is_conversion(opcode)) return unchecked(kConversionRate);
  const bool on_pairs =
      base.starts_with("HADD2") || base.starts_with("HMUL2") || base.starts_with("HFMA2");
  if (pipe.name == "fp64" || pipe.name == "fma") {
    if (!known) return std::nullopt;
    const double f32 = known->rates.f32 > 0 ? known->rates.f32 : kF32;
    return unchecked(pipe.name == "fp64" ? known->rates.f64 : on_pairs ? known->half2 : f32);
  }
  for (const Rate& rate : kRates)
    if (rate.pipe == pipe.name) return unchecked(rate.threads);
  return std::nullopt;
}

bool is_matrix(const Instruction& instruction) {
  return documented_pipe(instruction.opcode).name == "tensor";
}
bool is_warpgroup_mma(const Instruction& instruction) {
  return is_any(instruction, "HGMMA QGMMA IGMMA BGMMA");
}
bool is_tcgen05_mma(const Instruction& instruction) {
  return is_any(instruction, "UTCHMMA UTCQMMA UTCIMMA UTCOMMA");
}
bool is_bulk_copy(const Instruction& instruction) {
  return is_any(instruction, "UTMALDG UTMASTG UTMAREDG UBLKCP UBLKRED");
}

}  // namespace assay::sass
