//===- ProblemCopies.cpp - A schedule of copies ---------------------------===//
//
// A reader that needs a value in another layout than the stored one makes a copy. The next
// reader that needs the same copy may share it; then the copy is held in the interval between
// them. With given layouts, the only decision is in which of these intervals copies are held.
//
//===----------------------------------------------------------------------===//

#include "ProblemTables.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/OpQueries.h"

using namespace mlir;
using namespace mlir::spmd;

std::optional<int64_t> ShardingProblem::getOperandNumber(const Use &use) const {
  const Propagation::Node &node = propagation.getNode(use.node);
  if (!node.isIdentity)
    return node.hasOpRule && !isa<tensor::ParallelInsertSliceOp>(node.op) ? std::optional<int64_t>(use.tensor)
                                                                          : std::nullopt;
  std::optional<int64_t> number;
  for (OpOperand &operand : node.op->getOpOperands()) {
    if (operand.get() != propagation.getTensorValues(node)[0])
      continue;
    if (number)
      return std::nullopt;
    number = operand.getOperandNumber();
  }
  return number;
}

bool ShardingProblem::isUserReshardPerUse(const Use &use) const {
  auto given = propagation.getNode(use.node).op->getAttrOfType<DenseI64ArrayAttr>(kReshardPerUseAttr);
  std::optional<int64_t> number = given ? getOperandNumber(use) : std::nullopt;
  return number && llvm::is_contained(given.asArrayRef(), *number);
}

std::pair<int64_t, int64_t> ShardingProblem::getReadSpan(NodeId id) const {
  if (!options.live)
    return {id, id};
  Operation *op = propagation.getNode(id).op;
  auto [begin, end] = options.live->getSpan(op);
  // A reader of a constraint or a view reads the copy that was made for the operand.
  SmallVector<Operation *> seen;
  if (isConstraintLike(op) || isView(op))
    seen.push_back(op);
  while (!seen.empty()) {
    Operation *from = seen.pop_back_val();
    for (Operation *user : from->getUsers()) {
      if (Operation *here = op->getBlock()->findAncestorOpInBlock(*user))
        end = std::max(end, options.live->getSpan(here).second);
      if (isConstraintLike(user) || isView(user))
        seen.push_back(user);
    }
  }
  return {begin, end};
}

bool ShardingProblem::isRead(NodeId id) const {
  const Propagation::Node &node = propagation.getNode(id);
  return !isDeadConstraint(node.op) &&
         (node.isIdentity ? bool(propagation.getTensorValues(node)[0]) : nodes[id].computes);
}

std::optional<LayoutId> ShardingProblem::getRequested(const Use &use, ArrayRef<unsigned> choices) {
  const Propagation::Node &node = propagation.getNode(use.node);
  const ShardingRule::Tensor &tensor = node.rule->tensor(use.tensor);
  int32_t valueClass = propagation.getTensors(node)[use.tensor];
  Value value = propagation.getTensorValues(node)[use.tensor];
  unsigned strategy = getStrategyNumber(use.node, choices);
  if (!node.isIdentity && tensor.role == OperandRole::Input && tensor.type && isFilled(value))
    return table.intern(getTensorSharding(*node.rule, use.tensor, spaces[nodes[use.node].space][strategy]));
  if (valueClass < 0 || tensor.role == OperandRole::ShapeOnly || isRematerialized(value))
    return std::nullopt;
  LayoutId stored = getLayout(valueClass, choices), needed = getNeeded(use.node, use.tensor, strategy, stored);
  return needed == stored ? std::nullopt : std::optional(needed);
}

ShardingProblem::Reads ShardingProblem::getReads(ArrayRef<unsigned> choices) {
  Reads reads;
  for (NodeId id = 0; id < nodes.size(); ++id) {
    if (!isRead(id))
      continue;
    const Propagation::Node &node = propagation.getNode(id);
    auto [begin, end] = getReadSpan(id);
    for (unsigned t = 0; t < node.rule->numOperands(); ++t)
      if (std::optional<LayoutId> asked = getRequested({id, t}, choices))
        reads[{propagation.getTensorValues(node)[t], *asked}].push_back({begin, end, {id, t}});
  }
  for (auto &[copy, list] : reads)
    llvm::stable_sort(list, [](const Read &a, const Read &b) { return a.begin < b.begin; });
  return reads;
}

void ShardingProblem::holdValues(ArrayRef<unsigned> choices, Profile &profile) {
  for (const LiveBuffer &buffer : options.live->getBuffers()) {
    Value value = getKept(buffer);
    if (!value)
      profile.hold(buffer.begin, buffer.end, buffer.bytes);
    else if (propagation.contains(value) && buffer.bytes > 0)
      profile.hold(buffer.begin, buffer.end, getLocalBytes(propagation.getId(value), choices));
  }
  // Results before they are resharded to their stored layout.
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    if (node.isIdentity || !isRead(id))
      continue;
    ArrayRef<int32_t> tensors = propagation.getTensors(node);
    for (unsigned t = node.rule->numOperands(); t < tensors.size(); ++t) {
      if (tensors[t] < 0 || classes[tensors[t]].var == nodes[id].var)
        continue;
      LayoutId computed =
          table.intern(getTensorSharding(*node.rule, t, spaces[nodes[id].space][getStrategyNumber(id, choices)]));
      auto [begin, end] = getReadSpan(id);
      if (table.getComplete(computed) != getLayout(tensors[t], choices))
        profile.hold(begin, end, space.getLocalBytes(computed, getType(id, t)));
    }
  }
}

ShardingProblem::Copies ShardingProblem::scheduleCopies(ArrayRef<unsigned> choices, std::optional<int64_t> budget) {
  if (options.reshardPerUse == ReshardPerUse::Never)
    budget.reset(); // room for all of them
  Copies result;
  Profile lowest;
  if (options.live)
    holdValues(choices, lowest);
  // The interval between two readers of a copy.
  struct Interval {
    int64_t begin, end, bytes;
    Use reader;     // the one after the interval
    double seconds; // saved if the copy is held
    double rank = std::numeric_limits<double>::infinity();
  };
  std::vector<Interval> intervals;
  Profile highest;
  for (auto &[copy, reads] : getReads(choices)) {
    auto [value, layout] = copy;
    int64_t bytes = options.live ? space.getLocalBytes(layout, cast<RankedTensorType>(value.getType())) : 0;
    bool isMade = isFilled(value), mayShare = isMade || shared.contains(value);
    int64_t held = -1;     // the last point where the copy is held
    bool isShared = false; // by a reader that pays no copy of its own
    for (auto [i, use] : llvm::enumerate(reads)) {
      Read read = use;
      bool mayBePerUse = i > 0 && getOperandNumber(read.use), isAlone = !mayShare || isUserReshardPerUse(read.use);
      bool isFirst = !isAlone && !std::exchange(isShared, true);
      if (mayBePerUse && (isAlone || isFirst)) {
        result.perUse.push_back(read.use);
      } else if (i > 0) {
        if (mayBePerUse && held + 1 < read.begin && options.live) {
          const Propagation::Node &node = propagation.getNode(read.use.node);
          double seconds = isMade ? 0
                                  : getSeconds(getLayout(propagation.getId(value), choices), layout,
                                               cast<RankedTensorType>(value.getType())) *
                                        propagation.getCount(node, read.use.tensor);
          intervals.push_back({held + 1, read.begin - 1, bytes, read.use, seconds});
          highest.hold(held + 1, read.begin - 1, bytes);
        } else {
          read.begin = std::min(read.begin, held + 1); // held in between
        }
        // Points where the copy is already held count once.
        if (held >= read.begin)
          read.begin = held + 1;
      }
      if (options.live && read.begin <= read.end)
        lowest.hold(read.begin, read.end, bytes);
      held = std::max(held, read.end);
    }
  }
  if (options.live) {
    std::vector<int64_t> points = lowest.getPoints(), held = highest.getPoints();
    points.resize(std::max(points.size(), held.size()), 0);
    auto isAbove = [&](size_t p) { return budget && points[p] + (p < held.size() ? held[p] : 0) > *budget; };
    // Points that would be above the budget, before each point.
    std::vector<int64_t> above(points.size() + 1, 0);
    for (size_t p = 0; p < points.size(); ++p)
      above[p + 1] = above[p] + isAbove(p);
    for (Interval &interval : intervals)
      if (int64_t crossed = above[interval.end + 1] - above[interval.begin])
        interval.rank = interval.seconds / (double(interval.bytes) * double(crossed) + 1);
    llvm::stable_sort(intervals, [](const Interval &a, const Interval &b) { return a.rank > b.rank; });
    for (const Interval &interval : intervals) {
      auto span = llvm::make_range(points.begin() + interval.begin, points.begin() + interval.end + 1);
      if (budget && *llvm::max_element(span) + interval.bytes > *budget) {
        result.perUse.push_back(interval.reader);
        continue;
      }
      for (int64_t &point : span)
        point += interval.bytes;
    }
    auto peak = llvm::max_element(points);
    if (peak != points.end()) {
      result.peak = *peak;
      result.peakPoint = peak - points.begin();
    }
  }
  llvm::sort(result.perUse);
  return result;
}
