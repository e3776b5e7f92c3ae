// SPDX-License-Identifier: Apache-2.0
// `assay.run/1` as JSON, both ways. Only .cpp files include this: the JSON header is heavy.
#pragma once
#include <filesystem>

#include "harness/machine/environment.hpp"
#include "harness/measure/state_impl.hpp"
#include "harness/measurement.hpp"
#include "harness/run/json_document.hpp"

namespace assay {

// Significant digits of numbers in a run file: of samples and series, whose own noise is a
// hundred times larger; of clocks and of how long it took; and of everything else.
inline constexpr int kSampleDigits = 6, kClockDigits = 5, kDigits = 7;

std::string_view name(Role role);
std::string_view name(Kind kind);
std::string_view name(Status status);
std::string_view name(Pace pace);

Json to_json(const Params& params);
Json to_json(const SassRecord& record);
Json to_json(const std::vector<KernelLaunch>& launches);  // `sass.launch`
Json to_json(const Measurement& measurement);
Json to_json(const Environment& environment);
// What may be asked of `assay run`, and so what a journal may hold.
inline constexpr double kLeastHalfWidth = 1e-6, kMostHalfWidth = 0.5;
inline constexpr double kLeastTimeCapS = 1e-3, kMostTimeCapS = 1e6;

Json to_json(const RunOptions& options);
RunOptions options_from_json(const Field& options);

// What `assay.run/1` promises is checked once, where a file or a journal comes in: its readers then
// find what they look for, of the type they expect. The whole of it is the JSON schema of the
// reports; this is what C++ reads. In run_schema.cpp.
inline constexpr const char* kSchema = "assay.run/1";

// Throws Error(usage) unless the document says it is an assay.run/1, naming what it is instead.
void require_schema(const Json& json, const JsonSource& source);

// Everything but the measurements: the environment, and how it was run.
void check_header(const Field& header);

// One measurement of a run file. `is_ours`: of a journal, where what was measured has all that
// `assay run` wrote.
void check_measurement(const Field& measurement, bool is_ours);

// A whole run file: read, but for what is left out as in parse_json(), and checked as above.
Json read_run_file(const std::filesystem::path& path, const Names& left_out = {});

}  // namespace assay
