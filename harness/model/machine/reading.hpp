// SPDX-License-Identifier: Apache-2.0
// Where the PTX manual leaves room: two readings of it, of which each seed takes one. A kernel that
// is right under one alone counts on what is unspecified. Seeds 0 and 1 take the first ones.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::model {

enum class Reading : std::uint8_t {
  elect_lane,
  launch_control_order,
  tcgen05_shift,
  tcgen05_ashift_metadata,
  tcgen05_copies,
  tcgen05_rounding,
  random_rounding,
};

struct ReadingTexts {
  const char *name, *first, *second;
};
inline constexpr std::array kReadings = {
    ReadingTexts{"elect.lane", "elect.sync elects the lowest lane",
                 "elect.sync elects the highest lane"},
    ReadingTexts{"launch_control.order", "the next cluster of the grid is cancelled",
                 "the last cluster of the grid is cancelled"},
    ReadingTexts{"tcgen05.shift", "rows move down towards lane 0, and the last one stays",
                 "rows move down towards lane 31 or the last row, and the first one stays"},
    ReadingTexts{"tcgen05.ashift_metadata", ".ashift leaves the metadata of a sparse A in place",
                 ".ashift moves the metadata of a sparse A with its rows"},
    ReadingTexts{"tcgen05.copies",
                 "of operands that several lanes of tensor memory hold alike, the first is read",
                 "of operands that several lanes of tensor memory hold alike, the last is read"},
    ReadingTexts{"tcgen05.rounding", "sums of tcgen05.mma are rounded to the nearest",
                 "sums of tcgen05.mma are cut towards zero"},
    ReadingTexts{"cvt.rs", "random bits count against the highest of more bits that are cut off",
                 "random bits count against the lowest of more bits that are cut off"},
};

constexpr const ReadingTexts& texts_of(Reading reading) {
  return kReadings[static_cast<std::size_t>(reading)];
}

}  // namespace assay::model
