//===- ProblemOverlap.cpp - Moves that overlap with compute ---------------===//
//
// A move can be under way while the ops between the one that makes its value and its reader compute: its window. What
// an op computes hides one move at a time, of which that fraction passes which the mesh gives as its overlap. A cost
// graph cannot say that, since who hides depends on all choices. So moves cost what is left of them after a given time
// of compute, their room:
//
//   all          all that is computed in the window, as the strategies of known choices compute it
//   left         what other moves of known choices leave of it
//   bound        a lower bound (below)
//
// The objective counts what really passes, with each op once (getHiddenSeconds).
//
// The bound is that of linear programming. What passes in total is the fraction of the most that can be assigned from
// ops to moves whose window they are in: at most what an op computes, and at most what a move takes. For any set of ops
// that is at most what these compute, and what those moves take whose window has an op outside of the set. So the
// objective is at least the compute of the other ops, the moves whose window lies within the set, and of all others
// what the fraction leaves, whatever the choices. The set is that of ops of which known choices leave nothing: for
// these choices both are equal if the most was assigned.
//
//===----------------------------------------------------------------------===//

#include "ProblemTables.h"
#include <cmath>

using namespace mlir;
using namespace mlir::spmd;

/// Rooms have so many significant bits, so that equal layers have equal prices.
static constexpr int kRoomBits = 4;

static double roundRoom(double room) {
  if (room <= 0)
    return 0;
  double unit = std::ldexp(1.0, std::ilogb(room) - kRoomBits);
  return unit * std::floor(room / unit);
}

void ShardingProblem::numberOps() {
  llvm::SmallPtrSet<Operation *, 2> known;
  for (NodeId id = 0; id < nodes.size(); ++id) {
    Operation *top = propagation.getNode(id).op;
    while (Operation *parent = top->getParentOp()) {
      if (isa<ModuleOp>(parent))
        break;
      top = parent;
    }
    if (!known.insert(top).second)
      continue;
    auto number = [&](auto &self, Operation *op) -> void {
      unsigned begin = numPositions++;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Operation &inner : block)
            self(self, &inner);
      spans[op] = {begin, numPositions};
    };
    number(number, top);
  }
}

std::vector<double> ShardingProblem::getComputeAt(ArrayRef<unsigned> choices) const {
  std::vector<double> seconds(numPositions, 0);
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    if (!nodes[id].computes || !node.hasOpRule)
      continue;
    seconds[spans.lookup(node.op).first] += options.getComputeSeconds(node) / getNumDevices(*getStrategy(id, choices));
  }
  return seconds;
}

ShardingProblem::Window ShardingProblem::getReadWindow(Value value, Operation *reader) const {
  Window window{spans.lookup(reader->getParentOp()).first + 1, spans.lookup(reader).first};
  if (Operation *maker = value.getDefiningOp())
    window.begin = std::max(window.begin, spans.lookup(maker).second);
  return window;
}

ShardingProblem::Window ShardingProblem::getCompletionWindow(Value value, Operation *maker) const {
  Window window{spans.lookup(maker).second, spans.lookup(maker->getParentOp()).second};
  for (Operation *user : value.getUsers())
    if (Operation *here = maker->getBlock()->findAncestorOpInBlock(*user))
      window.end = std::min(window.end, spans.lookup(here).first);
  return window;
}

double ShardingProblem::getHiddenSeconds(ArrayRef<unsigned> choices, ArrayRef<Use> perUse) {
  if (!hidesMoves())
    return 0;
  left = getComputeAt(choices);
  taken.clear();
  struct Entry {
    Window window;
    Value value;
    double seconds;
  };
  std::vector<Entry> entries;
  for (const PaidMove &move : getMoves(choices, perUse))
    if (move.kind == PaidMove::Read)
      entries.push_back({getReadWindow(move.value, move.op), move.value, move.seconds});
    else if (move.kind == PaidMove::Completed)
      entries.push_back({getCompletionWindow(move.value, move.op), move.value, move.seconds});
  llvm::stable_sort(entries, [](const Entry &a, const Entry &b) {
    return std::pair(a.window.end, a.window.begin) < std::pair(b.window.end, b.window.begin);
  });
  // Before each position the last one with some left, as far as known.
  std::vector<unsigned> last(numPositions + 1, 0);
  std::iota(last.begin() + 1, last.end(), 0u);
  auto find = [&](unsigned end) {
    unsigned found = end;
    while (found > 0 && left[found - 1] == 0)
      found = last[found];
    while (end != found)
      end = std::exchange(last[end], found);
    return found;
  };
  double hidden = 0;
  for (const Entry &entry : entries) {
    double open = entry.seconds;
    // The latest ops first: a result that comes early uses memory.
    for (unsigned end = find(entry.window.end); end > entry.window.begin && open > 0; end = find(end)) {
      double more = std::min(open, left[end - 1]);
      left[end - 1] -= more;
      open -= more;
    }
    taken[entry.value] += entry.seconds - open;
    hidden += entry.seconds - open;
  }
  return options.overlap * hidden;
}

void ShardingProblem::setRooms(Rooms how, ArrayRef<unsigned> choices, ArrayRef<Use> perUse) {
  rooms = how;
  passed.assign(numPositions + 1, 0);
  if (how == Rooms::All)
    left = getComputeAt(choices);
  else if (how != Rooms::None)
    getHiddenSeconds(choices, perUse);
  if (how != Rooms::Left)
    taken.clear();
  if (how != Rooms::None)
    std::partial_sum(left.begin(), left.end(), passed.begin() + 1);
  build();
}

double ShardingProblem::getRoom(Value value, Window window) const {
  if (window.end <= window.begin)
    return 0;
  double room = passed[window.end] - passed[window.begin];
  if (rooms == Rooms::Bound)
    return room > 0 ? kImpossible : 0;
  return roundRoom(room + taken.lookup(value));
}

bool ShardingProblem::isBound(NodeId id) const {
  return rooms == Rooms::Bound && left[spans.lookup(propagation.getNode(id).op).first] == 0;
}

double ShardingProblem::getSharedRoom(Value value) const {
  if (rooms == Rooms::None)
    return 0;
  return getRoom(value, getReadWindow(value, propagation.getNode(shared.find(value)->second.readers[0].node).op));
}

unsigned ShardingProblem::getRest(unsigned prices, double room) {
  if (room == 0 || llvm::all_of(priceTables[prices].seconds, [](double s) { return s == 0 || s == kImpossible; }))
    return prices;
  return getTable({kRest, prices, llvm::bit_cast<int64_t>(room)}, [&] {
    PriceTable rest = priceTables[prices];
    for (double &seconds : rest.seconds)
      if (seconds < kImpossible)
        seconds -= options.overlap * std::min(room, seconds);
    return rest;
  });
}
