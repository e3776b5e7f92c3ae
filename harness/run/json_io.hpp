// SPDX-License-Identifier: Apache-2.0
// `assay.run/1` as JSON, both ways. Only .cpp files include this: the JSON header is heavy.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/machine/environment.hpp"
#include "harness/measure/state_impl.hpp"
#include "harness/measurement.hpp"

namespace assay {

using Json = nlohmann::ordered_json;

inline constexpr const char* kSchema = "assay.run/1";

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
RunOptions options_from_json(const Json& json);

// Parses a file. Each failure is one line that names the file, the place and the mend: missing,
// no permission, not JSON (with line and column).
Json read_json(const std::filesystem::path& path);

// Throws Error(usage) unless `json` says it is an assay.run/1, naming what it is instead.
void require_schema(const Json& json, const std::filesystem::path& path);

}  // namespace assay
