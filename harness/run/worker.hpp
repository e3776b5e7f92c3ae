// SPDX-License-Identifier: Apache-2.0
// The process that touches the GPU, and the end its parent holds.
//
// A kernel that never ends cannot be stopped from inside its process, so `assay run` measures in a
// child: past a case's deadline the child is killed and a fresh one goes on. Both speak JSON, a
// line each way per case, over descriptors 3 and 4, so that whatever a library prints does no harm.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>

#include "harness/run/json_document.hpp"

namespace assay {

// The child's whole life: answers requests until its parent closes the pipe.
int worker_main(int device_index);

class Worker {
 public:
  // Starts this very program as `<program> worker --device N`.
  explicit Worker(int device_index);
  ~Worker();  // ends the child
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // One request, one answer. Nothing if the deadline passed, `*cancel` became true, or the child
  // died; then it has been killed, and died_of() says what happened.
  std::optional<Json> ask(const Json& request, std::chrono::duration<double> deadline,
                          const volatile std::sig_atomic_t* cancel);
  bool alive() const { return pid_ > 0; }
  const std::string& died_of() const { return died_of_; }

 private:
  void kill_child(std::string why);

  pid_t pid_ = -1;
  int request_ = -1, answer_ = -1;
  std::string pending_;  // what was read past the last line
  std::string died_of_;
};

}  // namespace assay
