//===- Stages.cpp - Which op runs in which stage --------------------------===//

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
  llvm::SmallSetVector<Value, 4> own;
  if (isa<BlockArgument>(value))
    own.insert(value);
  else
    for (Value operand : getRead(value.getDefiningOp()))
      own.insert_range(getSources(operand));
  return sources[value] = std::move(own);
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
    return backward.front().emitError() << "backward boundary before the last forward boundary, expected it behind";
  for (StageBoundaryOp op : forward)
    cuts.push_back(op);
  return success();
}

/// The backward part begins with the first op that sums what becomes a gradient over
/// the batch: a sum that is accumulated, other than a scalar such as the loss.
void Stages::findTurn() {
  Block &block = func.getBody().front();
  llvm::DenseSet<Value> gradients;
  Operation *lastCut = cuts.empty() ? nullptr : cuts.back();
  for (Operation &op : llvm::reverse(block)) {
    bool leads = false;
    for (Value result : op.getResults())
      if (microbatches.get(result).kind == State::Partial) {
        bool isHandedOn = llvm::any_of(result.getUsers(), [&](Operation *user) {
          return microbatches.isApply(user) || isa<func::ReturnOp>(user);
        });
        auto type = cast<RankedTensorType>(result.getType());
        leads |= gradients.contains(result) || (isHandedOn && type.hasStaticShape() && type.getNumElements() > 1);
      }
    if (!leads)
      continue;
    for (Value operand : op.getOperands())
      gradients.insert(operand);
    if (!lastCut || lastCut->isBeforeInBlock(&op))
      turn = &op;
  }
  if (!backward.empty() && (!turn || backward.front()->isBeforeInBlock(turn)))
    turn = backward.front();
  training = turn != nullptr;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

int64_t Stages::getBackwardStage(Operation *op) {
  int64_t latest = numStages - 1; // what is computed backward already goes down only
  std::optional<StageSet> common;
  int64_t least = numStages - 1;
  for (Value operand : getRead(op)) {
    auto it = available.find(operand);
    StageSet own;
    if (it != available.end()) {
      own = it->second;
    } else if (microbatches.get(operand).kind == State::Same) {
      // A weight is where the forward part uses it; what is no weight is everywhere.
      for (Value source : getSources(operand))
        if (auto arg = cast<BlockArgument>(source); argumentStages.contains(arg))
          own.insert_range(argumentStages[arg]);
    }
    if (own.empty())
      continue;
    Operation *made = operand.getDefiningOp();
    const StagePlace *place = made ? get(made) : nullptr;
    if (place && place->part == PipelinePart::Backward)
      latest = std::min(latest, place->stage);
    least = std::min(least, *std::max_element(own.begin(), own.end()));
    if (!common) {
      common = own;
    } else {
      StageSet both;
      for (int64_t stage : *common)
        if (own.contains(stage))
          both.insert(stage);
      common = both;
    }
  }
  int64_t stage = least;
  if (common && !common->empty())
    stage = *std::max_element(common->begin(), common->end());
  return std::min(stage, latest);
}

LogicalResult Stages::placeComputation() {
  int64_t passed = 0, passedBackward = 0;
  bool isBackward = false;
  size_t next = 0;
  for (Operation &op : func.getBody().front()) {
    if (next < cuts.size() && cuts[next] == &op && isa<StageBoundaryOp>(op)) {
      ++next;
      ++passed;
      continue;
    }
    auto count = [&] {
      // Cuts that are no boundaries lie behind their op.
      if (next < cuts.size() && cuts[next] == &op) {
        ++next;
        ++passed;
      }
    };
    if (&op == turn)
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
    // What is made of constants is made where it is read.
    if (isMemoryEffectFree(&op) &&
        llvm::all_of(op.getResults(), [&](Value result) { return getSources(result).empty(); })) {
      count();
      continue;
    }
    bool isConstraintLike = spmd::isConstraintLike(&op);
    if (isConstraintLike && microbatches.get(op.getResult(0)).kind == State::Complete) {
      count();
      continue;
    }
    StagePlace place;
    place.part = isBackward && numStages > 1 ? PipelinePart::Backward : PipelinePart::Forward;
    if (!isBackward)
      place.stage = passed;
    else if (!backward.empty())
      place.stage = numStages - 1 - passedBackward;
    else
      place.stage = getBackwardStage(&op);
    if (auto given = op.getAttrOfType<IntegerAttr>(kStageAttr)) {
      if (given.getInt() >= numStages)
        return op.emitError() << "spmd.stage is " << given.getInt() << ", expected less than " << numStages
                              << ", the number of stages";
      place.stage = given.getInt();
    }
    bool meets = false;
    for (Value operand : getRead(&op)) {
      Operation *made = operand.getDefiningOp();
      const StagePlace *other = made ? get(made) : nullptr;
      if (!other)
        continue;
      bool isSum = microbatches.get(operand).kind == State::Partial;
      meets |= isSum && other->stage != place.stage;
      bool goesBack = other->part == place.part &&
                      (place.part == PipelinePart::Forward ? other->stage > place.stage : other->stage < place.stage);
      if (goesBack && !isSum) {
        InFlightDiagnostic diag = op.emitError()
                                  << op.getName() << " is in stage " << place.stage << " and reads a value of stage "
                                  << other->stage << " of the " << stringifyPipelinePart(place.part)
                                  << " part, expected stages to split the ops in order";
        diag.attachNote(made->getLoc()) << "in stage " << other->stage;
        return diag;
      }
    }
    if (meets) {
      // Sums of several stages meet once per step.
      if (failed(microbatches.moveToApply(&op)))
        return failure();
      count();
      continue;
    }
    places[&op] = place;
    for (Value result : op.getResults())
      available[result].insert(place.stage);
    for (Value operand : getRead(&op)) {
      if (place.part == PipelinePart::Forward && available.contains(operand))
        available[operand].insert(place.stage);
      if (microbatches.get(operand).kind == State::Same)
        for (Value source : getSources(operand))
          argumentStages[cast<BlockArgument>(source)].insert(place.stage);
      else if (auto arg = dyn_cast<BlockArgument>(operand))
        argumentStages[arg].insert(place.stage);
    }
    count();
  }
  return success();
}

/// A sum over what comes from a later stage anyway (the gradient of a bias, whose layer
/// ends a stage) belongs to the stage of its weight.
void Stages::moveSums() {
  for (Operation &op : func.getBody().front()) {
    auto it = places.find(&op);
    if (it == places.end() || it->second.part != PipelinePart::Backward || op.getNumResults() != 1 ||
        microbatches.get(op.getResult(0)).kind != State::Partial)
      continue;
    // The weight is among what the next ops of the apply part read.
    std::optional<int64_t> home;
    SmallVector<Value> sums{op.getResult(0)};
    for (size_t i = 0; i < sums.size() && i < 8 && !home; ++i)
      for (Operation *user : sums[i].getUsers()) {
        llvm::append_range(sums, user->getResults());
        if (!microbatches.isApply(user))
          continue;
        for (Value operand : getRead(user))
          if (microbatches.get(operand).kind == State::Same)
            for (Value source : getSources(operand))
              for (int64_t stage : argumentStages.lookup(cast<BlockArgument>(source)))
                home = home ? std::min(*home, stage) : stage;
      }
    bool isThere = home && *home < it->second.stage;
    for (Value operand : getRead(&op))
      if (isThere && microbatches.get(operand).kind != State::Same)
        isThere = llvm::any_of(operand.getUsers(), [&](Operation *user) {
          const StagePlace *place = get(user);
          return place && place->stage == *home && place->part == PipelinePart::Backward;
        });
    if (isThere)
      it->second.stage = *home;
  }
}

/// Unknown sizes count as large.
static double getBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return 0;
  return type.hasStaticShape() ? double(type.getNumElements() * getElementBytes(type.getElementType())) : 1e18;
}

bool Stages::isPlacedInApply(Operation *op) const {
  return microbatches.isApply(op) ||
         (spmd::isConstraintLike(op) && microbatches.get(op->getResult(0)).kind == State::Complete);
}

/// The stages at which what apply ops compute is used, as far as it is one: weights say
/// where, and what they are updated with is wanted there. An op that makes less than it
/// reads wants nothing: it runs where that is.
void Stages::findWanted() {
  auto want = [&](Value value, int64_t stage) {
    auto [it, isNew] = wanted.try_emplace(value, stage);
    if (!isNew && it->second != stage)
      it->second = -1;
  };
  auto getHome = [&](BlockArgument arg) -> std::optional<int64_t> {
    auto it = argumentStages.find(arg);
    if (it == argumentStages.end() || it->second.empty())
      return std::nullopt;
    return *llvm::min_element(it->second);
  };
  Block &block = func.getBody().front();
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    if (auto tied = func.getResultAttrOfType<IntegerAttr>(i, kTiedAttr))
      if (auto home = getHome(func.getArgument(tied.getInt())))
        want(value, *home);
  for (Operation &op : llvm::reverse(block)) {
    if (!isPlacedInApply(&op))
      continue;
    SmallVector<Value> read = getRead(&op);
    std::optional<int64_t> home;
    for (Value operand : read)
      if (microbatches.get(operand).kind == State::Same)
        for (Value source : getSources(operand))
          if (auto own = getHome(cast<BlockArgument>(source)))
            home = home ? std::min(*home, *own) : *own;
    if (home)
      homes[&op] = *home;
    double made = 0;
    for (Value result : op.getResults()) {
      made += getBytes(result);
      auto it = wanted.find(result);
      if (!home && it != wanted.end() && it->second >= 0)
        home = it->second;
    }
    for (Value operand : read)
      if (home && microbatches.get(operand).kind != State::Same && getBytes(operand) <= made)
        want(operand, *home);
  }
}

/// Where fewest bytes cross: among the stages of what it reads and that where it is used.
int64_t Stages::getApplyStage(Operation *op) {
  if (auto home = homes.find(op); home != homes.end())
    return home->second;
  llvm::SmallDenseMap<int64_t, double> readFrom; // bytes by stage
  double read = 0, made = 0;
  for (Value operand : getRead(op))
    if (Operation *source = operand.getDefiningOp())
      if (const StagePlace *other = get(source)) {
        readFrom[other->stage] += getBytes(operand);
        read += getBytes(operand);
      }
  int64_t used = -1;
  for (Value result : op->getResults()) {
    made += getBytes(result);
    if (auto it = wanted.find(result); it != wanted.end())
      used = it->second;
  }
  if (used >= 0)
    readFrom.try_emplace(used, 0);
  std::optional<std::tuple<double, bool, int64_t>> best; // the least
  for (auto [stage, own] : readFrom) {
    double crosses = read - own + (used >= 0 && stage != used ? made : 0);
    std::tuple<double, bool, int64_t> rank(crosses, stage != used, -stage);
    best = best ? std::min(*best, rank) : rank;
  }
  return best ? -std::get<2>(*best) : 0;
}

void Stages::placeApply() {
  findWanted();
  for (Operation &op : func.getBody().front()) {
    if (!isPlacedInApply(&op))
      continue;
    SmallVector<Value> read = getRead(&op);
    StagePlace place;
    place.part = PipelinePart::Apply;
    place.stage = getApplyStage(&op);
    if (auto given = op.getAttrOfType<IntegerAttr>(kStageAttr))
      place.stage = std::min<int64_t>(given.getInt(), numStages - 1);
    for (Value operand : read) {
      Operation *made = operand.getDefiningOp();
      const StagePlace *other = made ? get(made) : nullptr;
      if (!other)
        continue;
      int64_t round = other->part == PipelinePart::Apply ? other->round : 0;
      place.round = std::max(place.round, round + (other->stage != place.stage));
    }
    places[&op] = place;
    for (Value operand : read)
      if (microbatches.get(operand).kind == State::Same)
        for (Value source : getSources(operand))
          argumentStages[cast<BlockArgument>(source)].insert(place.stage);
  }
}

void Stages::placeResults() {
  Operation *terminator = func.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    StagePlace place;
    place.part = PipelinePart::Apply;
    Operation *made = value.getDefiningOp();
    const StagePlace *other = made ? get(made) : nullptr;
    if (other && (microbatches.get(value).kind == State::Cut || other->part == PipelinePart::Apply))
      place = *other;
    else if (other)
      place.stage = other->stage;
    else if (microbatches.get(value).kind == State::Cut)
      place.part = PipelinePart::Forward; // an argument
    else if (isa<RankedTensorType>(value.getType()))
      for (Value source : getSources(value))
        if (auto it = argumentStages.find(cast<BlockArgument>(source));
            it != argumentStages.end() && !it->second.empty())
          place.stage = it->second.front();
    results.push_back(place);
    if (!other && isa<RankedTensorType>(value.getType()))
      for (Value source : getSources(value))
        argumentStages[cast<BlockArgument>(source)].insert(place.stage);
  }
}

LogicalResult Stages::verifyCrossings() {
  for (auto [list, down] : {std::pair(&forward, false), std::pair(&backward, true)})
    for (auto [k, boundary] : llvm::enumerate(*list)) {
      int64_t from = down ? numStages - 1 - int64_t(k) : int64_t(k);
      int64_t to = down ? from - 1 : from + 1;
      if (AxisResourcesAttr resources = boundary.getAxisResourcesAttr())
        for (Value value : boundary.getInputs())
          pins.push_back({value, from, to, resources, boundary.getLoc()});
    }
  if (forward.empty())
    return success();
  for (Operation &op : func.getBody().front()) {
    const StagePlace *place = get(&op);
    if (!place || place->part == PipelinePart::Apply)
      continue;
    for (Value operand : getRead(&op)) {
      Operation *made = operand.getDefiningOp();
      const StagePlace *other = made ? get(made) : nullptr;
      if (!other || other->part != place->part || std::abs(other->stage - place->stage) < 2)
        continue;
      bool down = place->part == PipelinePart::Backward;
      if (down && backward.empty())
        continue;
      auto listed = [&](int64_t from) {
        StageBoundaryOp boundary = down ? backward[numStages - 1 - from] : forward[from];
        return llvm::is_contained(boundary.getInputs(), operand);
      };
      for (int64_t from = other->stage; from != place->stage; from += down ? -1 : 1)
        if (!listed(from)) {
          InFlightDiagnostic diag = op.emitError() << op.getName() << " in stage " << place->stage
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
    cuts.append(given->begin(), given->end());
  else if (failed(readBoundaries()))
    return failure();
  numStages = cuts.size() + 1;
  findTurn();
  if (failed(placeComputation()))
    return failure();
  if (backward.empty())
    moveSums();
  microbatches.shrink();
  for (Operation &op : func.getBody().front())
    if (microbatches.isApply(&op))
      places.erase(&op);
  placeApply();
  placeResults();
  return verifyCrossings();
}

FailureOr<Stages> Stages::assign(func::FuncOp func, Microbatches &microbatches) {
  return assign(func, microbatches, std::nullopt);
}

FailureOr<Stages> Stages::assign(func::FuncOp func, Microbatches &microbatches,
                                 std::optional<ArrayRef<Operation *>> cuts) {
  Stages result(func, microbatches);
  if (failed(result.run(cuts)))
    return failure();
  return result;
}
