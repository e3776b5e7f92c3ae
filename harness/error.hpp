// SPDX-License-Identifier: Apache-2.0
// The one exception type that reaches a person: a line that says what, where and how to mend it.
#pragma once
#include <stdexcept>
#include <string>

namespace assay {

// Exit status of every `assay` command. README lists them; scripts rely on them.
enum class ExitCode {
  ok = 0,
  failed = 1,        // something was measured wrong, refused, or (gate) got slower
  usage = 2,         // bad arguments or unreadable input
  inconclusive = 3,  // (gate) the data cannot tell
  unfit = 4,         // this machine cannot do it: no GPU, driver too old, throttled
  io = 5,            // results could not be written: disk full, no permission
  defect = 70,       // what nobody foresaw: sysexits.h has it as EX_SOFTWARE
  interrupted = 130  // Ctrl-C; the run can be resumed
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace assay
