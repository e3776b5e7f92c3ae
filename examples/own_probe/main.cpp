// SPDX-License-Identifier: Apache-2.0
#include "harness/commands/commands.hpp"

int main(int argc, char** argv) { return assay::commands::main(argc, argv); }
