// SPDX-License-Identifier: Apache-2.0
// Which CTA reads what of an array that fits in L2, and in which order.
//
// In "own", "interleaved", "dealt" and "chunks_32kib" each line is wanted by one SM at a time: what
// arrives is what L2 gave. In the others several SMs want one line at about the same time, or one
// SM wants it twice while its L1 may still hold it. What arrives is then more than L2 gave, as L1
// serves it or as requests for one line are merged on their way to L2. In "chunks" CTAs, far more
// than fit, read chunk b % n of about 512 KiB each, so that at 20 MiB some sixteen read one
// together. "chunks_interleaved" is that with the chunks' rows taking turns, the order of
// gpu-l2-cache (github.com/te42kyfo/gpu-benches, gpu-l2-cache/main.cu, by loads that L1 may serve),
// from which the published 9.7 TB/s of an H200 are; in "chunks_staggered" each CTA begins elsewhere
// in it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

namespace assay {

inline constexpr int kMostVectors = 8;  // loads of a thread under way, in any kernel
inline constexpr double kBytesOfSample = 3e9;

// A row is what a CTA reads by one load of each thread. CTA b begins at row (b % wrap) * apart of
// `rows` and goes on by `step`, `loads` times, coming round within `span` rows from where it began
// (own) or from row 0.
struct Walk {
  std::uint32_t wrap, apart, step, rows, span, loads;
  bool own;
};

inline constexpr const char* kL2Patterns[] = {"own",
                                              "interleaved",
                                              "dealt",
                                              "chunks_32kib",
                                              "chunks",
                                              "chunks_interleaved",
                                              "chunks_staggered",
                                              "staggered",
                                              "pairs",
                                              "together"};

// Whether each line is wanted by one SM at a time.
inline bool exclusive(const std::string& pattern) {
  return pattern == "own" || pattern == "interleaved" || pattern == "dealt" ||
         pattern == "chunks_32kib";
}

struct Shape {
  std::uint32_t ctas;
  Walk walk;
};

// `per_cta`: a CTA's part of the footprint in rows, where every CTA of `resident` has one. But for
// "own" and "dealt", `resident` is a multiple of eight.
inline Shape shape_of(const std::string& pattern, std::uint32_t resident, std::uint32_t per_cta,
                      std::uint32_t row_bytes) {
  const std::uint32_t rows = resident * per_cta;
  // Multiples of all the loads under way, and of whole rounds through what a CTA reads.
  const auto passes = std::max<std::uint32_t>(
      static_cast<std::uint32_t>(kBytesOfSample / row_bytes / rows) / kMostVectors, 1);
  const std::uint32_t loads = passes * kMostVectors * per_cta;
  if (pattern == "own") return {resident, {resident, per_cta, 1, rows, per_cta, loads, true}};
  if (pattern == "interleaved")
    return {resident, {resident, 1, resident, rows, rows, loads, false}};
  if (pattern == "dealt")
    return {loads / kMostVectors * resident,
            {~0u, kMostVectors, 1, rows, rows, kMostVectors, false}};
  if (pattern == "staggered" || pattern == "together") {  // all read all, from other places or one
    std::uint32_t whole = std::max(loads / rows, 1u) * rows;
    while (whole % kMostVectors) whole += rows;
    if (pattern == "together") return {resident, {1, 0, 1, rows, rows, whole, false}};
    return {resident, {resident, per_cta, 1, rows, rows, whole, false}};
  }
  if (pattern == "pairs")  // CTAs b and b + resident / 2 read the same, in step
    return {resident, {resident / 2, 2 * per_cta, 1, rows, 2 * per_cta, 2 * loads, true}};
  // Chunks of so many bytes, or the next that divide the rows into a whole number of them.
  std::uint32_t chunk =
      std::max((pattern == "chunks_32kib" ? 32u << 10 : 512u << 10) / row_bytes, 1u);
  while (rows % chunk || chunk % kMostVectors) ++chunk;
  const std::uint32_t chunks = rows / chunk;
  const std::uint32_t ctas = std::max(resident * (loads / chunk) / chunks, 1u) * chunks;
  if (pattern == "chunks_interleaved") return {ctas, {chunks, 1, chunks, rows, rows, chunk, false}};
  if (pattern == "chunks_staggered") return {ctas, {~0u, 1, chunks, rows, rows, chunk, false}};
  return {ctas, {chunks, chunk, 1, rows, rows, chunk, false}};
}

}  // namespace assay
