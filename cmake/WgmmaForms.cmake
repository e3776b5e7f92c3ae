# SPDX-License-Identifier: Apache-2.0
# Writes the forms of wgmma, whose text needs each accumulator register by name, once per pair of
# operand types and per N: harness/ptx/generated/wgmma_<types>.cuh below the given folder, for
# harness/ptx/wgmma.cuh to include.

# The accumulators of 64 x n: how many, their registers and their operands.
function(assay_wgmma_accumulators n count_result registers_result operands_result)
  math(EXPR count "${n} / 2")
  math(EXPR last "${count} - 1")
  set(registers)
  set(operands)
  foreach(i RANGE ${last})
    string(APPEND registers "%${i}")
    string(APPEND operands "\"+f\"(d[${i}])")
    if(i LESS last)
      string(APPEND registers ", ")
      string(APPEND operands ", ")
    endif()
    math(EXPR column "${i} % 16")
    if(column EQUAL 15 AND i LESS last)
      string(APPEND registers "\"\n        \"")
      string(APPEND operands "\n          ")
    endif()
  endforeach()
  set(${count_result} ${count} PARENT_SCOPE)
  set(${registers_result} "${registers}" PARENT_SCOPE)
  set(${operands_result} "${operands}" PARENT_SCOPE)
endfunction()

# One form: D (64 x n) += A * B. The 16-bit types have immediates for the transposes of A and B.
function(assay_wgmma_form type_a type_b k n result)
  assay_wgmma_accumulators(${n} count registers operands)
  math(EXPR a "${count}")
  math(EXPR b "${count} + 1")
  math(EXPR p "${count} + 2")
  math(EXPR ta "${count} + 3")
  math(EXPR tb "${count} + 4")
  set(transposes)
  set(immediates)
  if(k EQUAL 16)
    set(transposes ", %${ta}, %${tb}")
    set(immediates ", \"n\"(kTransposeA), \"n\"(kTransposeB)")
  endif()
  set(${result} "
  if constexpr (kN == ${n}) {
    asm volatile(
        \"{\\n\"
        \".reg .pred p;\\n\"
        \"setp.ne.b32 p, %${p}, 0;\\n\"
        \"wgmma.mma_async.sync.aligned.m64n${n}k${k}.f32.${type_a}.${type_b} {\"
        \"${registers}}, \"
        \"%${a}, %${b}, p, 1, 1${transposes};\\n\"
        \"}\\n\"
        : ${operands}
        : \"l\"(a), \"l\"(b), \"r\"(static_cast<int>(accumulate))${immediates});
  }" PARENT_SCOPE)
endfunction()

# One form with A in registers, bf16: 64 x 16 of it, four words a thread. B is K-major.
function(assay_wgmma_form_a_in_registers n result)
  assay_wgmma_accumulators(${n} count registers operands)
  set(a)
  foreach(i RANGE 3)
    math(EXPR at "${count} + ${i}")
    list(APPEND a "%${at}")
  endforeach()
  list(JOIN a ", " a)
  math(EXPR b "${count} + 4")
  math(EXPR p "${count} + 5")
  set(${result} "
  if constexpr (kN == ${n}) {
    asm volatile(
        \"{\\n\"
        \".reg .pred p;\\n\"
        \"setp.ne.b32 p, %${p}, 0;\\n\"
        \"wgmma.mma_async.sync.aligned.m64n${n}k16.f32.bf16.bf16 {\"
        \"${registers}}, \"
        \"{${a}}, %${b}, p, 1, 1, 0;\\n\"
        \"}\\n\"
        : ${operands}
        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"l\"(b),
          \"r\"(static_cast<int>(accumulate)));
  }" PARENT_SCOPE)
endfunction()

function(assay_write_wgmma_forms folder)
  set(extents 8 16 24 32 40 48 56 64 72 80 88 96 104 112 120 128 136 144 152 160 168 176 184 192 200 208 216
    224 240 256)
  list(JOIN extents " || kN == " one_of)
  foreach(types bf16:bf16:16 f16:f16:16 e4m3:e4m3:32 e4m3:e5m2:32 e5m2:e4m3:32 e5m2:e5m2:32)
    string(REPLACE ":" ";" parts ${types})
    list(GET parts 0 type_a)
    list(GET parts 1 type_b)
    list(GET parts 2 k)
    set(body)
    foreach(n IN LISTS extents)
      assay_wgmma_form(${type_a} ${type_b} ${k} ${n} form)
      string(APPEND body "${form}")
    endforeach()
    set(name ${type_a}_${type_b})
    set(unused)
    if(k EQUAL 32)
      set(unused "\n  static_assert(kTransposeA == 0 && kTransposeB == 0, \"fp8 operands are K-major\");")
    endif()
    file(CONFIGURE OUTPUT ${folder}/harness/ptx/generated/wgmma_${name}.cuh @ONLY CONTENT
"// SPDX-License-Identifier: Apache-2.0
// Written by cmake/WgmmaForms.cmake; harness/ptx/wgmma.cuh tells what it is.
#pragma once
#include <cstdint>

namespace assay::ptx {

template <int kN, int kTransposeA, int kTransposeB>
__device__ inline void wgmma_${name}(float (&d)[kN / 2], std::uint64_t a, std::uint64_t b,
                                     bool accumulate) {
  static_assert(kN == ${one_of},
                \"cmake/WgmmaForms.cmake lists the forms\");${unused}${body}
}

}  // namespace assay::ptx
")
  endforeach()

  set(extents 8 16 32 64)
  list(JOIN extents " || kN == " one_of)
  set(body)
  foreach(n IN LISTS extents)
    assay_wgmma_form_a_in_registers(${n} form)
    string(APPEND body "${form}")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/harness/ptx/generated/wgmma_registers_bf16.cuh @ONLY CONTENT
"// SPDX-License-Identifier: Apache-2.0
// Written by cmake/WgmmaForms.cmake; harness/ptx/wgmma.cuh tells what it is.
#pragma once
#include <cstdint>

namespace assay::ptx {

template <int kN>
__device__ inline void wgmma_registers_bf16(float (&d)[kN / 2], const std::uint32_t (&a)[4],
                                            std::uint64_t b, bool accumulate) {
  static_assert(kN == ${one_of},
                \"cmake/WgmmaForms.cmake lists the forms\");${body}
}

}  // namespace assay::ptx
")
endfunction()
