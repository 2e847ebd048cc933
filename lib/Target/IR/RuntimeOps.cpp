//===- RuntimeOps.cpp - Calls of the runtime, as ops ----------------------===//

#include "shardkit/Target/IR/RuntimeOps.h"
#include "shardkit/rt/abi.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::spmd::target;

#include "shardkit/Target/IR/RuntimeOpsDialect.cpp.inc"

void SpmdRtDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "shardkit/Target/IR/RuntimeOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// ContractOp
//===----------------------------------------------------------------------===//

/// Adds the sizes of the loops of `value`; false if they contradict known ones or are
/// dynamic.
static bool addLoopSizes(AffineMap map, Value value, MutableArrayRef<int64_t> sizes) {
  for (auto [expr, size] : llvm::zip_equal(map.getResults(), cast<ShapedType>(value.getType()).getShape())) {
    if (isa<AffineConstantExpr>(expr))
      continue;
    int64_t &loop = sizes[cast<AffineDimExpr>(expr).getPosition()];
    if (ShapedType::isDynamic(size) || (loop >= 0 && loop != size))
      return false;
    loop = size;
  }
  return true;
}

template <typename OpTy> static std::optional<SmallVector<int64_t>> readLoopSizes(OpTy op) {
  auto maps = llvm::to_vector(op.getIndexingMaps().template getAsValueRange<AffineMapAttr>());
  SmallVector<int64_t> sizes(maps.front().getNumDims(), -1);
  for (auto [map, value] : llvm::zip_equal(maps, op->getOperands()))
    if (!addLoopSizes(map, value, sizes))
      return std::nullopt;
  if (llvm::is_contained(sizes, -1))
    return std::nullopt;
  return sizes;
}

std::optional<SmallVector<int64_t>> ContractOp::getLoopSizes() { return readLoopSizes(*this); }

static bool hasDynamicOperand(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) { return !cast<ShapedType>(type).hasStaticShape(); });
}

bool ContractOp::isDynamic() { return hasDynamicOperand(*this); }

LogicalResult ContractOp::verify() {
  auto maps = llvm::to_vector(getIndexingMaps().getAsValueRange<AffineMapAttr>());
  if (maps.size() != getNumOperands())
    return emitOpError("expected ") << getNumOperands() << " indexing maps, got " << maps.size();
  for (auto [map, value] : llvm::zip_equal(maps, getOperands()))
    if (!map.isProjectedPermutation() || map.getNumDims() != maps.front().getNumDims() ||
        map.getNumResults() != cast<ShapedType>(value.getType()).getRank())
      return emitOpError("expected projected permutations of one iteration "
                         "space, one result per dim of the operand");
  auto sizes = getLoopSizes();
  if (!sizes && !isDynamic())
    return emitOpError("expected operands whose static sizes agree");
  if ((sizes ? llvm::count_if(*sizes, [](int64_t s) { return s != 1; }) : int64_t(maps.front().getNumDims())) >
      SK_MAX_CONTRACTION_DIMS)
    return emitOpError("expected at most ") << SK_MAX_CONTRACTION_DIMS << " loops";
  if (getAdded().size() > SK_MAX_ADDED)
    return emitOpError("expected at most ") << SK_MAX_ADDED << " operands to add";
  for (auto [map, value] : llvm::zip_equal(ArrayRef(maps).drop_front(3), getAdded())) {
    if (getElementTypeOrSelf(value) != getElementTypeOrSelf(getC()))
      return emitOpError("expected operands to add of the type of the result");
    for (AffineExpr expr : map.getResults())
      if (!maps[2].isFunctionOfDim(cast<AffineDimExpr>(expr).getPosition()))
        return emitOpError("expected operands to add over loops of the result");
  }
  if (getActivation() && *getActivation() != "relu" && *getActivation() != "gelu")
    return emitOpError("expected activation \"relu\" or \"gelu\", got \"") << *getActivation() << "\"";
  return success();
}

//===----------------------------------------------------------------------===//
// ContractWidenedOp
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> ContractWidenedOp::getLoopSizes() { return readLoopSizes(*this); }

LogicalResult ContractWidenedOp::verify() {
  auto maps = llvm::to_vector(getIndexingMaps().getAsValueRange<AffineMapAttr>());
  if (maps.size() != getNumOperands() || getRoles().size() != getStored().size())
    return emitOpError("expected ") << getNumOperands() << " indexing maps and " << getStored().size() << " roles, got "
                                    << maps.size() << " and " << getRoles().size();
  auto inner = llvm::find(getRoles(), StringAttr::get(getContext(), "inner")) - getRoles().begin();
  for (auto [i, map, value] : llvm::enumerate(maps, getOperands()))
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/int64_t(i) == inner + 2) ||
        map.getNumDims() != maps.front().getNumDims() ||
        map.getNumResults() != cast<ShapedType>(value.getType()).getRank())
      return emitOpError("expected projected permutations of one iteration space, one result "
                         "per dim of the operand");
  for (unsigned loop = 0; loop < maps[0].getNumDims(); ++loop)
    if (maps[0].isFunctionOfDim(loop) && maps.back().isFunctionOfDim(loop) &&
        llvm::any_of(ArrayRef(maps).slice(1, maps.size() - 2),
                     [&](AffineMap map) { return map.isFunctionOfDim(loop); }))
      return emitOpError("expected loops of x and the result that the weight lacks, got loop ") << loop << " of all";
  auto sizes = getLoopSizes();
  if (!sizes || llvm::count_if(*sizes, [](int64_t s) { return s != 1; }) > SK_MAX_WIDENED_DIMS)
    return emitOpError("expected operands whose static sizes agree, and at most ") << SK_MAX_WIDENED_DIMS << " loops";
  if (!llvm::is_contained({"table", "i8", "e4m3", "i6"}, getNumber()))
    return emitOpError("expected number \"table\", \"i8\", \"e4m3\" or \"i6\", got \"") << getNumber() << "\"";
  if ((getNumber() == "table") != bool(getTable()) || (getTable() && getTable()->size() != 16))
    return emitOpError("expected a table of 16 elements for number \"table\" alone");
  for (auto shifts : {getShifts(), getHighShifts()})
    if (shifts && shifts->size() != maps.front().getNumDims() + 1)
      return emitOpError("expected ") << maps.front().getNumDims() + 1 << " shifts, got " << shifts->size();
  for (Attribute role : getRoles())
    if (!llvm::is_contained({"high", "scale", "offset", "inner"}, cast<StringAttr>(role).getValue()))
      return emitOpError("expected roles of \"high\", \"scale\", \"offset\" and \"inner\", got ") << role;
  if ((inner < int64_t(getRoles().size())) != bool(getInnerCases()))
    return emitOpError("expected inner_cases with role \"inner\" alone");
  if (getInnerCases() && getInnerCases()->size() != maps.front().getNumDims())
    return emitOpError("expected ") << maps.front().getNumDims() << " inner_cases, got " << getInnerCases()->size();
  for (auto cases : {getInnerScale(), getInnerOffset()})
    if (cases && (!getInnerCases() || cases->size() % 7 || cases->size() > 7 * SK_MAX_INNER_CASES))
      return emitOpError("expected inner_cases, and seven integers for each of at most ")
             << SK_MAX_INNER_CASES << " cases";
  return success();
}

//===----------------------------------------------------------------------===//
// AttentionOp
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> AttentionOp::getLoopSizes() {
  auto maps = llvm::to_vector(getIndexingMaps().getAsValueRange<AffineMapAttr>());
  SmallVector<int64_t> sizes(maps.front().getNumDims(), -1);
  for (auto [map, value] : llvm::zip_equal(maps, getOperands()))
    if (!addLoopSizes(map, value, sizes))
      return std::nullopt;
  for (int64_t &size : sizes)
    size = std::abs(size);
  return sizes;
}

bool AttentionOp::isDynamic() { return hasDynamicOperand(*this); }

std::optional<AttentionOp::Roles> AttentionOp::getRoles() {
  auto maps = llvm::to_vector(getIndexingMaps().getAsValueRange<AffineMapAttr>());
  Roles roles;
  roles.queries = getQueries();
  for (int64_t loop = 0; loop < maps.front().getNumDims(); ++loop) {
    bool q = maps[0].isFunctionOfDim(loop), k = maps[1].isFunctionOfDim(loop), v = maps[2].isFunctionOfDim(loop),
         out = maps.back().isFunctionOfDim(loop);
    int64_t *role = nullptr;
    if (loop == roles.queries) {
      if (k || v || q != out)
        return std::nullopt;
    } else if (!q && k && v && !out) {
      role = &roles.keys;
    } else if (q && k && !v && !out) {
      role = &roles.head;
    } else if (!q && !k && v && out) {
      role = &roles.values;
    } else if (out) {
      roles.batch.push_back(loop);
    } else {
      return std::nullopt;
    }
    if (role && std::exchange(*role, loop) >= 0)
      return std::nullopt;
  }
  if (roles.queries < 0 || roles.queries >= maps.front().getNumDims() || roles.keys < 0 || roles.head < 0 ||
      roles.values < 0 || roles.batch.size() > SK_MAX_ATTENTION_BATCH)
    return std::nullopt;
  return roles;
}

LogicalResult AttentionOp::verify() {
  auto maps = llvm::to_vector(getIndexingMaps().getAsValueRange<AffineMapAttr>());
  if (maps.size() != getNumOperands())
    return emitOpError("expected ") << getNumOperands() << " indexing maps, got " << maps.size();
  for (auto [map, value] : llvm::zip_equal(maps, getOperands()))
    if (!map.isProjectedPermutation() || map.getNumDims() != maps.front().getNumDims() ||
        map.getNumResults() != cast<ShapedType>(value.getType()).getRank())
      return emitOpError("expected projected permutations of one iteration space, one result "
                         "per dim of the operand");
  if (!isDynamic() && !getLoopSizes())
    return emitOpError("expected operands whose static sizes agree");
  if (!getRoles())
    return emitOpError("expected one loop each for queries, keys, head and values, and at most ")
           << SK_MAX_ATTENTION_BATCH << " others, all in the result";
  if (getOperands().size() > 4 + SK_MAX_ATTENTION_OPERANDS || getSteps().size() > SK_MAX_ATTENTION_STEPS)
    return emitOpError("expected at most ")
           << SK_MAX_ATTENTION_OPERANDS << " operands and " << SK_MAX_ATTENTION_STEPS << " steps";
  return success();
}

//===----------------------------------------------------------------------===//
// Effects and bufferization
//===----------------------------------------------------------------------===//

static void addEffects(Operation *op, bool readsInit,
                       SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &e) {
  auto dps = cast<DestinationStyleOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (!dps.isDpsInit(&operand) || readsInit)
      e.emplace_back(MemoryEffects::Read::get(), &operand);
    if (dps.isDpsInit(&operand))
      e.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

void ContractOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &e) {
  addEffects(*this, !getOverwrite(), e);
}
void ContractWidenedOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &e) {
  addEffects(*this, !getOverwrite(), e);
}
void AttentionOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &e) {
  addEffects(*this, false, e);
}
void FindRowsOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &e) {
  addEffects(*this, false, e);
}
void CallOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &e) {
  addEffects(*this, false, e);
  e.emplace_back(MemoryEffects::Write::get()); // It may have collectives.
}
void CollectiveOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &e) {
  addEffects(*this, false, e);
  // Other devices participate: never removed, never reordered.
  e.emplace_back(MemoryEffects::Write::get());
}

static void addStartedEffects(Operation *op, SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &e) {
  for (OpOperand &operand : op->getOpOperands())
    if (isa<MemRefType>(operand.get().getType()))
      e.emplace_back(operand.getOperandNumber() == 0 ? static_cast<MemoryEffects::Effect *>(MemoryEffects::Read::get())
                                                     : MemoryEffects::Write::get(),
                     &operand);
  e.emplace_back(MemoryEffects::Write::get());
}
void StartOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &e) {
  addStartedEffects(*this, e);
}
void DoneOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &e) {
  addStartedEffects(*this, e);
}

void ProbeOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &e) {
  if (isa<MemRefType>(getInput().getType()))
    e.emplace_back(MemoryEffects::Read::get(), &getInputMutable());
  e.emplace_back(MemoryEffects::Write::get()); // Probes keep their order.
}

bool ContractOp::bufferizesToMemoryRead(OpOperand &operand, const AnalysisState &) {
  return !isDpsInit(&operand) || !getOverwrite();
}
bool ContractOp::bufferizesToMemoryWrite(OpOperand &operand, const AnalysisState &) { return isDpsInit(&operand); }
AliasingValueList ContractOp::getAliasingValues(OpOperand &operand, const AnalysisState &) {
  if (isDpsInit(&operand))
    return {{getTiedOpResult(&operand), BufferRelation::Equivalent}};
  return {};
}
bool ContractWidenedOp::bufferizesToMemoryRead(OpOperand &operand, const AnalysisState &) {
  return !isDpsInit(&operand) || !getOverwrite();
}
bool ContractWidenedOp::bufferizesToMemoryWrite(OpOperand &operand, const AnalysisState &) {
  return isDpsInit(&operand);
}
AliasingValueList ContractWidenedOp::getAliasingValues(OpOperand &operand, const AnalysisState &) {
  if (isDpsInit(&operand))
    return {{getTiedOpResult(&operand), BufferRelation::Equivalent}};
  return {};
}
bool AttentionOp::bufferizesToMemoryRead(OpOperand &operand, const AnalysisState &) { return !isDpsInit(&operand); }
bool AttentionOp::bufferizesToMemoryWrite(OpOperand &operand, const AnalysisState &) { return isDpsInit(&operand); }
AliasingValueList AttentionOp::getAliasingValues(OpOperand &operand, const AnalysisState &) {
  if (isDpsInit(&operand))
    return {{getTiedOpResult(&operand), BufferRelation::Equivalent}};
  return {};
}
bool FindRowsOp::bufferizesToMemoryRead(OpOperand &operand, const AnalysisState &) { return !isDpsInit(&operand); }
bool FindRowsOp::bufferizesToMemoryWrite(OpOperand &operand, const AnalysisState &) { return isDpsInit(&operand); }
AliasingValueList FindRowsOp::getAliasingValues(OpOperand &operand, const AnalysisState &) {
  if (isDpsInit(&operand))
    return {{getTiedOpResult(&operand), BufferRelation::Equivalent}};
  return {};
}
bool CollectiveOp::bufferizesToMemoryRead(OpOperand &operand, const AnalysisState &) { return !isDpsInit(&operand); }
bool CollectiveOp::bufferizesToMemoryWrite(OpOperand &operand, const AnalysisState &) { return isDpsInit(&operand); }
AliasingValueList CollectiveOp::getAliasingValues(OpOperand &operand, const AnalysisState &) {
  if (isDpsInit(&operand))
    return {{getTiedOpResult(&operand), BufferRelation::Equivalent}};
  return {};
}
bool CallOp::bufferizesToMemoryRead(OpOperand &operand, const AnalysisState &) { return !isDpsInit(&operand); }
bool CallOp::bufferizesToMemoryWrite(OpOperand &operand, const AnalysisState &) { return isDpsInit(&operand); }
AliasingValueList CallOp::getAliasingValues(OpOperand &operand, const AnalysisState &) {
  if (isDpsInit(&operand))
    return {{getTiedOpResult(&operand), BufferRelation::Equivalent}};
  return {};
}

// Between start and done, the input is read and the output is written at any time. The
// done reads both, so that no op can write either before it.
bool StartOp::bufferizesToMemoryRead(OpOperand &operand, const AnalysisState &) {
  return operand.getOperandNumber() == 0;
}
bool StartOp::bufferizesToMemoryWrite(OpOperand &operand, const AnalysisState &) {
  return operand.getOperandNumber() == 1;
}
AliasingValueList StartOp::getAliasingValues(OpOperand &operand, const AnalysisState &) {
  if (operand.getOperandNumber() == 1)
    return {{getBegun(), BufferRelation::Equivalent}};
  return {};
}
bool DoneOp::bufferizesToMemoryRead(OpOperand &, const AnalysisState &) { return true; }
bool DoneOp::bufferizesToMemoryWrite(OpOperand &operand, const AnalysisState &) {
  return operand.getOperandNumber() == 1;
}
AliasingValueList DoneOp::getAliasingValues(OpOperand &operand, const AnalysisState &) {
  if (operand.getOperandNumber() == 1)
    return {{getResult(), BufferRelation::Equivalent}};
  return {};
}

bool ProbeOp::bufferizesToMemoryRead(OpOperand &, const AnalysisState &) { return true; }
bool ProbeOp::bufferizesToMemoryWrite(OpOperand &, const AnalysisState &) { return false; }
AliasingValueList ProbeOp::getAliasingValues(OpOperand &, const AnalysisState &) { return {}; }

/// Which strides an op takes: any, those that are known when compiling, or those of a dense buffer.
enum class Strides { Any, Known, Dense };

/// A memref of such strides: `buffer` or a copy.
static Value withStrides(RewriterBase &rewriter, Location loc, Value buffer, Strides taken) {
  if (taken == Strides::Any)
    return buffer;
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  bool known = succeeded(type.getStridesAndOffset(strides, offset)) && llvm::none_of(strides, ShapedType::isDynamic);
  if (known && taken == Strides::Dense) {
    int64_t expected = 1;
    for (auto [size, stride] : llvm::reverse(llvm::zip_equal(type.getShape(), strides))) {
      known &= size == 1 || stride == expected;
      expected *= size;
    }
  }
  if (known || type.getLayout().isIdentity())
    return buffer;
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      sizes.push_back(memref::DimOp::create(rewriter, loc, buffer, d));
  return memref::AllocOp::create(rewriter, loc, MemRefType::get(type.getShape(), type.getElementType()), sizes);
}

template <typename OpTy>
static LogicalResult bufferizeDps(OpTy op, RewriterBase &rewriter, const BufferizationOptions &options,
                                  BufferizationState &state, Strides taken, bool readsInit) {
  SmallVector<Value> buffers;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value init, computed;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<TensorType>(operand.get().getType())) {
      buffers.push_back(operand.get());
      continue;
    }
    FailureOr<Value> buffer = getBuffer(rewriter, operand.get(), options, state);
    if (failed(buffer))
      return failure();
    bool isInit = op.isDpsInit(&operand);
    Value strided = withStrides(rewriter, loc, *buffer, taken);
    if (strided != *buffer && (!isInit || readsInit))
      memref::CopyOp::create(rewriter, loc, *buffer, strided);
    if (isInit) {
      init = *buffer;
      computed = strided;
    }
    buffers.push_back(strided);
  }
  OperationState newState(loc, op->getName(), buffers, TypeRange{}, op->getAttrs());
  newState.propertiesAttr = op->getPropertiesAsAttribute();
  rewriter.create(newState);
  if (computed != init)
    memref::CopyOp::create(rewriter, loc, computed, init);
  replaceOpWithBufferizedValues(rewriter, op, init);
  return success();
}

LogicalResult ContractOp::bufferize(RewriterBase &rewriter, const BufferizationOptions &options,
                                    BufferizationState &state) {
  return bufferizeDps(*this, rewriter, options, state, isDynamic() ? Strides::Any : Strides::Known, !getOverwrite());
}
LogicalResult ContractWidenedOp::bufferize(RewriterBase &rewriter, const BufferizationOptions &options,
                                           BufferizationState &state) {
  return bufferizeDps(*this, rewriter, options, state, Strides::Known, !getOverwrite());
}
LogicalResult AttentionOp::bufferize(RewriterBase &rewriter, const BufferizationOptions &options,
                                     BufferizationState &state) {
  return bufferizeDps(*this, rewriter, options, state, isDynamic() ? Strides::Any : Strides::Known, false);
}
LogicalResult FindRowsOp::bufferize(RewriterBase &rewriter, const BufferizationOptions &options,
                                    BufferizationState &state) {
  return bufferizeDps(*this, rewriter, options, state, Strides::Dense, false);
}
LogicalResult CollectiveOp::bufferize(RewriterBase &rewriter, const BufferizationOptions &options,
                                      BufferizationState &state) {
  return bufferizeDps(*this, rewriter, options, state, Strides::Dense, false);
}

LogicalResult CallOp::bufferize(RewriterBase &rewriter, const BufferizationOptions &options,
                                BufferizationState &state) {
  Location loc = getLoc();
  rewriter.setInsertionPoint(*this);
  SmallVector<Value> inputs, inits, computed;
  for (OpOperand &operand : (*this)->getOpOperands()) {
    FailureOr<Value> buffer = getBuffer(rewriter, operand.get(), options, state);
    if (failed(buffer))
      return failure();
    Value contiguous = withStrides(rewriter, loc, *buffer, Strides::Dense);
    if (isDpsInit(&operand)) {
      inits.push_back(*buffer);
      computed.push_back(contiguous);
      continue;
    }
    if (contiguous != *buffer)
      memref::CopyOp::create(rewriter, loc, *buffer, contiguous);
    inputs.push_back(contiguous);
  }
  CallOp::create(rewriter, loc, TypeRange(), getCalleeAttr(), getFirstCollectiveAttr(), getTiedAttr(), inputs,
                 computed);
  for (auto [from, to] : llvm::zip_equal(computed, inits))
    if (from != to)
      memref::CopyOp::create(rewriter, loc, from, to);
  replaceOpWithBufferizedValues(rewriter, *this, inits);
  return success();
}

LogicalResult StartOp::bufferize(RewriterBase &rewriter, const BufferizationOptions &options,
                                 BufferizationState &state) {
  Location loc = getLoc();
  rewriter.setInsertionPoint(*this);
  FailureOr<Value> input = getBuffer(rewriter, getInput(), options, state);
  FailureOr<Value> init = getBuffer(rewriter, getInit(), options, state);
  if (failed(input) || failed(init))
    return failure();
  Value contiguous = withStrides(rewriter, loc, *input, Strides::Dense);
  if (contiguous != *input)
    memref::CopyOp::create(rewriter, loc, *input, contiguous);
  Value begun = withStrides(rewriter, loc, *init, Strides::Dense);
  StartOp::create(rewriter, loc, Type(), getIdAttr(), getAloneAttr(), contiguous, begun);
  replaceOpWithBufferizedValues(rewriter, *this, begun);
  return success();
}
LogicalResult DoneOp::bufferize(RewriterBase &rewriter, const BufferizationOptions &options,
                                BufferizationState &state) {
  rewriter.setInsertionPoint(*this);
  FailureOr<Value> begun = getBuffer(rewriter, getBegun(), options, state);
  if (failed(begun))
    return failure();
  // The buffers of the start: its input may have been copied.
  Value input;
  for (Operation *user : begun->getUsers())
    if (auto start = dyn_cast<StartOp>(user); start && start.getId() == getId())
      input = start.getInput();
  if (!input)
    return emitOpError("takes another buffer than the one that was started, expected the "
                       "output of spmd_rt.start ")
           << getId();
  DoneOp::create(rewriter, getLoc(), Type(), getIdAttr(), input, *begun);
  replaceOpWithBufferizedValues(rewriter, *this, *begun);
  return success();
}

LogicalResult ProbeOp::bufferize(RewriterBase &rewriter, const BufferizationOptions &options,
                                 BufferizationState &state) {
  rewriter.setInsertionPoint(*this);
  FailureOr<Value> input = getBuffer(rewriter, getInput(), options, state);
  if (failed(input))
    return failure();
  Value contiguous = withStrides(rewriter, getLoc(), *input, Strides::Dense);
  if (contiguous != *input)
    memref::CopyOp::create(rewriter, getLoc(), *input, contiguous);
  ProbeOp::create(rewriter, getLoc(), getIdAttr(), contiguous);
  rewriter.eraseOp(*this);
  return success();
}

#define GET_OP_CLASSES
#include "shardkit/Target/IR/RuntimeOps.cpp.inc"
