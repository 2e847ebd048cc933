//===- PlanArena.cpp - All temporaries in one arena argument --------------===//

#include "BufferSizes.h"
#include "shardkit/Rules/SymbolicSizes.h"
#include "shardkit/Target/Common/Passes.h"
#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETPLANARENA
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd::target;

static constexpr int64_t kAlignment = 64;
/// Limit of all temporaries on the stack.
static constexpr int64_t kStackBudget = 256 * 1024;

/// The largest arena of the runtime.
static constexpr int64_t kMaxBytes = int64_t(1) << 50;

/// What a program is planned for where a size has no bound.
static constexpr int64_t kLikelySize = 4096;

/// Bytes of an allocation as an expression of sizes, a multiple of the alignment.
static AffineExpr bytesOf(memref::AllocOp alloc, BufferSizes &sizes) {
  MemRefType type = alloc.getType();
  Type element = type.getElementType();
  int64_t size = element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  AffineExpr bytes = getAffineConstantExpr(llvm::PowerOf2Ceil(size), alloc.getContext());
  int64_t known = 1;
  for (int64_t dim : type.getShape())
    if (!ShapedType::isDynamic(dim) && (llvm::MulOverflow(known, dim, known) || known > kMaxBytes))
      known = kMaxBytes + 1;
  bytes = bytes * known;
  for (Value dim : alloc.getDynamicSizes()) {
    AffineExpr bound = sizes.getUpperBound(dim);
    if (!bound)
      return {};
    bytes = bytes * bound;
  }
  return bytes.ceilDiv(kAlignment) * kAlignment;
}

/// The value; kMaxBytes + 1 if it is larger.
static int64_t bytesAt(AffineExpr bytes, ArrayRef<int64_t> sizes) {
  return std::clamp<int64_t>(evaluateSize(bytes, sizes).value_or(kMaxBytes + 1), 0, kMaxBytes + 1);
}

namespace {
struct Buffer {
  memref::AllocOp alloc;
  AffineExpr size;   ///< Bytes.
  int64_t bytes = 0; ///< At the sizes that the arena is planned for.
  int64_t first = 0, last = 0, offset = 0;
};

/// Replaces the allocations of a function.
///
/// 1. Small allocations in loops, and those of functions without an arena, move to the
///    stack. There a dynamic one has its largest size.
/// 2. The others get offsets in the arena. Two buffers share memory if their live ranges,
///    in top-level ops, are disjoint. For example, with %a live in ops 0-2, %b in 1-4 and
///    %c in 3-4, %a and %c are both at offset 0, and %b follows.
/// 3. Where sizes depend on the run, offsets are planned for the largest ones. A buffer that then lies after another
///    one that lives at the same time does so at all sizes: the function computes at its start where each begins.
struct PlanArena : spmd::impl::SpmdTargetPlanArenaBase<PlanArena> {
  using Base::Base;

  /// All values that may alias the allocation, through views and the results and
  /// arguments of regions, with the positions of their uses.
  void liveRange(Buffer &buffer, const DenseMap<Operation *, int64_t> &position, Block *body);

  /// True if the allocation may be live in another iteration of a loop.
  static bool escapesIteration(memref::AllocOp alloc);

  /// A dynamic allocation becomes a static one of the largest size.
  static memref::AllocOp makeStatic(memref::AllocOp alloc, BufferSizes &sizes);

  /// Moves small allocations, and those of a function without an arena, to the stack, and lists the others.
  FailureOr<SmallVector<Buffer>> moveToStack(func::FuncOp func, BufferSizes &sizes);

  /// Assigns offsets, and returns the bytes of all.
  static int64_t assignOffsets(MutableArrayRef<Buffer> buffers);

  /// The buffers in the order of their offsets, each with the numbers of those that it directly follows.
  static SmallVector<std::pair<Buffer *, SmallVector<int64_t>>> orderBuffers(MutableArrayRef<Buffer> buffers);

  /// Replaces an allocation by a view of the arena, which is created `after` an op if the sizes are known.
  static void place(memref::AllocOp alloc, Value arena, Value offset, Operation *after);

  /// Places the buffers at offsets that are computed from the sizes.
  static void placeAtSizes(func::FuncOp func, Value arena, MutableArrayRef<Buffer> buffers, BufferSizes &sizes);

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

memref::AllocOp PlanArena::makeStatic(memref::AllocOp alloc, BufferSizes &sizes) {
  auto type = alloc.getType();
  if (type.hasStaticShape())
    return alloc;
  OpBuilder b(alloc);
  SmallVector<int64_t> shape(type.getShape());
  auto dynamic = alloc.getDynamicSizes().begin();
  SmallVector<OpFoldResult> known;
  for (int64_t &size : shape) {
    known.push_back(ShapedType::isDynamic(size) ? OpFoldResult(*dynamic) : b.getIndexAttr(size));
    if (ShapedType::isDynamic(size))
      size = std::max<int64_t>(*evaluateSize(sizes.getUpperBound(*dynamic++), sizes.getMost()), 0);
  }
  auto buffer = memref::AllocOp::create(b, alloc.getLoc(), MemRefType::get(shape, type.getElementType()));
  // The dense memref of the dynamic sizes at its start.
  SmallVector<OpFoldResult> strides(shape.size());
  OpFoldResult stride = b.getIndexAttr(1);
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    strides[d] = stride;
    AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
    stride = affine::makeComposedFoldedAffineApply(b, alloc.getLoc(), s0 * s1, {stride, known[d]});
  }
  Value view = memref::ReinterpretCastOp::create(b, alloc.getLoc(), type, buffer, b.getIndexAttr(0), known, strides);
  alloc.replaceAllUsesWith(view);
  alloc.erase();
  return buffer;
}

void PlanArena::allocateForCalls(func::FuncOp func, const SymbolTable &symbols) {
  func.walk([&](LLVM::CallOp call) {
    auto layer = call.getCallee() ? symbols.lookup<func::FuncOp>(*call.getCallee()) : func::FuncOp();
    auto bytes = layer ? layer->getAttrOfType<IntegerAttr>(kArenaBytesAttr) : IntegerAttr();
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
      (func->hasAttr(kLayerAttr) ? layers : others).push_back(func);
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

FailureOr<SmallVector<Buffer>> PlanArena::moveToStack(func::FuncOp func, BufferSizes &sizes) {
  Block *body = &func.getBody().front();
  // Functions other than entry points and layers have no arena; the outlining ensures that the stack
  // suffices.
  const bool isEntry = func->hasAttr(kSymbolsAttr) || func->hasAttr(kLayerAttr);
  SmallVector<int64_t> likely(sizes.getMost());
  for (auto [size, least] : llvm::zip_equal(likely, sizes.getLeast()))
    size = size < spmd::kLargestSize ? size : std::max(least, kLikelySize);
  OpBuilder b(&getContext());
  SmallVector<Buffer> buffers;
  int64_t stack = 0;
  WalkResult walked = func.walk([&](memref::AllocOp alloc) -> WalkResult {
    AffineExpr size = bytesOf(alloc, sizes);
    if (!size)
      return alloc.emitError(
          "a temporary has a size that is neither known, bounded (spmd.bounds) nor a function of the "
          "sizes of arguments, expected one of these");
    bool nested = alloc->getBlock() != body;
    if (bytesAt(size, sizes.getLeast()) > kMaxBytes)
      return alloc.emitError() << "a temporary of type " << alloc.getType() << " is too large, expected at most "
                               << kMaxBytes << " bytes";
    if (nested && escapesIteration(alloc))
      return alloc.emitError("a buffer outlives the loop iteration that allocates it");
    const int64_t bytes = bytesAt(size, sizes.getMost());
    bool small = (nested || bytes <= kAlignment) && bytes <= stackBytes;
    if (!isEntry || (small && stack + bytes <= kStackBudget)) {
      stack += bytes;
      alloc = makeStatic(alloc, sizes);
      b.setInsertionPointToStart(body);
      auto alloca = memref::AllocaOp::create(b, alloc.getLoc(), alloc.getType(), b.getI64IntegerAttr(kAlignment));
      alloc.replaceAllUsesWith(alloca.getResult());
      alloc.erase();
      return WalkResult::advance();
    }
    buffers.push_back({alloc, size, bytesAt(size, likely)});
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  return buffers;
}

int64_t PlanArena::assignOffsets(MutableArrayRef<Buffer> buffers) {
  // First fit, largest first.
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
    for (auto [begin, end] : taken) {
      if (buffer->offset + buffer->bytes <= begin)
        break;
      buffer->offset = std::max(buffer->offset, end);
    }
    total = std::max(total, buffer->offset + buffer->bytes);
    assigned.push_back(buffer);
  }
  return total;
}

SmallVector<std::pair<Buffer *, SmallVector<int64_t>>> PlanArena::orderBuffers(MutableArrayRef<Buffer> buffers) {
  SmallVector<std::pair<Buffer *, SmallVector<int64_t>>> order;
  for (Buffer &buffer : buffers)
    order.push_back({&buffer, {}});
  llvm::stable_sort(order, [](const auto &x, const auto &y) { return x.first->offset < y.first->offset; });
  SmallVector<llvm::BitVector> behind; // All buffers that one follows, directly or not.
  for (auto [i, entry] : llvm::enumerate(order)) {
    auto &[buffer, after] = entry;
    llvm::BitVector &follows = behind.emplace_back(i);
    for (int64_t k = int64_t(i) - 1; k >= 0; --k) {
      const Buffer *other = order[k].first;
      if (follows.test(k) || other->last < buffer->first || buffer->last < other->first)
        continue;
      after.push_back(k);
      follows |= behind[k];
      follows.set(k);
    }
  }
  return order;
}

void PlanArena::place(memref::AllocOp alloc, Value arena, Value offset, Operation *after) {
  OpBuilder b(alloc);
  if (alloc.getType().hasStaticShape())
    b.setInsertionPointAfter(after);
  Value view = memref::ViewOp::create(b, alloc.getLoc(), alloc.getType(), arena, offset, alloc.getDynamicSizes());
  alloc.replaceAllUsesWith(view);
  alloc.erase();
}

void PlanArena::placeAtSizes(func::FuncOp func, Value arena, MutableArrayRef<Buffer> buffers, BufferSizes &sizes) {
  Location loc = func.getLoc();
  OpBuilder b(func.getContext());
  b.setInsertionPointToStart(&func.getBody().front());
  SmallVector<Value> values;
  for (unsigned i = 0; i < sizes.getNumSizes(); ++i)
    values.push_back(memref::LoadOp::create(b, loc, func.getArgument(sizes.getArgument(i))));
  DenseMap<AffineExpr, Value> known;
  auto compute = [&](AffineExpr size) {
    Value &value = known[size];
    if (!value)
      value = affine::AffineApplyOp::create(b, loc, AffineMap::get(0, values.size(), size), values);
    return value;
  };
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), total = zero;
  SmallVector<Value> offsets, ends;
  SmallVector<int64_t> leastEnds;
  SmallVector<Attribute> described;
  auto order = orderBuffers(buffers);
  for (auto &[buffer, after] : order) {
    Value offset;
    int64_t begin = 0;
    for (int64_t k : after) {
      offset = offset ? arith::MaxSIOp::create(b, loc, offset, ends[k]) : ends[k];
      begin = std::max(begin, leastEnds[k]);
    }
    offsets.push_back(offset ? offset : zero);
    ends.push_back(arith::AddIOp::create(b, loc, offsets.back(), compute(buffer->size)));
    total = arith::MaxSIOp::create(b, loc, total, ends.back());
    leastEnds.push_back(begin + bytesAt(buffer->size, sizes.getLeast()));
    described.push_back(AffineMapAttr::get(AffineMap::get(0, values.size(), buffer->size)));
    described.push_back(b.getDenseI64ArrayAttr(after));
  }
  Value whole = memref::ReinterpretCastOp::create(b, loc, MemRefType::get({ShapedType::kDynamic}, b.getI8Type()), arena,
                                                  b.getIndexAttr(0), SmallVector<OpFoldResult>{total},
                                                  SmallVector<OpFoldResult>{b.getIndexAttr(1)});
  for (auto [entry, offset] : llvm::zip_equal(order, offsets))
    place(entry.first->alloc, whole, offset, whole.getDefiningOp());
  func->setAttr(kArenaAttr, b.getArrayAttr(described));
  func->setAttr(kArenaBytesAttr, b.getI64IntegerAttr(*llvm::max_element(leastEnds)));
}

LogicalResult PlanArena::plan(func::FuncOp func) {
  Block *body = &func.getBody().front();
  BufferSizes sizes(func);
  DenseMap<Operation *, int64_t> position;
  for (Operation &op : *body)
    position.try_emplace(&op, position.size());
  FailureOr<SmallVector<Buffer>> buffers = moveToStack(func, sizes);
  if (failed(buffers))
    return failure();
  if (!func->hasAttr(kSymbolsAttr) && !func->hasAttr(kLayerAttr))
    return success();
  for (Buffer &buffer : *buffers)
    liveRange(buffer, position, body);
  int64_t total = assignOffsets(*buffers);
  const bool hasSizes =
      llvm::any_of(*buffers, [](const Buffer &buffer) { return !isa<AffineConstantExpr>(buffer.size); });

  OpBuilder b(&getContext());
  Type bytesType = MemRefType::get({hasSizes ? 1 : std::max<int64_t>(total, 1)}, b.getI8Type());
  unsigned arenaArg = func.getNumArguments();
  if (failed(func.insertArgument(arenaArg, bytesType, {}, func.getLoc())))
    return failure();
  func.setArgAttr(arenaArg, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
  Value arena = func.getArgument(arenaArg);
  if (hasSizes) {
    placeAtSizes(func, arena, *buffers, sizes);
    return success();
  }
  func->setAttr(kArenaBytesAttr, b.getI64IntegerAttr(total));
  b.setInsertionPointToStart(body);
  for (Buffer &buffer : *buffers) {
    auto offset = arith::ConstantIndexOp::create(b, buffer.alloc.getLoc(), buffer.offset);
    place(buffer.alloc, arena, offset, offset);
  }
  return success();
}
