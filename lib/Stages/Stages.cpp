//===- Stages.cpp - The stage of each op ----------------------------------===//

#include "shardkit/Stages/Stages.h"

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Propagation/Propagation.h"

using namespace mlir;
using namespace mlir::spmd;

using State = MicrobatchState;
using StageSet = llvm::SmallSetVector<int64_t, 2>;

SmallVector<Value> Stages::getRead(Operation *op) {
  llvm::SmallSetVector<Value, 8> read;
  for (Value operand : op->getOperands())
    read.insert(operand);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isProperAncestor(operand.getParentRegion()->getParentOp()) &&
            operand.getParentRegion()->getParentOp() != op)
          read.insert(operand);
    });
  return read.takeVector();
}

const llvm::SmallSetVector<Value, 4> &Stages::getSources(Value value) {
  auto it = sources.find(value);
  if (it != sources.end())
    return it->second;
  llvm::SmallSetVector<Value, 4> found;
  if (isa<BlockArgument>(value))
    found.insert(value);
  else
    for (Value operand : getRead(value.getDefiningOp()))
      found.insert_range(getSources(operand));
  return sources[value] = std::move(found);
}

//===----------------------------------------------------------------------===//
// Boundaries
//===----------------------------------------------------------------------===//

LogicalResult Stages::readBoundaries() {
  StageBoundaryOp inside;
  func.walk([&](StageBoundaryOp op) {
    if (op->getParentOp() != func)
      inside = op;
  });
  if (inside)
    return inside.emitError() << "stage boundary in " << inside->getParentOp()->getName()
                              << ", expected boundaries outside of loops and branches";
  for (auto op : func.getBody().front().getOps<StageBoundaryOp>())
    if (!op.getCandidate())
      (op.getBackward() ? backward : forward).push_back(op);
  if (!backward.empty() && backward.size() != forward.size())
    return backward.back().emitError() << "the function has " << forward.size() << " forward and " << backward.size()
                                       << " backward boundaries, expected as many, or forward ones only";
  if (!backward.empty() && backward.front()->isBeforeInBlock(forward.back()))
    return backward.front().emitError() << "backward boundary before the last forward boundary, expected it after";
  for (StageBoundaryOp op : forward)
    splitPoints.push_back(op);
  return success();
}

/// The backward fragment begins with the first op that sums a gradient over the batch: a sum
/// that is accumulated, other than a scalar such as the loss.
void Stages::findFirstBackward() {
  Block &block = func.getBody().front();
  llvm::DenseSet<Value> gradients;
  Operation *lastSplitPoint = splitPoints.empty() ? nullptr : splitPoints.back();
  for (Operation &op : llvm::reverse(block)) {
    bool leads = false;
    for (Value result : op.getResults())
      if (microbatches.get(result).kind == State::Partial) {
        bool isForwarded = llvm::any_of(result.getUsers(), [&](Operation *user) {
          return microbatches.isApply(user) || isa<func::ReturnOp>(user);
        });
        auto type = cast<RankedTensorType>(result.getType());
        leads |= gradients.contains(result) || (isForwarded && type.hasStaticShape() && type.getNumElements() > 1);
      }
    if (!leads)
      continue;
    for (Value operand : op.getOperands())
      gradients.insert(operand);
    if (!lastSplitPoint || lastSplitPoint->isBeforeInBlock(&op))
      firstBackward = &op;
  }
  if (!backward.empty() && (!firstBackward || backward.front()->isBeforeInBlock(firstBackward)))
    firstBackward = backward.front();
  training = firstBackward != nullptr;
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

int64_t Stages::getBackwardStage(Operation *op) {
  int64_t latest = numStages - 1; // backward stages only decrease
  std::optional<StageSet> common;
  int64_t lowest = numStages - 1;
  for (Value operand : getRead(op)) {
    auto it = available.find(operand);
    StageSet stages;
    if (it != available.end()) {
      stages = it->second;
    } else if (microbatches.get(operand).kind == State::Same) {
      // A weight is on the stages whose forward fragments use it; other values are on all stages.
      for (Value source : getSources(operand))
        if (auto arg = cast<BlockArgument>(source); argumentStages.contains(arg))
          stages.insert_range(argumentStages[arg]);
    }
    if (stages.empty())
      continue;
    Operation *made = operand.getDefiningOp();
    const StageAssignment *assigned = made ? get(made) : nullptr;
    if (assigned && assigned->fragment == StageFragment::Backward)
      latest = std::min(latest, assigned->stage);
    lowest = std::min(lowest, *std::max_element(stages.begin(), stages.end()));
    if (!common) {
      common = stages;
    } else {
      StageSet both;
      for (int64_t stage : *common)
        if (stages.contains(stage))
          both.insert(stage);
      common = both;
    }
  }
  int64_t stage = lowest;
  if (common && !common->empty())
    stage = *std::max_element(common->begin(), common->end());
  return std::min(stage, latest);
}

LogicalResult Stages::assignComputation() {
  int64_t passed = 0, passedBackward = 0;
  bool isBackward = false;
  size_t next = 0;
  for (Operation &op : func.getBody().front()) {
    if (next < splitPoints.size() && splitPoints[next] == &op && isa<StageBoundaryOp>(op)) {
      ++next;
      ++passed;
      continue;
    }
    auto count = [&] {
      // A stage begins after a split point that is not a boundary.
      if (next < splitPoints.size() && splitPoints[next] == &op) {
        ++next;
        ++passed;
      }
    };
    if (&op == firstBackward)
      isBackward = true;
    if (auto boundary = dyn_cast<StageBoundaryOp>(op)) {
      if (boundary.getBackward() && !boundary.getCandidate())
        ++passedBackward;
      continue;
    }
    if (isMark(&op) || isConstantLike(&op) || isa<func::ReturnOp>(op) || microbatches.isApply(&op) ||
        microbatches.isSame(&op)) {
      count();
      continue;
    }
    // Values computed from constants are computed by each reader.
    if (isMemoryEffectFree(&op) &&
        llvm::all_of(op.getResults(), [&](Value result) { return getSources(result).empty(); })) {
      count();
      continue;
    }
    bool isConstraint = spmd::isConstraintLike(&op);
    if (isConstraint && microbatches.get(op.getResult(0)).kind == State::Complete) {
      count();
      continue;
    }
    StageAssignment assigned;
    assigned.fragment = isBackward && numStages > 1 ? StageFragment::Backward : StageFragment::Forward;
    if (!isBackward)
      assigned.stage = passed;
    else if (!backward.empty())
      assigned.stage = numStages - 1 - passedBackward;
    else
      assigned.stage = getBackwardStage(&op);
    if (auto given = op.getAttrOfType<IntegerAttr>(kStageAttr)) {
      if (given.getInt() >= numStages)
        return op.emitError() << "spmd.stage is " << given.getInt() << ", expected less than " << numStages
                              << ", the number of stages";
      assigned.stage = given.getInt();
    }
    bool combinesStages = false;
    for (Value operand : getRead(&op)) {
      Operation *made = operand.getDefiningOp();
      const StageAssignment *other = made ? get(made) : nullptr;
      if (!other)
        continue;
      bool isSum = microbatches.get(operand).kind == State::Partial;
      combinesStages |= isSum && other->stage != assigned.stage;
      bool goesBack =
          other->fragment == assigned.fragment &&
          (assigned.fragment == StageFragment::Forward ? other->stage > assigned.stage : other->stage < assigned.stage);
      if (goesBack && !isSum) {
        InFlightDiagnostic diag = op.emitError()
                                  << op.getName() << " is in stage " << assigned.stage << " and reads a value of stage "
                                  << other->stage << " of the " << toString(assigned.fragment)
                                  << " fragment, expected stages to split the ops in order";
        diag.attachNote(made->getLoc()) << "in stage " << other->stage;
        return diag;
      }
    }
    if (combinesStages) {
      // Sums of several stages are combined once per step.
      if (failed(microbatches.moveToApply(&op)))
        return failure();
      count();
      continue;
    }
    assignments[&op] = assigned;
    for (Value result : op.getResults())
      available[result].insert(assigned.stage);
    for (Value operand : getRead(&op)) {
      if (assigned.fragment == StageFragment::Forward && available.contains(operand))
        available[operand].insert(assigned.stage);
      if (microbatches.get(operand).kind == State::Same)
        for (Value source : getSources(operand))
          argumentStages[cast<BlockArgument>(source)].insert(assigned.stage);
      else if (auto arg = dyn_cast<BlockArgument>(operand))
        argumentStages[arg].insert(assigned.stage);
    }
    count();
  }
  return success();
}

/// Moves a sum over a value that a later stage sends anyway (the gradient of a bias whose layer
/// ends a stage) to the stage of its weight.
void Stages::moveSums() {
  for (Operation &op : func.getBody().front()) {
    auto it = assignments.find(&op);
    if (it == assignments.end() || it->second.fragment != StageFragment::Backward || op.getNumResults() != 1 ||
        microbatches.get(op.getResult(0)).kind != State::Partial)
      continue;
    // The weight is among the operands of the next apply ops.
    std::optional<int64_t> weightStage;
    SmallVector<Value> sums{op.getResult(0)};
    for (size_t i = 0; i < sums.size() && i < 8 && !weightStage; ++i)
      for (Operation *user : sums[i].getUsers()) {
        llvm::append_range(sums, user->getResults());
        if (!microbatches.isApply(user))
          continue;
        for (Value operand : getRead(user))
          if (microbatches.get(operand).kind == State::Same)
            for (Value source : getSources(operand))
              for (int64_t stage : argumentStages.lookup(cast<BlockArgument>(source)))
                weightStage = weightStage ? std::min(*weightStage, stage) : stage;
      }
    bool isThere = weightStage && *weightStage < it->second.stage;
    for (Value operand : getRead(&op))
      if (isThere && microbatches.get(operand).kind != State::Same)
        isThere = llvm::any_of(operand.getUsers(), [&](Operation *user) {
          const StageAssignment *assigned = get(user);
          return assigned && assigned->stage == *weightStage && assigned->fragment == StageFragment::Backward;
        });
    if (isThere)
      it->second.stage = *weightStage;
  }
}

/// Unknown sizes count as large.
static double getBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return 0;
  return type.hasStaticShape() ? double(type.getNumElements() * getElementBytes(type.getElementType())) : 1e18;
}

bool Stages::isAssignedToApply(Operation *op) const {
  return microbatches.isApply(op) ||
         (spmd::isConstraintLike(op) && microbatches.get(op->getResult(0)).kind == State::Complete);
}

/// Finds the stages that use the results of apply ops, if it is one stage: the stage of a
/// weight uses the values that update it. An op whose results are smaller than its operands
/// requires no stage for them: it runs on the stage of the operands.
void Stages::findUsingStages() {
  auto want = [&](Value value, int64_t stage) {
    auto [it, isNew] = usingStages.try_emplace(value, stage);
    if (!isNew && it->second != stage)
      it->second = -1;
  };
  auto getWeightStage = [&](BlockArgument arg) -> std::optional<int64_t> {
    auto it = argumentStages.find(arg);
    if (it == argumentStages.end() || it->second.empty())
      return std::nullopt;
    return *llvm::min_element(it->second);
  };
  Block &block = func.getBody().front();
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    if (auto tied = func.getResultAttrOfType<IntegerAttr>(i, kTiedAttr))
      if (auto weightStage = getWeightStage(func.getArgument(tied.getInt())))
        want(value, *weightStage);
  for (Operation &op : llvm::reverse(block)) {
    if (!isAssignedToApply(&op))
      continue;
    SmallVector<Value> read = getRead(&op);
    std::optional<int64_t> weightStage;
    for (Value operand : read)
      if (microbatches.get(operand).kind == State::Same)
        for (Value source : getSources(operand))
          if (auto stage = getWeightStage(cast<BlockArgument>(source)))
            weightStage = weightStage ? std::min(*weightStage, *stage) : *stage;
    if (weightStage)
      weightStages[&op] = *weightStage;
    double made = 0;
    for (Value result : op.getResults()) {
      made += getBytes(result);
      auto it = usingStages.find(result);
      if (!weightStage && it != usingStages.end() && it->second >= 0)
        weightStage = it->second;
    }
    for (Value operand : read)
      if (weightStage && microbatches.get(operand).kind != State::Same && getBytes(operand) <= made)
        want(operand, *weightStage);
  }
}

/// The stage that minimizes the bytes sent, among those of the operands and the one that uses
/// the results.
int64_t Stages::getApplyStage(Operation *op) {
  if (auto weightStage = weightStages.find(op); weightStage != weightStages.end())
    return weightStage->second;
  llvm::SmallDenseMap<int64_t, double> readFrom; // bytes by stage
  double read = 0, made = 0;
  for (Value operand : getRead(op))
    if (Operation *source = operand.getDefiningOp())
      if (const StageAssignment *other = get(source)) {
        readFrom[other->stage] += getBytes(operand);
        read += getBytes(operand);
      }
  int64_t used = -1;
  for (Value result : op->getResults()) {
    made += getBytes(result);
    if (auto it = usingStages.find(result); it != usingStages.end())
      used = it->second;
  }
  if (used >= 0)
    readFrom.try_emplace(used, 0);
  std::optional<std::tuple<double, bool, int64_t>> best; // the minimum
  for (auto [stage, bytes] : readFrom) {
    double crosses = read - bytes + (used >= 0 && stage != used ? made : 0);
    std::tuple<double, bool, int64_t> rank(crosses, stage != used, -stage);
    best = best ? std::min(*best, rank) : rank;
  }
  return best ? -std::get<2>(*best) : 0;
}

void Stages::assignApply() {
  findUsingStages();
  for (Operation &op : func.getBody().front()) {
    if (!isAssignedToApply(&op))
      continue;
    SmallVector<Value> read = getRead(&op);
    StageAssignment assigned;
    assigned.fragment = StageFragment::Apply;
    assigned.stage = getApplyStage(&op);
    if (auto given = op.getAttrOfType<IntegerAttr>(kStageAttr))
      assigned.stage = std::min<int64_t>(given.getInt(), numStages - 1);
    for (Value operand : read) {
      Operation *made = operand.getDefiningOp();
      const StageAssignment *other = made ? get(made) : nullptr;
      if (!other)
        continue;
      int64_t round = other->fragment == StageFragment::Apply ? other->round : 0;
      assigned.round = std::max(assigned.round, round + (other->stage != assigned.stage));
    }
    assignments[&op] = assigned;
    for (Value operand : read)
      if (microbatches.get(operand).kind == State::Same)
        for (Value source : getSources(operand))
          argumentStages[cast<BlockArgument>(source)].insert(assigned.stage);
  }
}

void Stages::assignResults() {
  Operation *terminator = func.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    StageAssignment assigned;
    assigned.fragment = StageFragment::Apply;
    Operation *made = value.getDefiningOp();
    const StageAssignment *other = made ? get(made) : nullptr;
    if (other && (microbatches.get(value).kind == State::Split || other->fragment == StageFragment::Apply))
      assigned = *other;
    else if (other)
      assigned.stage = other->stage;
    else if (microbatches.get(value).kind == State::Split)
      assigned.fragment = StageFragment::Forward; // an argument
    else if (isa<RankedTensorType>(value.getType()))
      for (Value source : getSources(value))
        if (auto it = argumentStages.find(cast<BlockArgument>(source));
            it != argumentStages.end() && !it->second.empty())
          assigned.stage = it->second.front();
    results.push_back(assigned);
    if (!other && isa<RankedTensorType>(value.getType()))
      for (Value source : getSources(value))
        argumentStages[cast<BlockArgument>(source)].insert(assigned.stage);
  }
}

LogicalResult Stages::verifyCrossings() {
  for (auto [list, down] : {std::pair(&forward, false), std::pair(&backward, true)})
    for (auto [k, boundary] : llvm::enumerate(*list)) {
      int64_t from = down ? numStages - 1 - int64_t(k) : int64_t(k);
      int64_t to = down ? from - 1 : from + 1;
      if (AxisResourcesAttr resources = boundary.getAxisResourcesAttr())
        for (Value value : boundary.getInputs())
          constraints.push_back({value, from, to, resources, boundary.getLoc()});
    }
  if (forward.empty())
    return success();
  for (Operation &op : func.getBody().front()) {
    const StageAssignment *assigned = get(&op);
    if (!assigned || assigned->fragment == StageFragment::Apply)
      continue;
    for (Value operand : getRead(&op)) {
      Operation *made = operand.getDefiningOp();
      const StageAssignment *other = made ? get(made) : nullptr;
      if (!other || other->fragment != assigned->fragment || std::abs(other->stage - assigned->stage) < 2)
        continue;
      bool down = assigned->fragment == StageFragment::Backward;
      if (down && backward.empty())
        continue;
      auto listed = [&](int64_t from) {
        StageBoundaryOp boundary = down ? backward[numStages - 1 - from] : forward[from];
        return llvm::is_contained(boundary.getInputs(), operand);
      };
      for (int64_t from = other->stage; from != assigned->stage; from += down ? -1 : 1)
        if (!listed(from)) {
          InFlightDiagnostic diag = op.emitError() << op.getName() << " in stage " << assigned->stage
                                                   << " uses a value of stage " << other->stage
                                                   << " that does not cross every boundary between, expected it among "
                                                      "the operands of each";
          diag.attachNote(made->getLoc()) << "the value";
          diag.attachNote((down ? backward[numStages - 1 - from] : forward[from]).getLoc())
              << "the boundary from stage " << from << " that does not name it";
          return diag;
        }
    }
  }
  return success();
}

LogicalResult Stages::run(std::optional<ArrayRef<Operation *>> given) {
  if (given)
    splitPoints.append(given->begin(), given->end());
  else if (failed(readBoundaries()))
    return failure();
  numStages = splitPoints.size() + 1;
  findFirstBackward();
  if (failed(assignComputation()))
    return failure();
  if (backward.empty())
    moveSums();
  microbatches.shrink();
  for (Operation &op : func.getBody().front())
    if (microbatches.isApply(&op))
      assignments.erase(&op);
  assignApply();
  assignResults();
  return verifyCrossings();
}

FailureOr<Stages> Stages::assign(func::FuncOp func, Microbatches &microbatches) {
  return assign(func, microbatches, std::nullopt);
}

FailureOr<Stages> Stages::assign(func::FuncOp func, Microbatches &microbatches,
                                 std::optional<ArrayRef<Operation *>> splitPoints) {
  Stages result(func, microbatches);
  if (failed(result.run(splitPoints)))
    return failure();
  return result;
}
