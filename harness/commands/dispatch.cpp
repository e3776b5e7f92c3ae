// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "harness/commands/commands.hpp"
#include "harness/commands/startup.hpp"
#include "harness/error.hpp"
#include "harness/machine/environment.hpp"

namespace assay::commands {

int main(int argc, char** argv) {
  open_closed_descriptors();
  forget_current_folder(argv);
  CLI::App app{
      "assay: find out what an NVIDIA GPU, and the kernels that run on it, are really made of"};
  app.name("assay");
  const BuildEnvironment build = build_environment();
  app.set_version_flag("--version", fmt::format("assay {} {}", build.version, build.commit));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  int exit_code = 0;
  add_info(app, exit_code);
  add_isa(app, exit_code);
  add_list(app, exit_code);
  add_run(app, exit_code);
  add_sass(app, exit_code);
  add_worker(app, exit_code);
  try {
    run_external(app, argc, argv);
    describe_external(app);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 has codes of its own above 100 for each mistake; here they are all the user's.
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  } catch (const Error& error) {
    fmt::print(stderr, "assay: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "assay: {}\n", error.what());
    return static_cast<int>(ExitCode::failed);
  }
  return exit_code;
}

}  // namespace assay::commands
