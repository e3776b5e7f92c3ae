// SPDX-License-Identifier: Apache-2.0
// Which SMs are beside which partition of L2, from how long each takes to each of many lines.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "probes/memory/two_clusters.hpp"

namespace assay {

struct PartitionMap {
  std::vector<int> of_sm, of_line;  // 0: that of the first SM; 1: the other
  double agreement;                 // fraction of the readings that this explains
};

// `readings` is [sms][lines], small where a line is near. Nothing if the lines of most SMs are not
// two groups: an L2 in one piece. SMs go with the first one or against it by what they have in
// common with it, lines then by a vote of all SMs.
inline std::optional<PartitionMap> partition_map(std::span<const double> readings,
                                                 std::size_t lines) {
  const std::size_t sms = lines ? readings.size() / lines : 0;
  std::vector<bool> far(readings.size());
  std::size_t parted = 0;
  for (std::size_t sm = 0; sm < sms; ++sm) {
    const auto row = readings.subspan(sm * lines, lines);
    const auto clusters = two_clusters(row);
    if (!clusters) continue;
    ++parted;
    for (std::size_t i = 0; i < lines; ++i) far[sm * lines + i] = row[i] >= clusters->boundary;
  }
  if (sms == 0 || 2 * parted < sms) return std::nullopt;
  PartitionMap map{std::vector<int>(sms), std::vector<int>(lines), 0};
  for (std::size_t sm = 0; sm < sms; ++sm) {
    std::size_t same = 0;
    for (std::size_t i = 0; i < lines; ++i) same += far[i] == far[sm * lines + i];
    map.of_sm[sm] = 2 * same < lines;
  }
  std::size_t right = 0;
  for (std::size_t i = 0; i < lines; ++i) {
    std::size_t votes = 0;  // for the other partition
    for (std::size_t sm = 0; sm < sms; ++sm) votes += far[sm * lines + i] != (map.of_sm[sm] == 1);
    map.of_line[i] = 2 * votes > sms;
    right += map.of_line[i] ? votes : sms - votes;
  }
  map.agreement = static_cast<double>(right) / static_cast<double>(sms * lines);
  return map;
}

}  // namespace assay
