// SPDX-License-Identifier: Apache-2.0
// Arguments of a kernel, and launches that follow one, as text, for `assay model FILE`.
//
//   u32:16  s32:-1  u64:5  f32:0.5           a number
//   bf16[256x64]                             an array, initialized with normal random numbers
//   f32[1024]=zero   u8[4096]=none           zeros; left uninitialized
//   map(A, box=64x64, swizzle=128)           a tensor map of the array given as the argument A, by
//                                            its place from 0, or 1D arrays by their length
//
//   second(0, 2), early, grid=4x2, block=256, cluster=2, shared=1024
//                                            a launch of `second` with these of the arguments, by
//                                            their place from 0; what is left out is as of the
//                                            launch before
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model/model.hpp"

namespace assay::model {

struct Argument {
  std::vector<std::uint8_t> bytes;
  std::size_t align = 1;
};

// Makes what the texts say in `gpu`. Throw Violation("arguments", ...) naming the text.
std::vector<Argument> make_arguments(Gpu& gpu, const std::vector<std::string>& texts,
                                     std::uint64_t seed);
Arguments parse_arguments(Gpu& gpu, const std::vector<std::string>& texts, std::uint64_t seed);

// One of several launches, with the same arrays.
struct Launch {
  std::string kernel;  // a part of its name
  Shape shape;
  std::vector<std::size_t> places;  // of its arguments
  bool all = false;  // the places are all there are, and some may be for launches that follow
};

// `before`: the launch that it follows. Throws Violation("arguments", ...) naming the text.
Launch parse_launch(const std::string& text, const Launch& before);

// Makes the arguments, and launches one after the other until one does not end. What was found in
// any of them is in the outcome; the trace is of the last. Throws Violation("arguments", ...) for
// an argument that no launch takes.
Outcome run_launches(Gpu& gpu, const std::vector<Launch>& launches,
                     const std::vector<std::string>& arguments, const Options& options);

}  // namespace assay::model
