//===- Parallel.cpp - Loop nests on the threads of a rank ----------------===//
//
// A nest with independent outer iterations becomes a function of a range of iterations,
// which is called for all of them. On LLVM dialect, that call becomes one of the runtime,
// which calls the function for subranges on several threads. For example:
//
//   for i in 0..64 { for j in 0..8 { c[i, j] = a[i, j] + b[j] } }
//   ->  func @nest(begin, end, a, b, c) { for i in begin..end { ... } }
//       call @nest(0, 64, a, b, c)
//
//===----------------------------------------------------------------------===//

#include "NestFunctions.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCPUPARALLEL
#define GEN_PASS_DEF_SPMDCPUPARALLELCALLS
#include "shardkit/Target/CPU/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// The attribute of a function whose first two arguments are a range of iterations.
static constexpr llvm::StringLiteral kChunksAttr = "spmd_rt.chunks";

/// A number of iterations that suffices to balance threads.
static constexpr int64_t kEnough = 64;

/// Limit of the temporaries of an iteration on the stack of a thread.
static constexpr int64_t kStackBytes = 64 << 10;

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// The scalar operations of an op; math functions count as several.
static int64_t operationsOf(Block &block) {
  int64_t count = 0;
  for (Operation &op : block.without_terminator())
    count += isa_and_nonnull<math::MathDialect>(op.getDialect()) ? 8 : 1;
  return std::max<int64_t>(count, 1);
}

static int64_t workOf(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    int64_t work = operationsOf(*linalgOp.getBlock());
    for (int64_t range : linalgOp.getStaticLoopRanges())
      if (ShapedType::isDynamic(range) || llvm::MulOverflow(work, range, work))
        return 0;
    return work;
  }
  int64_t work = isa_and_nonnull<math::MathDialect>(op->getDialect()) ? 8 : 1;
  if (op->getNumRegions() == 0)
    return isa<ViewLikeOpInterface>(op) || op->hasTrait<OpTrait::ConstantLike>() ? 0 : work;
  work = 0;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        work += workOf(&inner);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    if (std::optional<APInt> trips = loop.getStaticTripCount())
      work *= trips->getSExtValue();
  return work;
}

//===----------------------------------------------------------------------===//
// Independence
//===----------------------------------------------------------------------===//

/// Whether equal indices in two memrefs of one alias class are one element.
static bool isSameElement(Value a, Value b) {
  return a == b || (a.getType() == b.getType() && isa<BlockArgument>(a) && isa<BlockArgument>(b));
}

namespace {
/// The elements of a buffer that an iteration of a nest accesses.
struct BufferAccess {
  Value base; ///< The buffer outside the nest.
  bool writes;
  /// For each loop the dim of `base` that is indexed by the loop; -1 if there is none.
  SmallVector<int64_t> dims;
};

/// The outer loops of a nest, outermost first.
template <typename Loop> class OuterLoops {
public:
  int64_t count() const {
    int64_t product = 1;
    for (int64_t trip : trips)
      product *= trip;
    return product;
  }
  ArrayRef<int64_t> sizes() const { return trips; }
  void dropInnermost() {
    loops.pop_back();
    trips.pop_back();
  }

protected:
  SmallVector<Loop> loops;
  SmallVector<int64_t> trips;
};

/// A perfect nest of loops: each loop is the full body of the next outer one, except for ops
/// that move into it.
class Band : public OuterLoops<scf::ForOp> {
public:
  static std::optional<Band> of(scf::ForOp outer);

  /// Drops inner loops until iterations are independent; false if they never are.
  bool makeIndependent();

  Operation *op() const { return loops.front(); }

  /// The work of one iteration.
  void emit(OpBuilder &b, ValueRange indices, IRMapping &mapping);

private:
  /// The access to a buffer outside the nest by `memref` at `indices`.
  BufferAccess accessOf(Value memref, bool writes, ValueRange indices);

  /// All accesses of an iteration to buffers outside the nest; false if they are unknown.
  bool collect(SmallVectorImpl<BufferAccess> &accesses);
  bool isIndependent();
};

/// A linalg op as loops over the outer dims of its result. If these have few iterations,
/// the innermost dim is another loop, over runs of elements.
class Nest : public OuterLoops<unsigned> {
public:
  static std::optional<Nest> of(linalg::LinalgOp op) {
    if (!op.hasPureBufferSemantics() || op.hasDynamicShape() || op.getNumDpsInits() == 0 ||
        !isa<TilingInterface>(op.getOperation()))
      return std::nullopt;
    Nest nest{op};
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    if (!llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(true); }))
      return std::nullopt;
    for (AffineExpr expr : maps[op.getNumDpsInputs()].getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        nest.loops.push_back(dim.getPosition());
    llvm::erase_if(nest.loops, [&](unsigned loop) {
      return ranges[loop] == 1 || llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
               return !op.getMatchingIndexingMap(&init).isFunctionOfDim(loop);
             });
    });
    for (unsigned loop : nest.loops)
      nest.trips.push_back(ranges[loop]);
    if (!nest.loops.empty() && ranges.back() > 1 &&
        op.getIteratorTypesArray().back() == utils::IteratorType::parallel) {
      const bool isInnermost = nest.loops.back() + 1 == op.getNumLoops();
      const int64_t outer = nest.count() / nest.trips.back();
      if (isInnermost && outer < kEnough && nest.trips.back() >= 2 * kRun) {
        nest.isInRuns = true;
        nest.trips.back() = llvm::divideCeil(nest.trips.back(), kRun);
      } else {
        nest.dropInnermost();
      }
    }
    if (nest.loops.empty() || !nest.isIndependent())
      return std::nullopt;
    return nest;
  }

  Operation *op() const { return linalgOp; }

  void emit(OpBuilder &b, ValueRange indices, IRMapping &mapping) {
    auto full = cast<TilingInterface>(b.clone(*linalgOp.getOperation(), mapping));
    SmallVector<int64_t> ranges = linalgOp.getStaticLoopRanges();
    SmallVector<OpFoldResult> offsets(linalgOp.getNumLoops(), b.getIndexAttr(0));
    SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(b.getContext(), ranges);
    for (auto [loop, index] : llvm::zip_equal(loops, indices)) {
      offsets[loop] = index;
      sizes[loop] = b.getIndexAttr(1);
    }
    if (isInRuns) {
      Location loc = linalgOp.getLoc();
      auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
      const int64_t range = ranges[loops.back()];
      Value run = constant(kRun), offset = arith::MulIOp::create(b, loc, indices.back(), run);
      offsets[loops.back()] = offset;
      if (range % kRun == 0) {
        sizes[loops.back()] = b.getIndexAttr(kRun);
      } else {
        Value rest = arith::SubIOp::create(b, loc, constant(range), offset);
        sizes[loops.back()] = arith::MinUIOp::create(b, loc, run, rest).getResult();
      }
    }
    (void)full.getTiledImplementation(b, offsets, sizes);
    full.erase();
  }

private:
  /// Consecutive elements that form a run.
  static constexpr int64_t kRun = 1024;

  explicit Nest(linalg::LinalgOp op) : linalgOp(op) {}

  /// Operands that may alias an init are accessed at the same elements as it.
  bool isIndependent() {
    auto mayBe = [](Value a, Value b) {
      return !cpu::isBuffer(cpu::rootOf(a)) || !cpu::isBuffer(cpu::rootOf(b)) ||
             cpu::sharedMemoryOf(a) == cpu::sharedMemoryOf(b);
    };
    for (OpOperand &init : linalgOp.getDpsInitsMutable()) {
      for (OpOperand &other : linalgOp->getOpOperands())
        if (&other != &init && isa<BaseMemRefType>(other.get().getType()) && mayBe(init.get(), other.get()) &&
            (linalgOp.getMatchingIndexingMap(&init) != linalgOp.getMatchingIndexingMap(&other) ||
             !isSameElement(init.get(), other.get())))
          return false;
      auto reads = linalgOp->walk([&](Operation *op) {
        if (op == linalgOp.getOperation() || isMemoryEffectFree(op))
          return WalkResult::advance();
        auto load = dyn_cast<memref::LoadOp>(op);
        return load && !mayBe(load.getMemRef(), init.get()) ? WalkResult::advance() : WalkResult::interrupt();
      });
      if (reads.wasInterrupted())
        return false;
    }
    return true;
  }

  linalg::LinalgOp linalgOp;
  bool isInRuns = false; ///< Whether an iteration of the last loop is a run of elements.
};

//===----------------------------------------------------------------------===//
// The passes
//===----------------------------------------------------------------------===//

struct Parallel : spmd::impl::SpmdCpuParallelBase<Parallel> {
  using Base::Base;

  template <typename Loops> bool makeRuns(cpu::NestFunctions &functions, Loops &loops) {
    Operation *op = loops.op();
    const int64_t work = workOf(op);
    // Small iterations are grouped if enough groups remain.
    constexpr int64_t small = 1024;
    while (loops.sizes().size() > 1 && loops.count() / loops.sizes().back() >= kEnough && work / loops.count() < small)
      loops.dropInnermost();
    const int64_t count = loops.count();
    if (count < 2 || work < minWork)
      return false;
    OpBuilder b(op);
    Location loc = op->getLoc();
    Type index = b.getIndexType();
    NamedAttribute attribute(kChunksAttr, b.getI64IntegerAttr(count));
    auto [function, params] =
        functions.get(op, {index, index}, {attribute}, [&](OpBuilder &b, ValueRange range, IRMapping &mapping) {
          auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
          auto loop = scf::ForOp::create(b, loc, range[0], range[1], constant(1));
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(loop.getBody());
          // Major to minor.
          SmallVector<Value> indices(loops.sizes().size());
          Value rest = loop.getInductionVar();
          for (size_t k = indices.size(); k-- > 1;) {
            Value size = constant(loops.sizes()[k]);
            indices[k] = arith::RemUIOp::create(b, loc, rest, size);
            rest = arith::DivUIOp::create(b, loc, rest, size);
          }
          indices[0] = rest;
          loops.emit(b, indices, mapping);
        });
    if (!function)
      return false;
    Value begin = arith::ConstantIndexOp::create(b, loc, 0);
    Value end = arith::ConstantIndexOp::create(b, loc, count);
    SmallVector<Value> operands{begin, end};
    operands.append(params);
    func::CallOp::create(b, loc, function, operands);
    op->erase();
    return true;
  }

  void runOnBlock(cpu::NestFunctions &functions, Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
        if (std::optional<Nest> nest = Nest::of(linalgOp))
          makeRuns(functions, *nest);
        continue;
      }
      if (auto loop = dyn_cast<scf::ForOp>(op))
        if (std::optional<Band> band = Band::of(loop))
          if (band->makeIndependent() && makeRuns(functions, *band))
            continue;
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          runOnBlock(functions, inner);
    }
  }

  void runOnOperation() override {
    cpu::NestFunctions functions(getOperation(), "parallel_");
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      for (Block &block : func.getBody())
        runOnBlock(functions, block);
  }
};

struct ParallelCalls : spmd::impl::SpmdCpuParallelCallsBase<ParallelCalls> {
  /// `(ctx, parameters) -> ()`, which passes the function to the runtime.
  LLVM::LLVMFuncOp makeCaller(OpBuilder &b, LLVM::LLVMFuncOp function, int64_t count, LLVM::LLVMFuncOp runtime) {
    Location loc = function.getLoc();
    Type ptr = LLVM::LLVMPointerType::get(&getContext()), i64 = b.getI64Type();
    Type none = LLVM::LLVMVoidType::get(&getContext());
    auto params = function.getFunctionType().getParams().drop_front(2);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(function);
    auto define = [&](StringRef suffix, TypeRange types) {
      SmallVector<Type> list(types.begin(), types.end());
      auto made = LLVM::LLVMFuncOp::create(b, loc, (function.getSymName() + suffix).str(),
                                           LLVM::LLVMFunctionType::get(none, list), LLVM::Linkage::Internal);
      b.setInsertionPointToStart(made.addEntryBlock(b));
      return made;
    };
    auto slot = [&](Value table, size_t i) -> Value {
      return LLVM::GEPOp::create(b, loc, ptr, i64, table, ArrayRef<LLVM::GEPArg>{int32_t(i)});
    };
    auto body = define("_range", {i64, i64, ptr});
    SmallVector<Value> operands{body.getArgument(0), body.getArgument(1)};
    for (auto [i, type] : llvm::enumerate(params))
      operands.push_back(LLVM::LoadOp::create(b, loc, type, slot(body.getArgument(2), i)));
    LLVM::CallOp::create(b, loc, function, operands);
    LLVM::ReturnOp::create(b, loc, ValueRange());

    b.setInsertionPointAfter(body);
    SmallVector<Type> types{ptr};
    types.append(params.begin(), params.end());
    auto caller = define("_all", types);
    Value size = LLVM::ConstantOp::create(b, loc, i64, int64_t(std::max<size_t>(params.size(), 1)));
    Value table = LLVM::AllocaOp::create(b, loc, ptr, i64, size, 8);
    for (size_t i = 0; i < params.size(); ++i)
      LLVM::StoreOp::create(b, loc, caller.getArgument(1 + i), slot(table, i));
    Value address = LLVM::AddressOfOp::create(b, loc, body);
    Value trips = LLVM::ConstantOp::create(b, loc, i64, count);
    LLVM::CallOp::create(b, loc, runtime, ValueRange{caller.getArgument(0), trips, address, table});
    LLVM::ReturnOp::create(b, loc, ValueRange());
    return caller;
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    OpBuilder b(context);
    llvm::MapVector<LLVM::LLVMFuncOp, SmallVector<LLVM::CallOp>> calls;
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(kChunksAttr))
        calls[function];
    if (calls.empty())
      return;
    SymbolTable symbols(module);
    module.walk([&](LLVM::CallOp call) {
      auto function = call.getCallee() ? symbols.lookup<LLVM::LLVMFuncOp>(*call.getCallee()) : LLVM::LLVMFuncOp();
      if (function && calls.contains(function))
        calls[function].push_back(call);
    });
    b.setInsertionPointToStart(module.getBody());
    Type ptr = LLVM::LLVMPointerType::get(context);
    auto runtime = LLVM::LLVMFuncOp::create(
        b, module.getLoc(), "sk_parallel",
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {ptr, b.getI64Type(), ptr, ptr}));
    for (auto &[function, callers] : calls) {
      auto count = cast<IntegerAttr>(function->removeAttr(kChunksAttr)).getInt();
      LLVM::LLVMFuncOp caller = makeCaller(b, function, count, runtime);
      for (LLVM::CallOp call : callers) {
        b.setInsertionPoint(call);
        SmallVector<Value> operands{call->getParentOfType<LLVM::LLVMFuncOp>().getArgument(0)};
        llvm::append_range(operands, call.getArgOperands().drop_front(2));
        LLVM::CallOp::create(b, call.getLoc(), caller, operands);
        call.erase();
      }
    }
  }
};
} // namespace

std::optional<Band> Band::of(scf::ForOp outer) {
  Band band;
  for (scf::ForOp loop = outer; loop;) {
    std::optional<APInt> trips = loop.getStaticTripCount();
    if (loop.getNumResults() || !trips || !isConstantIntValue(loop.getLowerBound(), 0) ||
        !isConstantIntValue(loop.getStep(), 1))
      break;
    band.loops.push_back(loop);
    band.trips.push_back(trips->getSExtValue());
    // Ops between two loops move into the inner loop if they only depend on values.
    Block *body = loop.getBody();
    auto inner = body->getOperations().size() < 2 ? scf::ForOp() : dyn_cast<scf::ForOp>(&*std::prev(body->end(), 2));
    for (Operation &op : body->without_terminator())
      if (&op != inner.getOperation() && !isPure(&op))
        inner = nullptr;
    loop = inner;
  }
  if (band.loops.empty())
    return std::nullopt;
  return band;
}

bool Band::makeIndependent() {
  for (; !loops.empty(); dropInnermost())
    if (isIndependent())
      return true;
  return false;
}

void Band::emit(OpBuilder &b, ValueRange indices, IRMapping &mapping) {
  for (auto [loop, index] : llvm::zip_equal(loops, indices)) {
    mapping.map(loop.getInductionVar(), index);
    for (Operation &op : loop.getBody()->without_terminator())
      if (loop == loops.back() || !isa<scf::ForOp>(op))
        b.clone(op, mapping);
  }
}

BufferAccess Band::accessOf(Value memref, bool writes, ValueRange indices) {
  BufferAccess access{memref, writes, SmallVector<int64_t>(loops.size(), -1)};
  auto loopOf = [&](OpFoldResult index) -> int64_t {
    auto value = dyn_cast<Value>(index);
    for (auto [k, loop] : llvm::enumerate(loops))
      if (value && value == loop.getInductionVar())
        return int64_t(k);
    return -1;
  };
  for (auto [dim, index] : llvm::enumerate(indices))
    if (int64_t loop = loopOf(index); loop >= 0)
      access.dims[loop] = int64_t(dim);
  while (Operation *def = access.base.getDefiningOp()) {
    if (!loops.front()->isProperAncestor(def))
      break;
    if (auto cast = dyn_cast<memref::CastOp>(def)) {
      access.base = cast.getSource();
      continue;
    }
    auto subview = dyn_cast<memref::SubViewOp>(def);
    if (!subview) {
      auto view = dyn_cast<ViewLikeOpInterface>(def);
      if (!view)
        break; // An allocation.
      llvm::fill(access.dims, -1);
      access.base = view.getViewSource();
      continue;
    }
    // The dims of the view in its source, and those of the view.
    llvm::SmallBitVector dropped = subview.getDroppedDims();
    SmallVector<int64_t> kept;
    for (int64_t dim = 0; dim < int64_t(dropped.size()); ++dim)
      if (!dropped.test(dim))
        kept.push_back(dim);
    for (int64_t &dim : access.dims)
      if (dim >= 0) {
        dim = kept[dim];
        if (!getConstantIntValue(subview.getMixedOffsets()[dim]) ||
            !isConstantIntValue(subview.getMixedStrides()[dim], 1))
          dim = -1;
      }
    for (auto [dim, offset] : llvm::enumerate(subview.getMixedOffsets()))
      if (int64_t loop = loopOf(offset); loop >= 0 && isConstantIntValue(subview.getMixedSizes()[dim], 1))
        access.dims[loop] = int64_t(dim);
    access.base = subview.getSource();
  }
  return access;
}

bool Band::collect(SmallVectorImpl<BufferAccess> &accesses) {
  int64_t stack = 0;
  auto touch = [&](Value memref, bool writes, ValueRange indices = {}) {
    accesses.push_back(accessOf(memref, writes, indices));
  };
  auto known = loops.front()->walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      touch(load.getMemRef(), false, load.getIndices());
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      touch(store.getMemRef(), true, store.getIndices());
    } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      touch(copy.getSource(), false);
      touch(copy.getTarget(), true);
    } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        if (isa<BaseMemRefType>(operand.get().getType()))
          touch(operand.get(), linalgOp.isDpsInit(&operand));
    } else if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      MemRefType type = alloc.getType();
      if (!type.hasStaticShape() || !type.getElementType().isIntOrIndexOrFloat())
        return WalkResult::interrupt();
      const unsigned bits = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
      stack += llvm::alignTo(type.getNumElements() * llvm::divideCeil(bits, 8), 64);
    } else if (!isMemoryEffectFree(op) && !isa<scf::ForOp, scf::IfOp>(op)) {
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  llvm::erase_if(accesses, [&](const BufferAccess &access) {
    Operation *def = access.base.getDefiningOp();
    return def && loops.front()->isProperAncestor(def);
  });
  return !known.wasInterrupted() && stack <= kStackBytes &&
         llvm::all_of(accesses, [](const BufferAccess &access) { return cpu::isBuffer(cpu::rootOf(access.base)); });
}

bool Band::isIndependent() {
  SmallVector<BufferAccess> accesses;
  if (!collect(accesses))
    return false;
  // All accesses of an iteration to written buffers are at its indices, in the same
  // dims.
  llvm::MapVector<Value, SmallVector<BufferAccess *>> buffers;
  for (BufferAccess &access : accesses)
    buffers[cpu::sharedMemoryOf(access.base)].push_back(&access);
  for (auto &[buffer, all] : buffers) {
    if (llvm::none_of(all, [](BufferAccess *access) { return access->writes; }))
      continue;
    const BufferAccess &first = *all.front();
    SmallVector<int64_t> dims = first.dims;
    llvm::sort(dims);
    if (llvm::is_contained(dims, -1) || std::adjacent_find(dims.begin(), dims.end()) != dims.end())
      return false;
    for (BufferAccess *access : all)
      if (access->dims != first.dims || !isSameElement(access->base, first.base))
        return false;
  }
  return true;
}
