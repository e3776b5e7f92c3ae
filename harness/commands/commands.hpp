// SPDX-License-Identifier: Apache-2.0
// The front door: every subcommand of `assay`, one function each.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace assay::commands {

// Each adds a subcommand with its help to `app`; when it is the one chosen, its callback sets
// exit_code (the values of assay::ExitCode) or throws assay::Error.
void add_info(CLI::App& app, int& exit_code);
void add_isa(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_model(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_sass(CLI::App& app, int& exit_code);
void add_worker(CLI::App& app, int& exit_code);  // what `run` starts; hidden from help

// `assay report`, `assay gate`, `assay torch` and any `assay-NAME` on the path, found the way git
// finds git-NAME; they replace this process. Lists them in the help of `app`.
void describe_external(CLI::App& app);
// Replaces this process by `assay-<argv[1]>` if there is one; returns if argv[1] is no such name.
// A command of `app` itself cannot be replaced so.
void run_external(const CLI::App& app, int argc, char** argv);

// Whether a word that looks like an option is a filter of what to leave out: "-^kernels/".
bool leaves_out(const std::string& word);

// The words behind the program's name. "-host" of a command with such filters is "-(?:host)", the
// same filter, for CLI11 would take it for -h.
std::vector<std::string> words_of(int argc, char** argv);

// Why what was given to an option is no number from `low` to `high`; empty if it is one. CLI11's
// own check lets "nan" through, and takes -1 as the largest number where none below 0 may be.
std::string not_within(const std::string& text, double low, double high);
inline constexpr double kLargestSeed = 9007199254740992;  // 2^53: exact as a double, too

// What a program of the reports makes of a document that it is given as a file: a page, a picture.
// Found as above; throws Error(unfit) if it is not there, Error(failed) if it refuses.
std::string made_by(const std::string& program, const std::string& document);

// All of it. `main` of the suite, and of anyone's own executable with own probes, is this call.
int main(int argc, char** argv);

}  // namespace assay::commands
