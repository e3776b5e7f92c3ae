// SPDX-License-Identifier: Apache-2.0
// `assay.run/1` as JSON, both ways. Only .cpp files include this: the JSON header is heavy.
#pragma once
#include "harness/machine/environment.hpp"
#include "harness/measure/state_impl.hpp"
#include "harness/measurement.hpp"
#include "harness/run/json_document.hpp"

namespace assay {

// Significant digits of numbers in a run file: of samples and series, whose own noise is a
// thousand times larger, and of everything else.
inline constexpr int kSampleDigits = 7, kDigits = 9;

std::string_view name(Role role);
std::string_view name(Kind kind);
std::string_view name(Status status);
std::string_view name(Pace pace);

Json to_json(const Params& params);
Json to_json(const SassRecord& record);
Json to_json(const Measurement& measurement);
Json to_json(const Environment& environment);
Json to_json(const RunOptions& options);
RunOptions options_from_json(const Field& options);

}  // namespace assay
