//===- ProblemCopies.cpp - Which copies of values are held, and how long --===//
//
// A reader that wants a value otherwise than it is kept has a copy made. The next
// reader that wants the same may share it; then it is held in between. Which of these
// gaps a copy is held across is all that there is to decide once layouts are chosen.
//
//===----------------------------------------------------------------------===//

#include "ProblemTables.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"

using namespace mlir;
using namespace mlir::spmd;

std::optional<int64_t> ShardingProblem::getOperandNumber(const Use &use) const {
  const Propagation::Node &node = propagation.getNode(use.node);
  if (!node.handsOn)
    return node.isOwnRule && !isa<tensor::ParallelInsertSliceOp>(node.op) ? std::optional<int64_t>(use.tensor)
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

bool ShardingProblem::isGivenAnew(const Use &use) const {
  auto given = propagation.getNode(use.node).op->getAttrOfType<DenseI64ArrayAttr>(kReshardPerUseAttr);
  std::optional<int64_t> number = given ? getOperandNumber(use) : std::nullopt;
  return number && llvm::is_contained(given.asArrayRef(), *number);
}

std::pair<int64_t, int64_t> ShardingProblem::getReadSpan(NodeId id) const {
  if (!options.live)
    return {id, id};
  Operation *op = propagation.getNode(id).op;
  auto [begin, end] = options.live->getSpan(op);
  // Who reads a pin or a view reads the copy that was made for it.
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
  return !isDeadPin(node.op) && (node.handsOn ? bool(propagation.getTensorValues(node)[0]) : nodes[id].computes);
}

std::optional<LayoutId> ShardingProblem::getAsked(const Use &use, ArrayRef<unsigned> choices) {
  const Propagation::Node &node = propagation.getNode(use.node);
  const ShardingRule::Tensor &tensor = node.rule->tensor(use.tensor);
  int32_t place = propagation.getTensors(node)[use.tensor];
  Value value = propagation.getTensorValues(node)[use.tensor];
  unsigned strategy = getStrategyNumber(use.node, choices);
  if (!node.handsOn && tensor.role == OperandRole::Input && tensor.type && isFilled(value))
    return table.intern(getTensorSharding(*node.rule, use.tensor, spaces[nodes[use.node].space][strategy]));
  if (place < 0 || tensor.role == OperandRole::ShapeOnly || isMadeAnew(value))
    return std::nullopt;
  LayoutId home = getLayout(place, choices), needed = getNeeded(use.node, use.tensor, strategy, home);
  return needed == home ? std::nullopt : std::optional(needed);
}

ShardingProblem::Reads ShardingProblem::getReads(ArrayRef<unsigned> choices) {
  Reads reads;
  for (NodeId id = 0; id < nodes.size(); ++id) {
    if (!isRead(id))
      continue;
    const Propagation::Node &node = propagation.getNode(id);
    auto [begin, end] = getReadSpan(id);
    for (unsigned t = 0; t < node.rule->numOperands(); ++t)
      if (std::optional<LayoutId> asked = getAsked({id, t}, choices))
        reads[{propagation.getTensorValues(node)[t], *asked}].push_back({begin, end, {id, t}});
  }
  for (auto &[copy, own] : reads)
    llvm::stable_sort(own, [](const Read &a, const Read &b) { return a.begin < b.begin; });
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
  // Results on their way to where they are kept.
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    if (node.handsOn || !isRead(id))
      continue;
    ArrayRef<int32_t> tensors = propagation.getTensors(node);
    for (unsigned t = node.rule->numOperands(); t < tensors.size(); ++t) {
      if (tensors[t] < 0 || places[tensors[t]].var == nodes[id].var)
        continue;
      LayoutId produced =
          table.intern(getTensorSharding(*node.rule, t, spaces[nodes[id].space][getStrategyNumber(id, choices)]));
      auto [begin, end] = getReadSpan(id);
      if (table.getComplete(produced) != getLayout(tensors[t], choices))
        profile.hold(begin, end, space.getLocalBytes(produced, getType(id, t)));
    }
  }
}

ShardingProblem::Copies ShardingProblem::holdCopies(ArrayRef<unsigned> choices, std::optional<int64_t> budget) {
  if (options.regather == Regather::Never)
    budget.reset(); // room for all of them
  Copies result;
  Profile least;
  if (options.live)
    holdValues(choices, least);
  // Between two readers of a copy.
  struct Gap {
    int64_t begin, end, bytes;
    Use reader;     // behind it
    double seconds; // what is saved where the copy is held
    double rank = std::numeric_limits<double>::infinity();
  };
  std::vector<Gap> gaps;
  Profile most;
  for (auto &[copy, reads] : getReads(choices)) {
    auto [value, layout] = copy;
    int64_t bytes = options.live ? space.getLocalBytes(layout, cast<RankedTensorType>(value.getType())) : 0;
    bool isMade = isFilled(value), mayShare = isMade || shared.contains(value);
    int64_t held = -1;     // to there
    bool isShared = false; // by a reader that pays no copy of its own
    for (auto [i, use] : llvm::enumerate(reads)) {
      Read read = use;
      bool mayBeAnew = i > 0 && getOperandNumber(read.use), isAlone = !mayShare || isGivenAnew(read.use);
      bool isFirst = !isAlone && !std::exchange(isShared, true);
      if (mayBeAnew && (isAlone || isFirst)) {
        result.anew.push_back(read.use);
      } else if (i > 0) {
        if (mayBeAnew && held + 1 < read.begin && options.live) {
          const Propagation::Node &node = propagation.getNode(read.use.node);
          double seconds = isMade ? 0
                                  : getSeconds(getLayout(propagation.getId(value), choices), layout,
                                               cast<RankedTensorType>(value.getType())) *
                                        propagation.getCount(node, read.use.tensor);
          gaps.push_back({held + 1, read.begin - 1, bytes, read.use, seconds});
          most.hold(held + 1, read.begin - 1, bytes);
        } else {
          read.begin = std::min(read.begin, held + 1); // held in between
        }
        // What is held to there anyway is counted once.
        if (held >= read.begin)
          read.begin = held + 1;
      }
      if (options.live && read.begin <= read.end)
        least.hold(read.begin, read.end, bytes);
      held = std::max(held, read.end);
    }
  }
  if (options.live) {
    std::vector<int64_t> points = least.getPoints(), held = most.getPoints();
    points.resize(std::max(points.size(), held.size()), 0);
    auto isAbove = [&](size_t p) { return budget && points[p] + (p < held.size() ? held[p] : 0) > *budget; };
    // Points that would be above the budget, before each point.
    std::vector<int64_t> above(points.size() + 1, 0);
    for (size_t p = 0; p < points.size(); ++p)
      above[p + 1] = above[p] + isAbove(p);
    for (Gap &gap : gaps)
      if (int64_t crossed = above[gap.end + 1] - above[gap.begin])
        gap.rank = gap.seconds / (double(gap.bytes) * double(crossed) + 1);
    llvm::stable_sort(gaps, [](const Gap &a, const Gap &b) { return a.rank > b.rank; });
    for (const Gap &gap : gaps) {
      auto span = llvm::make_range(points.begin() + gap.begin, points.begin() + gap.end + 1);
      if (budget && *llvm::max_element(span) + gap.bytes > *budget) {
        result.anew.push_back(gap.reader);
        continue;
      }
      for (int64_t &point : span)
        point += gap.bytes;
    }
    auto peak = llvm::max_element(points);
    if (peak != points.end()) {
      result.peak = *peak;
      result.peakPoint = peak - points.begin();
    }
  }
  llvm::sort(result.anew);
  return result;
}
