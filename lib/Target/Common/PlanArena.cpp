//===- PlanArena.cpp - All temporaries in one arena argument --------------===//

#include "shardkit/Target/Common/Passes.h"
#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETPLANARENA
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;

static constexpr int64_t kAlignment = 64;
/// Limit of all temporaries on the stack.
static constexpr int64_t kStackBudget = 256 * 1024;

/// The largest arena of the runtime.
static constexpr int64_t kMaxBytes = int64_t(1) << 50;

/// kMaxBytes + 1 if it is larger.
static int64_t bytesOf(MemRefType type) {
  Type element = type.getElementType();
  int64_t size = element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  int64_t bytes = llvm::PowerOf2Ceil(size);
  for (int64_t dim : type.getShape())
    if (llvm::MulOverflow(bytes, dim, bytes) || bytes > kMaxBytes)
      return kMaxBytes + 1;
  return bytes;
}

/// The value of an expression that grows with each of its operands, at the bounds of these, none of which is negative;
/// std::nullopt for others, and where it is too large.
static std::optional<int64_t> evaluate(AffineExpr expr, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() < 0 ? std::nullopt : std::optional(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> lhs = evaluate(binary.getLHS(), dims, symbols);
  std::optional<int64_t> rhs = evaluate(binary.getRHS(), dims, symbols);
  if (!lhs || !rhs)
    return std::nullopt;
  int64_t result = 0;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return llvm::AddOverflow(*lhs, *rhs, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::Mul:
    return llvm::MulOverflow(*lhs, *rhs, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    if (!isa<AffineConstantExpr>(binary.getRHS()) || *rhs == 0)
      return std::nullopt;
    return binary.getKind() == AffineExprKind::FloorDiv ? *lhs / *rhs : llvm::divideCeilSigned(*lhs, *rhs);
  default:
    return std::nullopt;
  }
}

static std::optional<int64_t> getBound(Value size);

/// The largest size of a dim, where that is known. Upstream's bounds do not follow what loops carry: that has one size.
static std::optional<int64_t> getDimBound(Value buffer, int64_t d) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || !type.isDynamicDim(d))
    return type ? std::optional(type.getDimSize(d)) : std::nullopt;
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(presburger::BoundType::UB, {buffer, d},
                                                                            nullptr, /*closedUB=*/true);
  if (succeeded(bound))
    return *bound;
  auto getFolded = [](OpFoldResult size) {
    auto value = dyn_cast<Value>(size);
    return value ? getBound(value) : getConstantIntValue(size);
  };
  auto getLargest = [&](ValueRange buffers) {
    std::optional<int64_t> largest = 0;
    for (Value other : buffers)
      if (std::optional<int64_t> known = getDimBound(other, d); !known || !largest)
        largest = std::nullopt;
      else
        largest = std::max(*largest, *known);
    return largest;
  };
  auto arg = dyn_cast<BlockArgument>(buffer);
  Operation *op = arg ? arg.getOwner()->getParentOp() : buffer.getDefiningOp();
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    OpOperand *init =
        arg ? loop.getTiedLoopInit(arg) : loop.getTiedLoopInit(loop.getTiedLoopRegionIterArg(cast<OpResult>(buffer)));
    return init ? getDimBound(init->get(), d) : std::nullopt;
  }
  if (arg)
    return std::nullopt;
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return getBound(alloc.getDynamicSizes()[type.getDynamicDimIndex(d)]);
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op))
    return getFolded(cast.getMixedSizes()[d]);
  if (auto cast = dyn_cast<memref::CastOp>(op))
    return getDimBound(cast.getSource(), d);
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
    return getFolded(expand.getMixedOutputShape()[d]);
  if (auto view = dyn_cast<memref::SubViewOp>(op); view && view.getDroppedDims().none())
    return getFolded(view.getMixedSizes()[d]);
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    int64_t product = 1;
    for (int64_t from : collapse.getReassociationIndices()[d]) {
      std::optional<int64_t> known = getDimBound(collapse.getSrc(), from);
      if (!known || llvm::MulOverflow(product, *known, product))
        return std::nullopt;
    }
    return product;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return getLargest({select.getTrueValue(), select.getFalseValue()});
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned i = cast<OpResult>(buffer).getResultNumber();
    return getLargest({branch.thenYield().getOperand(i), branch.elseYield().getOperand(i)});
  }
  return std::nullopt;
}

/// The largest value of a size, where that is known. Upstream's bounds are linear: products are bounded by those of
/// their factors.
static std::optional<int64_t> getBound(Value size) {
  FailureOr<int64_t> bound =
      ValueBoundsConstraintSet::computeConstantBound(presburger::BoundType::UB, {size}, nullptr, /*closedUB=*/true);
  if (succeeded(bound))
    return *bound;
  Operation *op = size.getDefiningOp();
  if (auto dim = dyn_cast_or_null<memref::DimOp>(op); dim && dim.getConstantIndex())
    return getDimBound(dim.getSource(), *dim.getConstantIndex());
  if (!op || !isa<arith::MulIOp, affine::AffineApplyOp>(op))
    return std::nullopt;
  SmallVector<int64_t> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> known = getBound(operand);
    if (!known)
      return std::nullopt;
    operands.push_back(std::max<int64_t>(*known, 0));
  }
  if (int64_t product; isa<arith::MulIOp>(op))
    return llvm::MulOverflow(operands[0], operands[1], product) ? std::nullopt : std::optional(product);
  AffineMap map = cast<affine::AffineApplyOp>(op).getAffineMap();
  return evaluate(map.getResult(0), ArrayRef(operands).take_front(map.getNumDims()),
                  ArrayRef(operands).drop_front(map.getNumDims()));
}

namespace {
struct Buffer {
  memref::AllocOp alloc;
  int64_t bytes, first, last, offset = 0;
};

/// Replaces the allocations of a function.
///
/// 1. Dynamic allocations become static ones of their largest size.
/// 2. Small allocations in loops, and those of functions without an arena, move to the
///    stack.
/// 3. The others get offsets in the arena. Two buffers share memory if their live ranges,
///    in top-level ops, are disjoint. For example, with %a live in ops 0-2, %b in 1-4 and
///    %c in 3-4, %a and %c are both at offset 0, and %b follows.
struct PlanArena : spmd::impl::SpmdTargetPlanArenaBase<PlanArena> {
  using Base::Base;

  /// All values that may alias the allocation, through views and the results and
  /// arguments of regions, with the positions of their uses.
  void liveRange(Buffer &buffer, const DenseMap<Operation *, int64_t> &position, Block *body);

  /// True if the allocation may be live in another iteration of a loop.
  static bool escapesIteration(memref::AllocOp alloc);

  /// A dynamic allocation becomes a static one of the largest size.
  LogicalResult makeStatic(memref::AllocOp alloc);

  /// The arenas of the layers that a function calls become allocations of the function.
  static void allocateForCalls(func::FuncOp func, const SymbolTable &symbols);
  LogicalResult plan(func::FuncOp func);
  void runOnOperation() override;
};
} // namespace

void PlanArena::liveRange(Buffer &buffer, const DenseMap<Operation *, int64_t> &position, Block *body) {
  SmallVector<Value> worklist{buffer.alloc.getResult()};
  DenseSet<Value> seen(worklist.begin(), worklist.end());
  buffer.first = INT64_MAX;
  buffer.last = -1;
  auto push = [&](Value v) {
    if (isa<BaseMemRefType>(v.getType()) && seen.insert(v).second)
      worklist.push_back(v);
  };
  auto extend = [&](Operation *op) {
    int64_t at = position.lookup(body->findAncestorOpInBlock(*op));
    buffer.first = std::min(buffer.first, at);
    buffer.last = std::max(buffer.last, at);
  };
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (Operation *user : value.getUsers()) {
      extend(user);
      for (Value result : user->getResults())
        push(result);
      for (Region &region : user->getRegions())
        for (Block &block : region)
          for (Value arg : block.getArguments())
            push(arg);
      if (user->hasTrait<OpTrait::IsTerminator>())
        if (Operation *parent = user->getParentOp(); !isa<func::FuncOp>(parent)) {
          for (Value result : parent->getResults())
            push(result);
          for (Region &region : parent->getRegions())
            for (Block &block : region)
              for (Value arg : block.getArguments())
                push(arg);
        }
      // Calls use the address.
      if (isa<memref::ExtractAlignedPointerAsIndexOp>(user)) {
        SmallVector<Operation *> addresses(user->user_begin(), user->user_end());
        while (!addresses.empty()) {
          Operation *op = addresses.pop_back_val();
          extend(op);
          if (!isa<func::CallOp>(op))
            addresses.append(op->user_begin(), op->user_end());
        }
      }
    }
  }
  if (buffer.last < 0)
    buffer.first = buffer.last = 0;
}

bool PlanArena::escapesIteration(memref::AllocOp alloc) {
  SmallVector<Value> worklist{alloc.getResult()};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      if (isa<scf::YieldOp, scf::ConditionOp>(user) && isa<scf::ForOp, scf::WhileOp>(user->getParentOp()) &&
          user->getParentOp()->isProperAncestor(alloc))
        return true;
      if (isa<scf::YieldOp>(user))
        for (Value result : user->getParentOp()->getResults())
          if (isa<BaseMemRefType>(result.getType()))
            worklist.push_back(result);
      for (Value result : user->getResults())
        if (isa<BaseMemRefType>(result.getType()))
          worklist.push_back(result);
    }
  }
  return false;
}

LogicalResult PlanArena::makeStatic(memref::AllocOp alloc) {
  auto type = alloc.getType();
  OpBuilder b(alloc);
  SmallVector<int64_t> shape(type.getShape());
  auto dynamic = alloc.getDynamicSizes().begin();
  SmallVector<OpFoldResult> sizes;
  for (int64_t &size : shape) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(b.getIndexAttr(size));
      continue;
    }
    Value v = *dynamic++;
    sizes.push_back(v);
    std::optional<int64_t> bound = getBound(v);
    if (!bound)
      return alloc.emitError("a temporary has a dynamic size without a known bound, "
                             "expected sizes that are static or bounded (spmd.bounds)");
    size = *bound;
  }
  auto staticType = MemRefType::get(shape, type.getElementType());
  Value buffer = memref::AllocOp::create(b, alloc.getLoc(), staticType);
  // The dense memref of the dynamic sizes at its start.
  SmallVector<OpFoldResult> strides(shape.size());
  OpFoldResult stride = b.getIndexAttr(1);
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    strides[d] = stride;
    AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
    stride = affine::makeComposedFoldedAffineApply(b, alloc.getLoc(), s0 * s1, {stride, sizes[d]});
  }
  Value view = memref::ReinterpretCastOp::create(b, alloc.getLoc(), type, buffer, b.getIndexAttr(0), sizes, strides);
  alloc.replaceAllUsesWith(view);
  alloc.erase();
  return success();
}

void PlanArena::allocateForCalls(func::FuncOp func, const SymbolTable &symbols) {
  func.walk([&](LLVM::CallOp call) {
    auto layer = call.getCallee() ? symbols.lookup<func::FuncOp>(*call.getCallee()) : func::FuncOp();
    auto bytes = layer ? layer->getAttrOfType<IntegerAttr>(spmd::target::kArenaBytesAttr) : IntegerAttr();
    if (!bytes)
      return;
    OpBuilder b(call);
    Value arena = memref::AllocOp::create(b, call.getLoc(),
                                          MemRefType::get({std::max<int64_t>(bytes.getInt(), 1)}, b.getI8Type()));
    call.getCalleeOperandsMutable().append(spmd::target::getPointer(b, call.getLoc(), arena));
  });
}

void PlanArena::runOnOperation() {
  SmallVector<func::FuncOp> layers, others;
  for (auto func : getOperation().getOps<func::FuncOp>())
    if (!func.isExternal())
      (func->hasAttr(spmd::target::kLayerAttr) ? layers : others).push_back(func);
  auto planAll = [&](ArrayRef<func::FuncOp> funcs) {
    return failableParallelForEach(&getContext(), funcs, [&](func::FuncOp func) { return plan(func); });
  };
  if (failed(planAll(layers)))
    return signalPassFailure();
  if (!layers.empty()) {
    SymbolTable symbols(getOperation());
    for (func::FuncOp func : others)
      allocateForCalls(func, symbols);
  }
  if (failed(planAll(others)))
    return signalPassFailure();
}

LogicalResult PlanArena::plan(func::FuncOp func) {
  Block *body = &func.getBody().front();
  // 1. Dynamic allocations.
  SmallVector<memref::AllocOp> dynamic;
  func.walk([&](memref::AllocOp alloc) {
    if (!alloc.getType().hasStaticShape())
      dynamic.push_back(alloc);
  });
  for (memref::AllocOp alloc : dynamic)
    if (failed(makeStatic(alloc)))
      return failure();

  // 2. Allocations on the stack.
  DenseMap<Operation *, int64_t> position;
  for (Operation &op : *body)
    position.try_emplace(&op, position.size());
  // Functions other than entry points and layers have no arena; the outlining ensures that the stack
  // suffices.
  const bool isEntry = func->hasAttr(spmd::target::kSymbolsAttr) || func->hasAttr(spmd::target::kLayerAttr);
  OpBuilder b(&getContext());
  SmallVector<Buffer> buffers;
  int64_t stack = 0;
  bool failedPlan = false;
  func.walk([&](memref::AllocOp alloc) {
    int64_t bytes = bytesOf(alloc.getType());
    bool nested = alloc->getBlock() != body;
    if (bytes > kMaxBytes) {
      alloc.emitError() << "a temporary of type " << alloc.getType() << " is too large, expected at most " << kMaxBytes
                        << " bytes";
      failedPlan = true;
      return;
    }
    if (nested && escapesIteration(alloc)) {
      alloc.emitError("a buffer outlives the loop iteration that allocates it");
      failedPlan = true;
      return;
    }
    bool small = (nested || bytes <= kAlignment) && bytes <= stackBytes;
    if (!isEntry || (small && stack + bytes <= kStackBudget)) {
      stack += llvm::alignTo(bytes, kAlignment);
      b.setInsertionPointToStart(body);
      auto alloca = memref::AllocaOp::create(b, alloc.getLoc(), alloc.getType(), b.getI64IntegerAttr(kAlignment));
      alloc.replaceAllUsesWith(alloca.getResult());
      alloc.erase();
      return;
    }
    buffers.push_back({alloc, bytes, 0, 0});
  });
  if (failedPlan)
    return failure();
  if (!isEntry)
    return success();

  // 3. First fit, largest first.
  for (Buffer &buffer : buffers)
    liveRange(buffer, position, body);
  SmallVector<Buffer *> order, assigned;
  for (Buffer &buffer : buffers)
    order.push_back(&buffer);
  llvm::stable_sort(order, [](Buffer *x, Buffer *y) { return x->bytes > y->bytes; });
  int64_t total = 0;
  for (Buffer *buffer : order) {
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (Buffer *other : assigned)
      if (other->first <= buffer->last && buffer->first <= other->last)
        taken.emplace_back(other->offset, other->offset + other->bytes);
    llvm::sort(taken);
    int64_t at = 0;
    for (auto [begin, end] : taken) {
      if (at + buffer->bytes <= begin)
        break;
      at = std::max<int64_t>(at, llvm::alignTo(end, kAlignment));
    }
    buffer->offset = at;
    total = std::max(total, at + buffer->bytes);
    assigned.push_back(buffer);
  }
  total = llvm::alignTo(total, kAlignment);

  Type bytesType = MemRefType::get({std::max<int64_t>(total, 1)}, b.getI8Type());
  unsigned arenaArg = func.getNumArguments();
  if (failed(func.insertArgument(arenaArg, bytesType, {}, func.getLoc())))
    return failure();
  func.setArgAttr(arenaArg, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
  func->setAttr(spmd::target::kArenaBytesAttr, b.getI64IntegerAttr(total));
  Value arena = func.getArgument(arenaArg);
  b.setInsertionPointToStart(body);
  for (Buffer &buffer : buffers) {
    Value offset = arith::ConstantIndexOp::create(b, buffer.alloc.getLoc(), buffer.offset);
    Value view = memref::ViewOp::create(b, buffer.alloc.getLoc(), buffer.alloc.getType(), arena, offset, ValueRange{});
    buffer.alloc.replaceAllUsesWith(view);
    buffer.alloc.erase();
  }
  return success();
}
