// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/code/cubin.hpp"

namespace assay::sass {
namespace {

constexpr double kLeft = 90, kPlot = 1080, kLane = 26, kGap = 8, kRight = 20;

// Colours that a viewer's dark mode replaces; pipes beyond the list share the last one.
constexpr const char* kStyle = R"(<style>
svg { font: 12px system-ui, sans-serif; background: #fff; --ink: #1a1a1a; --faint: #d9d9d9; --lane: #f4f4f4; --wait: #b3261e; }
.c0 { fill: #0072b2; } .c1 { fill: #d55e00; } .c2 { fill: #009e73; } .c3 { fill: #cc79a7; }
.c4 { fill: #e69f00; } .c5 { fill: #56b4e9; } .c6 { fill: #7a6a00; } .c7 { fill: #777; }
text { fill: var(--ink); } .small { font-size: 10px; } .on { fill: #fff; font-size: 10px; pointer-events: none; }
rect[class^=c] { stroke: var(--lane); stroke-width: .4; }
.lane { fill: var(--lane); } .grid { stroke: var(--faint); } .before { opacity: .45; }
.wait { fill: var(--wait); opacity: .3; } .arrow { fill: none; stroke: var(--wait); marker-end: url(#tip); }
#tip path { fill: var(--wait); }
@media (prefers-color-scheme: dark) {
  svg { background: #16181c; --ink: #e6e6e6; --faint: #3a3d44; --lane: #1f2228; --wait: #ff8a80; }
}
</style>
)";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '&')
      safe += "&amp;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

// A step between 1, 2 and 5 times a power of ten, about ten of which fill `cycles`.
double tick_of(double cycles) {
  const double power = std::pow(10, std::floor(std::log10(std::max(cycles, 1.0) / 10)));
  for (const double step : {1.0, 2.0, 5.0})
    if (cycles / (step * power) <= 12) return std::max(step * power, 1.0);
  return std::max(10 * power, 1.0);
}

// The panel of one role.
class Panel {
 public:
  Panel(const Function& function, const PartAnalysis& part, double top)
      : function_(function), part_(part), cycles_(std::max(part.schedule.cycles, 1.0)), top_(top) {
    lanes_.emplace_back("issue");
    for (const PipeLoad& load : part.pipes)
      if (std::ranges::any_of(part.opcodes, [&](const OpcodeLoad& opcode) {
            return opcode.cost.pipe->name == load.pipe;
          }))
        lanes_.emplace_back(load.pipe);
    for (const OpcodeLoad& opcode : part.opcodes) pipe_of_[opcode.opcode] = opcode.cost.pipe->name;
  }

  double height() const { return static_cast<double>(lanes_.size()) * (kLane + kGap) + 30; }

  std::string draw() const {
    std::string text;
    const double tick = tick_of(cycles_);
    for (double at = 0; at <= cycles_; at += tick)
      text += fmt::format(
          "<line class='grid' x1='{0:.1f}' x2='{0:.1f}' y1='{1:.1f}' y2='{2:.1f}'/>"
          "<text class='small' x='{0:.1f}' y='{3:.1f}' text-anchor='middle'>{4}</text>\n",
          x(at), top_, top_ + height() - 26, top_ + height() - 14, at);
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
      text += fmt::format(
          "<text x='{:.1f}' y='{:.1f}' text-anchor='end'>{}</text>"
          "<rect class='lane' x='{}' y='{:.1f}' width='{}' height='{}'/>\n",
          kLeft - 8, y(lane) + kLane * 0.68, lanes_[lane], kLeft, y(lane), kPlot, kLane);
    for (const Step& step : part_.schedule.steps) text += instruction(step);
    for (const Step& step : part_.schedule.steps) text += waiting(step);
    return text;
  }

 private:
  double x(double cycle) const { return kLeft + cycle / cycles_ * kPlot; }
  double y(std::size_t lane) const { return top_ + static_cast<double>(lane) * (kLane + kGap); }
  std::size_t lane_of(const Instruction& instruction) const {
    const auto pipe = pipe_of_.find(instruction.opcode);
    if (pipe == pipe_of_.end()) return 0;
    return static_cast<std::size_t>(std::ranges::find(lanes_, pipe->second) - lanes_.begin());
  }

  std::string box(std::size_t lane, std::size_t colour, double begin, double end,
                  const std::string& title, const char* extra) const {
    const double width = std::max(x(end) - x(begin), 0.7);
    std::string text = fmt::format(
        "<rect class='c{}{}' x='{:.2f}' y='{:.1f}' width='{:.2f}' height='{}'><title>{}</title>"
        "</rect>\n",
        std::min<std::size_t>(colour, 7), extra, x(begin), y(lane) + 2, width, kLane - 4, title);
    const std::string label = title.substr(0, title.find_first_of(" ."));
    if (lane > 0 && width > 8.0 * static_cast<double>(label.size()))
      text += fmt::format("<text class='on' x='{:.1f}' y='{:.1f}'>{}</text>\n", x(begin) + 4,
                          y(lane) + kLane * 0.64, label);
    return text;
  }

  std::string instruction(const Step& step) const {
    const Instruction& instruction = function_.code[step.index];
    const std::size_t lane = lane_of(instruction), colour = lane == 0 ? 7 : lane - 1;
    const std::string title =
        fmt::format("{} (at {:04x}, cycle {:.0f})", escaped(instruction.text()),
                    instruction.address, step.issue);
    std::string text = box(0, colour, step.issue, std::min(step.issue + 1, cycles_), title, "");
    if (lane == 0) return text;
    // Busy beyond the iteration: the rest comes round to its beginning.
    double begin = std::fmod(step.begin, cycles_), left = step.end - step.begin;
    bool before = step.begin >= cycles_;
    for (int rounds = 0; left > 1e-9 && rounds < 2; ++rounds) {
      const double end = std::min(begin + left, cycles_);
      text += box(lane, colour, begin, end, title, before ? " before" : "");
      left -= end - begin;
      begin = 0;
      before = true;
    }
    return text;
  }

  std::string waiting(const Step& step) const {
    if (step.waited < 0.5) return "";
    const double asked = std::max(step.issue - step.waited, 0.0);
    std::string text = fmt::format(
        "<rect class='wait' x='{:.2f}' y='{:.1f}' width='{:.2f}' height='{}'><title>{:.0f} cycles "
        "for {}</title></rect>\n",
        x(asked), y(0), x(step.issue) - x(asked), kLane, step.waited, escaped(step.why));
    if (!step.producer) return text;
    const Step& producer = part_.schedule.steps[step.producer->step];
    const std::size_t lane = lane_of(function_.code[producer.index]);
    if (lane == 0) return text;
    // From the end of the producer's work, as far as that lies in view.
    const double from =
        std::clamp(producer.end - step.producer->iterations_ago * cycles_, 0.0, step.issue);
    const double x1 = x(from), y1 = y(lane) + 2, x2 = x(step.issue), y2 = y(0) + kLane;
    return text + fmt::format(
                      "<path class='arrow' d='M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} "
                      "{:.1f} {:.1f}'/>\n",
                      x1, y1, x1, (y1 + y2) / 2, x2, (y1 + y2) / 2, x2, y2);
  }

  const Function& function_;
  const PartAnalysis& part_;
  double cycles_, top_;
  std::vector<std::string> lanes_;
  std::map<std::string, std::string> pipe_of_;  // opcode to pipe
};

}  // namespace

std::string timeline_svg(const KernelAnalysis& kernel, const LoopAnalysis& loop) {
  const Function& function = *kernel.function;
  std::string body;
  double top = 50;
  for (const PartAnalysis& part : loop.parts) {
    body +=
        fmt::format("<text x='{}' y='{:.1f}'>warps {}: {:.0f} cycles an iteration, alone</text>\n",
                    kLeft, top + 4, text_of(part.who), part.schedule.cycles);
    const Panel panel(function, part, top + 14);
    body += panel.draw();
    top += panel.height() + 24;
  }
  const double width = kLeft + kPlot + kRight;
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0:.0f} {1:.0f}' width='{0:.0f}' "
      "height='{1:.0f}' role='img'>\n<title>{2}</title>\n{3}"
      "<defs><marker id='tip' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' "
      "markerHeight='7' orient='auto'><path d='M0 0L8 4L0 8z'/></marker></defs>\n"
      "<text x='{4}' y='20' font-weight='bold'>{2}</text>\n"
      "<text x='{4}' y='37' class='small'>loop {5} for {6}; {7} warps an SM: at least {8:.0f} "
      "cycles an iteration, bound by {9}</text>\n{10}</svg>\n",
      width, top, escaped(demangled(function.name).substr(0, 140)), kStyle, kLeft,
      address_range(function, loop.shape), function.arch, loop.warps(), loop.predicted(),
      loop.bound_by(), body);
}

}  // namespace assay::sass
