// SPDX-License-Identifier: Apache-2.0
// What `assay.run/1` promises, checked once where a file or a journal comes in: its readers then
// find what they look for, of the type they expect. The whole of it is the JSON schema of the
// reports; this is what C++ reads.
#pragma once
#include <filesystem>

#include "harness/run/json_document.hpp"

namespace assay {

inline constexpr const char* kSchema = "assay.run/1";

// Throws Error(usage) unless the document says it is an assay.run/1, naming what it is instead.
void require_schema(const Json& json, const JsonSource& source);

// Everything but the measurements: the environment, and how it was run.
void check_header(const Field& header);

// One measurement of a run file. `is_ours`: of a journal, where what was measured has all that
// `assay run` wrote.
void check_measurement(const Field& measurement, bool is_ours);

// A whole run file: read, and checked as above.
Json read_run_file(const std::filesystem::path& path);

}  // namespace assay
