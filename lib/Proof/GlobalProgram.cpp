//===- GlobalProgram.cpp - The values of the unsharded program ------------===//

#include "shardkit/Proof/GlobalProgram.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

std::optional<Value> proof::getAnnotated(Operation *op) {
  if (isa<WithShardingConstraintOp, PropagationBarrierOp>(op))
    return op->getOperand(0);
  if (auto cast = dyn_cast<tensor::CastOp>(op); cast && cast.getSource().getType() == cast.getType())
    return cast.getSource();
  return std::nullopt;
}

bool proof::hasNoElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::is_contained(tensor.getShape(), 0);
}

Value proof::getUnwritten(OpResult result) {
  auto op = dyn_cast<linalg::LinalgOp>(result.getOwner());
  if (!op || op.hasDynamicShape() || !op.hasPureTensorSemantics() || !llvm::is_contained(op.getStaticLoopRanges(), 0))
    return {};
  return op.getDpsInitOperand(result.getResultNumber())->get();
}

bool proof::isReshape(Operation *op) {
  if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp>(op))
    return false;
  auto isStatic = [](Type type) {
    return isa<RankedTensorType>(type) && cast<RankedTensorType>(type).hasStaticShape();
  };
  return isStatic(op->getOperand(0).getType()) && isStatic(op->getResult(0).getType());
}

ElementsAttr proof::getElements(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto elements = constant ? dyn_cast<ElementsAttr>(constant.getValue()) : ElementsAttr();
  return elements && isa<RankedTensorType>(elements.getType()) ? elements : ElementsAttr();
}

/// The index of each dim of `from` over the dims of `to`, if these differ in dims of one element alone.
static std::optional<SumList> getUnitSums(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SumList sums;
  int64_t next = 0, rank = to.size();
  auto skipUnits = [&] {
    while (next < rank && to[next] == 1)
      ++next;
  };
  for (int64_t size : from) {
    if (size == 1) {
      sums.push_back({0, 0});
      continue;
    }
    skipUnits();
    if (next == rank || to[next] != size)
      return std::nullopt;
    sums.push_back({0, 1, next++, 1});
  }
  skipUnits();
  return next == rank ? std::optional(sums) : std::nullopt;
}

std::optional<ClassId> GlobalProgram::getUnitReshape(ClassId source, const SumList &sums, RankedTensorType type,
                                                     std::optional<Location> loc) {
  if (!classes[source].type || getUnitSums(classes[source].type.getShape(), type.getShape()) != sums)
    return std::nullopt;
  return addReshape(source, type, loc);
}

ClassId GlobalProgram::addReshape(ClassId source, RankedTensorType type, std::optional<Location> loc) {
  if (classes[source].splat || classes[source].isUndefined)
    return source;
  if (auto constant = dyn_cast_or_null<DenseElementsAttr>(classes[source].constant))
    return getConstant(constant.reshape(type));
  ClassId root = classes[source].root;
  for (ClassId other : reshapes[root])
    if (classes[other].type == type)
      return other;
  ClassInfo info;
  info.type = type;
  info.loc = loc;
  info.isUniform.assign(type.getRank(), false);
  // A dim that stays as it is stays uniform.
  ArrayRef<int64_t> from = classes[source].type.getShape(), to = type.getShape();
  auto keep = [&](size_t a, size_t b) { info.isUniform[b] = classes[source].isUniform[a]; };
  for (size_t d = 0; d < std::min(from.size(), to.size()) && from[d] == to[d]; ++d)
    keep(d, d);
  for (size_t d = 1; d <= std::min(from.size(), to.size()) && from[from.size() - d] == to[to.size() - d]; ++d)
    keep(from.size() - d, to.size() - d);
  if (llvm::all_of(classes[source].isUniform, [](bool uniform) { return uniform; }))
    info.isUniform.assign(type.getRank(), true);
  info.root = root;
  // Dims of one element alone: it is read through.
  if (std::optional<SumList> sums = getUnitSums(from, to)) {
    info.source = source;
    info.sums = *sums;
  }
  ClassId id = create(info);
  classes[id].varying = classes[source].varying;
  reshapes[root].push_back(id);
  return id;
}

ClassId GlobalProgram::getFlat(ClassId id) {
  RankedTensorType type = classes[id].type;
  return addReshape(id, type.clone(ArrayRef(type.getNumElements())), classes[id].loc);
}

std::optional<SmallVector<int64_t>> GlobalProgram::getOpaqueKey(Operation *op,
                                                                llvm::function_ref<std::optional<int64_t>(Value)> get) {
  SmallVector<int64_t> key{OpaqueKey};
  llvm::DenseMap<Value, int64_t> inside;
  bool isKnown = isMemoryEffectFree(op);
  auto pointer = [](const void *p) { return int64_t(intptr_t(p)); };
  std::function<void(Operation *)> add = [&](Operation *op) {
    if (isa<CollectiveOpInterface, DeviceCoordinateOp, BroadcastOp, StartOp, DoneOp, ManualComputationOp, func::CallOp>(
            op))
      isKnown = false;
    key.push_back(pointer(op->getName().getAsOpaquePointer()));
    for (NamedAttribute attr : op->getAttrs())
      if (!attr.getName().getValue().starts_with("spmd."))
        key.append({pointer(attr.getName().getAsOpaquePointer()), pointer(attr.getValue().getAsOpaquePointer())});
    if (Attribute properties = op->getPropertiesAsAttribute())
      key.push_back(pointer(properties.getAsOpaquePointer()));
    key.push_back(op->getNumOperands());
    for (Value operand : op->getOperands()) {
      auto known = inside.find(operand);
      std::optional<int64_t> id = known == inside.end() ? get(operand) : std::optional(known->second);
      isKnown &= id.has_value();
      key.append({known == inside.end(), id.value_or(0), pointer(operand.getType().getAsOpaquePointer())});
    }
    key.push_back(op->getNumResults());
    for (Value result : op->getResults()) {
      key.push_back(pointer(result.getType().getAsOpaquePointer()));
      inside[result] = inside.size();
    }
    for (Region &region : op->getRegions()) {
      key.push_back(region.getBlocks().size());
      isKnown &= region.getBlocks().size() <= 1;
      for (Block &block : region) {
        for (Value argument : block.getArguments()) {
          key.push_back(pointer(argument.getType().getAsOpaquePointer()));
          inside[argument] = inside.size();
        }
        key.push_back(-1);
        for (Operation &nested : block)
          add(&nested);
      }
    }
  };
  add(op);
  if (!isKnown)
    return std::nullopt;
  return key;
}

ScalarReader GlobalProgram::getScalars() {
  ScalarReader scalars;
  scalars.get = [this](Value value) { return getScalar(value); };
  scalars.getCoordinate = [this](Operation *op) { return getCoordinate(op); };
  return scalars;
}

std::optional<IndexForm> GlobalProgram::getCoordinate(Operation *op) const {
  auto coordinate = cast<DeviceCoordinateOp>(op);
  const Mesh *mesh = meshes ? meshes->lookup(coordinate.getMeshAttr()) : nullptr;
  std::optional<IndexForm> form = mesh ? IndexForm::ofAxis(*mesh, coordinate.getAxis()) : std::nullopt;
  form = form ? orders.translate(*form, *mesh) : std::nullopt;
  // Only along manual axes.
  return form && without(varying, form->getRanks()) ? form : std::nullopt;
}

TermId GlobalProgram::createScalar(Type type) {
  TermId id = terms.getScalar(numScalars++);
  return type.isIndex() ? terms.getComputedIndex(id) : id;
}

void GlobalProgram::addRegionOp(Operation &op) {
  RegionInfo info;
  info.op = &op;
  auto addValue = [&](Value value, SmallVectorImpl<std::optional<ClassId>> &classes,
                      SmallVectorImpl<std::optional<TermId>> &scalars) {
    bool isTensor = isa<RankedTensorType>(value.getType());
    classes.push_back(isTensor ? getClass(value) : std::nullopt);
    scalars.push_back(isTensor ? std::nullopt : std::optional(getScalar(value)));
  };
  auto addFresh = [&](Value value, SmallVectorImpl<std::optional<ClassId>> &classes,
                      SmallVectorImpl<std::optional<TermId>> &scalars) {
    if (isa<RankedTensorType>(value.getType()))
      addOpaque(value);
    addValue(value, classes, scalars);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      info.scalars.push_back(getScalar(bound));
    info.induction = getScalar(loop.getInductionVar());
    // Of constant bounds, the induction variable has limits.
    const Term &variable = terms[*info.induction], &first = terms[info.scalars[0]], &end = terms[info.scalars[1]];
    auto isConstant = [](const Term &term) { return term.kind == Term::Kind::Index && term.form.isConstant(); };
    if (variable.kind == Term::Kind::Index && isConstant(first) && isConstant(end) &&
        first.form.getConstant() < end.form.getConstant())
      terms.limitsOf[variable.form.getTerms().front().var] = {first.form.getConstant(), end.form.getConstant() - 1};
    for (auto [init, argument] : llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
      addValue(init, info.inits, info.scalarInits);
      addFresh(argument, info.arguments, info.scalarArguments);
    }
    add(*loop.getBody());
    for (Value yielded : loop.getYieldedValues())
      addValue(yielded, info.yields, info.scalarYields);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [init, argument] : llvm::zip_equal(loop.getInits(), loop.getBeforeArguments())) {
      addValue(init, info.inits, info.scalarInits);
      addFresh(argument, info.arguments, info.scalarArguments);
    }
    add(*loop.getBeforeBody());
    info.scalars.push_back(getScalar(loop.getConditionOp().getCondition()));
    for (auto [value, argument] : llvm::zip_equal(loop.getConditionOp().getArgs(), loop.getAfterArguments())) {
      addValue(value, info.forwarded, info.scalarForwarded);
      addFresh(argument, info.bodyArguments, info.scalarBodyArguments);
    }
    add(*loop.getAfterBody());
    for (Value yielded : loop.getYieldOp().getResults())
      addValue(yielded, info.yields, info.scalarYields);
  } else {
    auto branch = cast<scf::IfOp>(op);
    info.scalars.push_back(getScalar(branch.getCondition()));
    add(*branch.thenBlock());
    add(*branch.elseBlock());
    for (auto [value, other] : llvm::zip_equal(branch.thenYield().getOperands(), branch.elseYield().getOperands())) {
      addValue(value, info.inits, info.scalarInits);
      addValue(other, info.yields, info.scalarYields);
    }
  }
  for (Value result : op.getResults())
    addFresh(result, info.results, info.scalarResults);
  regions.push_back(info);
}

TermId GlobalProgram::getScalar(Value value) {
  if (!reader) {
    // What is not read is a number of its own.
    reader = std::make_unique<BodyReader>(terms, [this](Value value) { return createScalar(value.getType()); });
    reader->isOfFunction = true;
    reader->getCoordinate = [this](Operation *op) { return getCoordinate(op); };
    reader->getLookup = [this](Value tensor, ArrayRef<TermId> indices) -> std::optional<TermId> {
      std::optional<ClassId> id = getClass(tensor);
      if (!id)
        return std::nullopt;
      return getLookup(*id, terms.getLookupIndices(indices));
    };
  }
  return reader->get(value);
}

std::optional<IndexForm> GlobalProgram::getIndexForm(Value value) {
  const Term &term = terms[getScalar(value)];
  return term.kind == Term::Kind::Index ? std::optional(term.form) : std::nullopt;
}

void GlobalProgram::add(func::FuncOp func) {
  (void)getUndefined(); // class 0 is no root of reshapes
  for (BlockArgument argument : func.getArguments()) {
    if (hasNoElements(argument.getType()))
      values[argument] = getUndefined();
    else if (isa<RankedTensorType>(argument.getType()))
      addOpaque(argument);
    else
      (void)getScalar(argument);
  }
  if (func.getBody().hasOneBlock())
    add(func.getBody().front());
  numProgramClasses = classes.size();
}

void GlobalProgram::add(Block &block) {
  for (Operation &op : block.without_terminator()) {
    ++numOps;
    add(op);
    ops[op.getName()].push_back(&op);
    for (Value result : op.getResults())
      if (std::optional<ClassId> id = getClass(result); id && !classes[*id].op)
        classes[*id].op = &op;
  }
}

std::optional<unsigned> proof::getLoopDepth(Operation *op) {
  unsigned depth = 0;
  for (Operation *parent = op->getParentOp(); parent && !isa<func::FuncOp>(parent); parent = parent->getParentOp()) {
    if (!isa<scf::ForOp>(parent))
      return std::nullopt;
    ++depth;
  }
  return depth;
}

void GlobalProgram::add(Operation &op) {
  if (auto assertion = dyn_cast<cf::AssertOp>(op))
    if (std::optional<unsigned> depth = getLoopDepth(&op))
      assertions.insert({getScalar(assertion.getArg()), *depth});
  resolveSizes(&op, terms.sizes, [&](Value value) { return getIndexForm(value); });
  std::optional<Value> annotated = getAnnotated(&op);
  if (auto reshard = dyn_cast<ReshardOp>(op))
    annotated = reshard->getOperand(0);
  if (annotated) {
    if (std::optional<ClassId> id = getClass(*annotated))
      values[op.getResult(0)] = *id;
    return;
  }
  if (op.getNumResults() == 0)
    return;
  bool isKnown = llvm::all_of(op.getResults(), [&](OpResult result) {
    if (hasNoElements(result.getType()))
      values[result] = getUndefined();
    else if (Value first = getUnwritten(result))
      if (std::optional<ClassId> id = getClass(first))
        values[result] = *id;
    return values.count(result) > 0;
  });
  if (isKnown)
    return;
  if (auto manual = dyn_cast<ManualComputationOp>(op)) {
    addManual(manual);
    return;
  }
  if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    addCollective(collective);
    return;
  }
  if (auto sort = dyn_cast<SortOp>(op)) {
    addSort(sort);
    return;
  }
  bool isScalar = llvm::none_of(op.getResultTypes(), [](Type type) { return isa<ShapedType>(type); });
  if (isScalar && op.getNumRegions() == 0) {
    (void)getScalar(op.getResult(0)); // makes the reader
    reader->read(op);
    return;
  }
  if (ElementsAttr constant = getElements(&op)) {
    values[op.getResult(0)] = getConstant(constant);
    return;
  }
  if (isa<tensor::EmptyOp>(op)) {
    values[op.getResult(0)] = getUndefined();
    return;
  }
  if (isReshape(&op))
    if (std::optional<ClassId> source = getClass(op.getOperand(0))) {
      values[op.getResult(0)] = addReshape(*source, cast<RankedTensorType>(op.getResult(0).getType()), op.getLoc());
      return;
    }
  auto branch = dyn_cast<scf::IfOp>(op);
  if (isa<scf::ForOp, scf::WhileOp>(op) || (branch && !branch.getElseRegion().empty())) {
    addRegionOp(op);
    return;
  }
  if (std::optional<Structured> structured = readStructured(&op, terms, getScalars())) {
    addStructured(&op, *structured);
    return;
  }
  std::optional<SmallVector<int64_t>> key = getOpaqueKey(&op, [&](Value value) -> std::optional<int64_t> {
    if (isa<ShapedType>(value.getType())) {
      std::optional<ClassId> id = getClass(value);
      return id ? std::optional<int64_t>(*id) : std::nullopt;
    }
    return int64_t(getScalar(value));
  });
  for (auto [r, result] : llvm::enumerate(op.getResults())) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    if (!key) {
      addOpaque(result);
      continue;
    }
    key->push_back(r);
    SmallVector<ClassId, 1> &known = keys[*key];
    if (known.empty())
      known.push_back(addOpaque(result));
    values[result] = known.front();
    key->pop_back();
  }
}

ArrayRef<Operation *> GlobalProgram::getOps(OperationName name) const {
  auto it = ops.find(name);
  return it == ops.end() ? ArrayRef<Operation *>() : ArrayRef<Operation *>(it->second);
}
