// SPDX-License-Identifier: Apache-2.0
#include "harness/model/machine/trace.hpp"

#include <map>

#include "harness/model/machine/run.hpp"

namespace assay::model {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

}  // namespace

std::int64_t Run::add_event(TraceEvent event) {
  auto& events = options_.trace->events;
  const std::size_t before = events.size();
  options_.trace->add(std::move(event));
  return events.size() > before ? static_cast<std::int64_t>(before) : -1;
}

std::int64_t Run::opening_event(const char* name) {
  if (options_.trace == nullptr) return -1;
  if (acting_ != nullptr) return last_event_;
  return add_event({.row = "warp " + std::to_string(now_->index),
                    .name = name,
                    .cta = now_->cta->index,
                    .begin = time() - 1,
                    .end = time()});
}

void Run::trace_operation(const Operation& op) {
  if (options_.trace == nullptr) return;
  const int cta = static_cast<int>(op.issued.thread) / threads_per_cta_;
  const bool matrix =
      op.what.find("wgmma") != std::string::npos || op.what.find("mma") != std::string::npos;
  last_event_ = add_event({.row = matrix ? "tensor pipe" : "copies",
                           .name = op.what,
                           .cta = cta,
                           .begin = op.begun,
                           .end = time()});
}

void Run::trace_wait(const Warp& warp, const Group& group) {
  if (options_.trace == nullptr || !group.wait) return;
  const Wait& wait = *group.wait;
  options_.trace->add({.row = "warp " + std::to_string(warp.index),
                       .name = "waits for " + wait.what,
                       .cta = warp.cta->index,
                       .begin = group.since,
                       .end = time(),
                       .from = wait.opened_by != nullptr ? *wait.opened_by : -1});
}

std::string to_perfetto(const Trace& trace) {
  std::map<std::pair<int, std::string>, int> rows;
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", separator;
  const auto row_of = [&](const TraceEvent& e) {
    const auto [at, added] = rows.try_emplace({e.cta, e.row}, static_cast<int>(rows.size()) + 1);
    if (added) {
      out += separator + "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" + std::to_string(e.cta) +
             ",\"tid\":" + std::to_string(at->second) + ",\"args\":{\"name\":" + quoted(e.row) +
             "}}";
      separator = ",\n";
      out += separator +
             "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" + std::to_string(e.cta) +
             ",\"args\":{\"name\":\"CTA " + std::to_string(e.cta) + "\"}}";
    }
    return at->second;
  };
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const TraceEvent& e = trace.events[i];
    const int row = row_of(e);
    const std::string where =
        ",\"pid\":" + std::to_string(e.cta) + ",\"tid\":" + std::to_string(row);
    out += separator + "{\"ph\":\"X\",\"name\":" + quoted(e.name) + where +
           ",\"ts\":" + std::to_string(e.begin) + ",\"dur\":" + std::to_string(e.end - e.begin) +
           "}";
    if (e.from < 0) continue;
    // An arrow from what opened the barrier to who waited for it.
    const TraceEvent& f = trace.events[static_cast<std::size_t>(e.from)];
    const std::string id =
        ",\"id\":" + std::to_string(i) + ",\"cat\":\"barrier\",\"name\":\"barrier\"";
    out += ",\n{\"ph\":\"s\"" + id + ",\"pid\":" + std::to_string(f.cta) +
           ",\"tid\":" + std::to_string(rows.at({f.cta, f.row})) +
           ",\"ts\":" + std::to_string(f.end) + "}";
    out += ",\n{\"ph\":\"f\",\"bp\":\"e\"" + id + where + ",\"ts\":" + std::to_string(e.end) + "}";
  }
  return out + "\n]}\n";
}

}  // namespace assay::model
