//===- Timeline.cpp - A schedule as text and as a page --------------------===//

#include "shardkit/Stages/Timeline.h"

#include "shardkit/Support/Page.h"
#include "shardkit/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <map>
#include <tuple>

using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::raw_ostream;
using llvm::SmallVector;
using llvm::StringRef;

static constexpr double kRow = 40, kBoxHeight = 24, kTop = 6, kLeft = 64;
static constexpr double kRunWidth = 48; // the mean run

static constexpr llvm::StringLiteral kStyle = R"(
svg.timeline { max-width: 100%; }
svg.timeline g.forward rect { fill: var(--argument); stroke: #6f93bd; }
svg.timeline g.backward rect { fill: var(--flow); stroke: #7fa563; }
svg.timeline g.apply rect { fill: var(--collective); stroke: #b99b4a; }
svg.timeline g[role] { cursor: pointer; }
svg.timeline g:hover rect, svg.timeline g:focus rect, svg.timeline g.chosen rect { stroke: var(--text); stroke-width: 2; }
svg.timeline g.send path { stroke: var(--collective-line); stroke-width: 1.5; }
svg.timeline g.send path.hit { stroke: transparent; stroke-width: 9; }
svg.timeline g.send:hover path, svg.timeline g.send:focus path, svg.timeline g.send.chosen path { stroke: var(--text); stroke-opacity: 1; }
svg.timeline g.send:hover path.hit, svg.timeline g.send:focus path.hit, svg.timeline g.send.chosen path.hit { stroke: transparent; }
svg.timeline g:focus { outline: none; }
.schedule { display: grid; grid-template-columns: minmax(0, 1fr) 320px; }
.schedule aside { margin-left: 10px; border: 1px solid var(--line); padding: 8px; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; }
)";

// Details of what is clicked, or reached by the keyboard, are shown next to the drawing.
static constexpr llvm::StringLiteral kScript = R"js(
(() => {
  'use strict';
  for (const schedule of document.querySelectorAll('.schedule')) {
    const panel = schedule.querySelector('aside');
    for (const item of schedule.querySelectorAll('[data-details]')) {
      const choose = () => {
        schedule.querySelectorAll('.chosen').forEach(e => e.classList.remove('chosen'));
        item.classList.add('chosen');
        panel.textContent = item.dataset.details;
      };
      item.addEventListener('click', choose);
      item.addEventListener('focus', choose);
    }
  }
})();
)js";

/// `F3`, `F3.1` or `A`; `chunk` is the number of a stage among those of its mesh, -1 if it
/// has one only.
static std::string getLabel(StageFragment fragment, int64_t microbatch, int64_t chunk) {
  if (fragment == StageFragment::Apply)
    return "A";
  std::string text = (fragment == StageFragment::Forward ? "F" : "B") + std::to_string(microbatch);
  return chunk < 0 ? text : text + "." + std::to_string(chunk);
}

void mlir::spmd::printTimeline(const ClockTable &table, raw_ostream &os) {
  auto getText = [&](const Cell &cell) -> std::string {
    if (cell.isIdle())
      return "--";
    return getLabel(cell.fragment, cell.microbatch, table.virtualStages > 1 ? cell.stage / table.numMeshes : -1);
  };
  size_t width = 0;
  for (const Cell &cell : table.cells)
    width = std::max(width, getText(cell).size());
  size_t digits = std::to_string(table.numMeshes - 1).size();
  for (int64_t mesh = 0; mesh < table.numMeshes; ++mesh) {
    std::string line = "mesh " + std::to_string(mesh);
    line.resize(digits + 6, ' ');
    for (int64_t row = 0; row < table.getNumRows(); ++row) {
      std::string text = getText(table.getRow(row)[mesh]);
      text.resize(width, ' ');
      line += " " + text;
    }
    os << StringRef(line).rtrim() << "\n";
  }
}

namespace {

/// Draws the runs of each mesh as boxes along a time axis. Example: a forward run of 2 s on mesh
/// 0, whose value mesh 1 uses in a run that starts 1 s after its end, gives a box from 0 to 2 s in
/// row 0, a box from 3 s on in row 1, and a line from (2 s, row 0) to (3 s, row 1).
class Drawing {
public:
  Drawing(const PipelineProgram &program, const InstructionLists &lists, ArrayRef<double> seconds, raw_ostream &os)
      : program(program), lists(lists), seconds(seconds), os(os), width(program.functions.size()) {
    double sum = 0;
    int64_t known = 0, unknown = 0;
    for (const std::vector<Instruction> &list : lists)
      for (const Instruction &instruction : list)
        if (instruction.kind == Instruction::Kind::Run) {
          numMicrobatches = std::max(numMicrobatches, instruction.microbatch + 1);
          bool isKnown = hasSeconds(instruction.function);
          sum += isKnown ? seconds[instruction.function] : 0;
          ++(isKnown ? known : unknown);
        }
    isExact = unknown == 0 && sum > 0;
    mean = sum > 0 ? sum / known : 1;
    for (size_t f = 0; f < width.size(); ++f)
      width[f] = hasSeconds(f) ? seconds[f] : mean;

    chunks.assign(program.meshOfStage.size(), -1);
    SmallVector<int64_t> numStages(lists.size(), 0);
    for (auto [stage, mesh] : llvm::enumerate(program.meshOfStage))
      chunks[stage] = numStages[mesh]++;
    if (llvm::all_of(numStages, [](int64_t count) { return count <= 1; }))
      chunks.assign(chunks.size(), -1);
  }

  void print();

private:
  /// A run and its start.
  struct DrawnRun {
    int64_t mesh;
    size_t index;
    double start;
  };
  struct DrawnSend {
    SentValue sent;
    int64_t clock; // in which it is first used
    double begun, used;
  };

  bool hasSeconds(size_t function) const {
    return function < seconds.size() && seconds[function] >= 0 && std::isfinite(seconds[function]);
  }

  void scheduleRuns();
  double getX(double time) const { return kLeft + time / mean * kRunWidth; }
  static double getY(int64_t mesh) { return kTop + mesh * kRow; }

  void printMeshes();

  /// From where it is sent to where it is first used.
  void printSend(const DrawnSend &send);
  void printRun(const DrawnRun &drawn);
  /// Begins a group whose details the panel shows.
  void beginItem(StringRef kind, StringRef details);

  const PipelineProgram &program;
  const InstructionLists &lists;
  ArrayRef<double> seconds;
  raw_ostream &os;
  std::vector<double> width;   // by function, in seconds, or in units of the mean
  std::vector<int64_t> chunks; // by stage
  bool isExact;                // all runs have known seconds
  int64_t numMicrobatches = 0;
  double mean = 1, end = 0;
  std::vector<DrawnRun> runs;
  std::vector<DrawnSend> sends;
  std::vector<double> busy; // by mesh
};

void Drawing::print() {
  scheduleRuns();
  printMeshes();
  os << "<p>A box is a run, a line connects a send with the first use.";
  if (!isExact)
    os << " Not all functions have a known time: those that have none are drawn as wide as the "
          "mean.";
  os << "</p>\n<div class=\"schedule\"><div class=\"graph\"><svg class=\"timeline\" width=\"" << int64_t(getX(end) + 20)
     << "\" viewBox=\"0 0 " << int64_t(getX(end) + 20) << " " << int64_t(kTop + lists.size() * kRow) << "\">\n";
  for (int64_t mesh = 0; mesh < int64_t(lists.size()); ++mesh)
    os << "<text x=\"8\" y=\"" << int64_t(getY(mesh) + 16) << "\">mesh " << mesh << "</text>\n";
  for (const DrawnSend &send : sends)
    printSend(send);
  for (const DrawnRun &run : runs)
    printRun(run);
  os << "</svg></div><aside aria-live=\"polite\">Click a run for its function and what it sends, and a line for what it "
        "moves. Tab goes from one to the next.</aside></div>\n";
}

void Drawing::beginItem(StringRef kind, StringRef details) {
  os << "<g class=\"" << kind << "\" tabindex=\"0\" role=\"button\" data-details=\"";
  llvm::interleave(llvm::split(details, '\n'), [&](StringRef line) { os << Escaped{line}; }, [&] { os << "&#10;"; });
  os << "\">";
}

void Drawing::scheduleRuns() {
  SmallVector<double> now(lists.size(), 0);
  busy.assign(lists.size(), 0);
  // The times at which a value was sent and at which the other mesh first used it.
  std::map<std::tuple<int64_t, int64_t, ValueInstance>, std::pair<double, double>> times;
  auto timesOf = [&](const SentValue &sent) -> auto & { return times[{sent.from, sent.to, sent.instance}]; };
  replay(program, lists, numMicrobatches, [&](int64_t mesh, size_t index, ArrayRef<SentValue> awaited) {
    const Instruction &instruction = lists[mesh][index];
    for (const SentValue &sent : awaited) {
      auto &[begun, used] = timesOf(sent);
      now[mesh] = std::max(now[mesh], sent.to == mesh ? begun : used);
    }
    for (const SentValue &sent : awaited)
      if (sent.to == mesh) {
        auto &[begun, used] = timesOf(sent);
        used = now[mesh];
        sends.push_back({sent, instruction.clock, begun, used});
      }
    if (instruction.kind == Instruction::Kind::Run) {
      runs.push_back({mesh, index, now[mesh]});
      now[mesh] += width[instruction.function];
      busy[mesh] += width[instruction.function];
      end = std::max(end, now[mesh]);
    }
    for (ValueInstance instance : instruction.sends)
      timesOf({mesh, instruction.peer, instance}).first = now[mesh];
  });
}

void Drawing::printMeshes() {
  os << "<table>\n<tr><th>mesh</th><th>stages</th>";
  if (isExact)
    os << "<th>busy</th><th>of</th>";
  os << "<th>idle, %</th></tr>\n";
  for (int64_t mesh = 0; mesh < int64_t(lists.size()); ++mesh) {
    os << "<tr><td class=\"n\">" << mesh << "</td><td>";
    llvm::ListSeparator separator;
    for (auto [stage, stageMesh] : llvm::enumerate(program.meshOfStage))
      if (stageMesh == mesh)
        os << separator << stage;
    os << "</td>";
    if (isExact)
      os << "<td class=\"n\">" << formatSeconds(busy[mesh]) << "</td><td class=\"n\">" << formatSeconds(end) << "</td>";
    os << "<td class=\"n\">" << llvm::format("%.1f", end > 0 ? 100 * (end - busy[mesh]) / end : 0.0) << "</td></tr>\n";
  }
  os << "</table>\n";
}

void Drawing::printSend(const DrawnSend &send) {
  auto [from, to, instance] = send.sent;
  std::string details, path;
  llvm::raw_string_ostream(details) << "mesh " << from << " sends " << toString(program, instance) << " to mesh " << to
                                    << ", which uses it in clock " << send.clock;
  llvm::raw_string_ostream(path) << " d=\"M" << llvm::format("%.1f", getX(send.begun)) << " "
                                 << int64_t(getY(from) + (from < to ? kBoxHeight : 0)) << "L"
                                 << llvm::format("%.1f", getX(send.used)) << " "
                                 << int64_t(getY(to) + (from < to ? 0 : kBoxHeight)) << "\"/>";
  beginItem("send", details);
  os << "<path" << path << "<path class=\"hit\"" << path << "</g>\n";
}

void Drawing::printRun(const DrawnRun &drawn) {
  const std::vector<Instruction> &list = lists[drawn.mesh];
  const Instruction &run = list[drawn.index];
  const StageFunction &function = program.functions[run.function];
  double x = getX(drawn.start), wide = getX(drawn.start + width[run.function]) - x;
  std::string text;
  llvm::raw_string_ostream details(text);
  details << function.name;
  if (run.microbatch >= 0)
    details << ", microbatch " << run.microbatch;
  details << "\nstage " << function.stage << ", clock " << run.clock;
  if (hasSeconds(run.function))
    details << ", " << formatSeconds(width[run.function]);
  // Values that it wrote and that are sent in the same clock; a sum is sent after its last update.
  for (const Instruction &next : ArrayRef(list).drop_front(drawn.index + 1)) {
    if (next.clock != run.clock)
      break;
    for (ValueInstance instance : next.sends)
      if (llvm::is_contained(function.writes, instance.value))
        details << "\nsends " << toString(program, instance) << " to mesh " << next.peer;
  }
  beginItem(toString(function.fragment), text);
  os << "<rect x=\"" << llvm::format("%.1f", x) << "\" y=\"" << int64_t(getY(drawn.mesh)) << "\" width=\""
     << llvm::format("%.1f", std::max(wide, 1.0)) << "\" height=\"" << int64_t(kBoxHeight) << "\"/>";
  std::string label = getLabel(function.fragment, run.microbatch, chunks[function.stage]);
  constexpr double kLetter = 6.5;
  if (wide >= kLetter * label.size())
    os << "<text x=\"" << llvm::format("%.1f", x + 3) << "\" y=\"" << int64_t(getY(drawn.mesh) + 16) << "\">" << label
       << "</text>";
  os << "</g>\n";
}

} // namespace

llvm::StringRef mlir::spmd::getTimelineStyle() { return kStyle; }
llvm::StringRef mlir::spmd::getTimelineScript() { return kScript; }

void mlir::spmd::drawTimeline(const PipelineProgram &program, const InstructionLists &lists, ArrayRef<double> seconds,
                              raw_ostream &os) {
  Drawing(program, lists, seconds, os).print();
}

void mlir::spmd::printTimelinePage(const PipelineProgram &program, const InstructionLists &lists,
                                   ArrayRef<double> seconds, raw_ostream &os) {
  beginPage("Pipeline timeline", kStyle, os);
  drawTimeline(program, lists, seconds, os);
  endPage(os, kScript);
}
