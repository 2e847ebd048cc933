//===- ShardFunctions.cpp - Partitioning of loading functions -------------===//
//
// A loading function that computes its elements by themselves becomes a function of the
// operands of a shard (ElementwiseLoad). The ordinary phases partition any other, in a
// separate module. Its stored tensors are replicated, and its result has the sharding of
// the argument. It runs while weights are loaded, when devices do not wait for each
// other: where the phases would insert a collective other than all_slice, each device
// computes the full result.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Loading/LoadingFunctions.h"
#include "shardkit/Partition/IndexRebase.h"
#include "shardkit/Partition/ReshardLowering.h"
#include "shardkit/Passes.h"
#include "shardkit/Transforms/InlineCalls.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MD5.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDSHARDFUNCTIONSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// This device's shard of a replicated value along dim `d`; uneven dims are padded with
/// zeros.
static Value sliceDim(OpBuilder &b, Location loc, Value input, unsigned d, const FunctionMeshes::AxesOnMesh &axes) {
  auto type = cast<RankedTensorType>(input.getType());
  int64_t size = type.getDimSize(d);
  ArrayRef<DimEntry> entries = axes.entries;
  SmallVector<Value> coordinates = getCoordinates(b, loc, axes);
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), sizes, steps;
  auto setShape = [&](ArrayRef<int64_t> shape) {
    sizes.clear();
    for (int64_t n : shape)
      sizes.push_back(b.getIndexAttr(n));
    steps.assign(shape.size(), b.getIndexAttr(1));
  };
  SmallVector<int64_t> local(type.getShape());
  if (llvm::none_of(entries, [](const DimEntry &entry) { return entry.isStride(); })) {
    int64_t count = deviceFactor(entries), chunk = llvm::divideCeil(size, count);
    if (chunk * count != size) {
      SmallVector<int64_t> padded(type.getShape());
      padded[d] = chunk * count;
      SmallVector<OpFoldResult> low(type.getRank(), b.getIndexAttr(0)), high = low;
      high[d] = b.getIndexAttr(chunk * count - size);
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
      input = tensor::PadOp::create(b, loc, type.clone(padded), input, low, high, zero);
    }
    local[d] = chunk;
    setShape(local);
    offsets[d] = getChunkStart(b, loc, entries, size, coordinates);
    return tensor::ExtractSliceOp::create(b, loc, type.clone(local), input, offsets, sizes, steps);
  }
  // [6, {2, "x"}] with x = 3: [2, 3, 1], one of the 3, [2].
  SmallVector<int64_t> factors;
  for (const DimEntry &entry : entries)
    factors.push_back(entry.size);
  factors.push_back(size / totalFactor(entries));
  SmallVector<int64_t> expanded;
  SmallVector<ReassociationIndices> groups;
  for (auto [i, n] : llvm::enumerate(type.getShape())) {
    ReassociationIndices &group = groups.emplace_back();
    for (int64_t factor : i == d ? ArrayRef<int64_t>(factors) : ArrayRef<int64_t>(n)) {
      group.push_back(expanded.size());
      expanded.push_back(factor);
    }
  }
  input = tensor::ExpandShapeOp::create(b, loc, type.clone(expanded), input, groups);
  offsets.assign(expanded.size(), b.getIndexAttr(0));
  const Value *coordinate = coordinates.begin();
  for (auto [i, entry] : llvm::enumerate(entries)) {
    if (entry.isStride())
      continue;
    expanded[d + i] = 1;
    offsets[d + i] = *coordinate++;
  }
  setShape(expanded);
  input = tensor::ExtractSliceOp::create(b, loc, type.clone(expanded), input, offsets, sizes, steps);
  local[d] = size / deviceFactor(entries);
  return tensor::CollapseShapeOp::create(b, loc, type.clone(local), input, groups);
}

/// This device's shard of a replicated value.
static FailureOr<Value> sliceValue(OpBuilder &b, Location loc, Value input, ShardingAttr attr,
                                   const MeshCache &meshes) {
  auto emit = [&] { return emitError(loc); };
  FailureOr<ShardingOnMesh> read = meshes.read(attr, emit);
  if (failed(read))
    return failure();
  if (cast<RankedTensorType>(input.getType()).getNumElements() == 0)
    return input;
  for (auto [d, dim] : llvm::enumerate(read->sharding.dims)) {
    DimEntries entries = canonicalize(dim.entries);
    if (deviceFactor(entries) > 1)
      input = sliceDim(b, loc, input, d, {attr.getMesh(), read->mesh, entries});
  }
  return input;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The text of a function with its callees, without its name, locations and attributes
/// for reports.
static std::string getContent(func::FuncOp func) {
  DenseSet<Operation *> seen;
  std::string text;
  llvm::raw_string_ostream os(text);
  SmallVector<func::FuncOp> list{func};
  seen.insert(func);
  for (size_t i = 0; i < list.size(); ++i) {
    OwningOpRef<func::FuncOp> copy = list[i].clone();
    if (i == 0)
      copy->setSymName("f");
    copy->walk([](Operation *op) { op->removeDiscardableAttr(kOriginsAttr); });
    copy->getOperation()->print(
        os, OpPrintingFlags().printGenericOpForm().useLocalScope().elideLargeElementsAttrs(1 << 30));
    list[i].walk([&](func::CallOp call) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (callee && seen.insert(callee).second)
        list.push_back(callee);
    });
  }
  return text;
}

/// Verifies that a loading function has no shardings.
static LogicalResult verifyContent(func::FuncOp load) {
  if (!load.getBody().hasOneBlock())
    return load.emitError() << "loading function @" << load.getName()
                            << " has unstructured control flow, expected one block";
  auto refuse = [&](Operation *op, const Twine &what) {
    op->emitError() << what << " in loading function @" << load.getName()
                    << ", expected none (the sharding of the argument determines its layout)";
    return WalkResult::interrupt();
  };
  WalkResult walk = load.walk([&](Operation *op) {
    if (op->getDialect() && isa<SPMDDialect>(op->getDialect()))
      return refuse(op, "'" + op->getName().getStringRef() + "'");
    for (StringRef name : {StringRef(kShardingsAttr), StringRef(kFactorShardingsAttr)})
      if (op->hasAttr(name))
        return refuse(op, "'" + name + "'");
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  for (unsigned i = 0; i < load.getNumArguments(); ++i)
    if (load.getArgAttr(i, kShardingAttr))
      return failure(refuse(load, "'" + kShardingAttr + "'").wasInterrupted());
  for (unsigned i = 0; i < load.getNumResults(); ++i)
    if (load.getResultAttr(i, kShardingAttr))
      return failure(refuse(load, "'" + kShardingAttr + "'").wasInterrupted());
  return success();
}

namespace {
/// An argument with a loading function.
struct Site {
  func::FuncOp func;
  unsigned argument;
  std::string name;
};
/// A loading function with the layout of its result.
struct ShardedFunction {
  func::FuncOp load;
  ArgumentLayout layout;
  std::optional<ElementwiseLoad> elementwise; ///< In place of the phases, if elements are computed by themselves.
  SmallVector<Site> sites;
};

/// Partitions the loading functions of a module. For example, with an argument
/// `tensor<8x4xf32> {spmd.load = @transpose}` sharded by 2 devices on dim 0:
///
///   func.func private @transpose(%s: tensor<4x16xf32>) -> tensor<16x4xf32>
///   func.func private @transpose_shard_1f2e3d4c(%s: tensor<4x16xf32>) -> tensor<8x4xf32>
class ShardFunctions {
public:
  using RunFn = llvm::function_ref<LogicalResult(OpPassManager &, Operation *)>;
  explicit ShardFunctions(ModuleOp module) : module(module), meshes(std::make_unique<MeshCache>(module)) {}

  LogicalResult run(RunFn runPipeline) { return success(succeeded(collect()) && succeeded(build(runPipeline))); }

private:
  LogicalResult collect();
  LogicalResult build(RunFn runPipeline);

  /// Functions that `load` calls, once each.
  void addHelpers(func::FuncOp load, ModuleOp work, llvm::DenseSet<Operation *> &helpers);

  /// Makes one result of each segment of the result.
  static void splitResult(func::FuncOp func, const ArgumentLayout &layout);

  /// Concatenates the results, the shards of segments.
  static void joinResults(func::FuncOp func, const ArgumentLayout &layout);
  static void setResults(func::FuncOp func, ValueRange results);
  void annotate(func::FuncOp func, const ShardedFunction &sharded);

  /// True if the function has no collective other than all_slice.
  static bool computesAlone(func::FuncOp func);
  LogicalResult lowerSlices(func::FuncOp func);

  /// Makes a function return this device's shards of its results.
  LogicalResult sliceResults(func::FuncOp func, const ShardedFunction &sharded);

  ModuleOp module;
  std::unique_ptr<MeshCache> meshes;
  /// The key is the content of the function and its layout.
  llvm::MapVector<std::string, ShardedFunction, std::map<std::string, unsigned>> shardedFunctions;
};

struct ShardFunctionsPass : public spmd::impl::SPMDShardFunctionsPassBase<ShardFunctionsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyInput(module, Phase::Partitioned, getArgument())))
      return signalPassFailure();
    if (int phase = getPhase(module); phase < int(Phase::Partitioned)) {
      emitError(module.getLoc()) << getArgument() << " of a module in phase \""
                                 << (phase < 0 ? "written" : kPhases[phase])
                                 << "\", expected \"partitioned\"; run --spmd-partition first";
      return signalPassFailure();
    }
    auto run = [&](OpPassManager &pm, Operation *op) { return runPipeline(pm, op); };
    if (failed(ShardFunctions(module).run(run)))
      signalPassFailure();
  }
};
} // namespace

LogicalResult ShardFunctions::collect() {
  llvm::DenseMap<Operation *, std::string> contents;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || func.isPrivate())
      continue;
    for (unsigned i = 0; i < func.getNumArguments(); ++i) {
      auto name = func.getArgAttrOfType<FlatSymbolRefAttr>(i, kLoadAttr);
      if (!name || func.getArgAttr(i, kShardFunctionAttr))
        continue;
      auto load = module.lookupSymbol<func::FuncOp>(name.getAttr());
      if (!load)
        return emitError(func.getArgument(i).getLoc())
               << "loading function " << name << " of argument #" << i << " is not in the module, expected it there";
      auto [it, isNew] = contents.try_emplace(load);
      if (isNew) {
        if (failed(verifyContent(load)))
          return failure();
        it->second = getContent(load);
      }
      FailureOr<ArgumentLayout> layout = getArgumentLayout(func, i, *meshes);
      FailureOr<SmallVector<HostStep>> steps = getHostSteps(load);
      if (failed(layout) || failed(steps))
        return failure();
      std::string argument = "argument #" + std::to_string(i);
      int64_t devices = layout->mesh ? layout->mesh->numDevices() : 1;
      if (!steps->empty()) {
        if (failed(verifyHostSteps(*steps, cast<RankedTensorType>(func.getArgumentTypes()[i]),
                                   layout->segments[0].layout, devices, argument)))
          return failure();
        continue;
      }
      ShardedFunction &sharded = shardedFunctions[it->second + layout->toString()];
      if (sharded.sites.empty()) {
        sharded.load = load;
        sharded.layout = *layout;
        std::optional<Copies> copies = getCopies(load);
        if (!copies || !layout->shard(*copies))
          sharded.elementwise = ElementwiseLoad::get(load, *layout);
      }
      sharded.sites.push_back({func, i, argument});
    }
  }
  return success();
}

LogicalResult ShardFunctions::build(RunFn runPipeline) {
  if (shardedFunctions.empty())
    return success();
  // 1. Copies all loading functions into a separate module, and inlines their callees.
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  auto work = ModuleOp::create(b, module.getLoc());
  llvm::scope_exit erase([&] { work.erase(); });
  setPhase(work, Phase::Annotated); // else it has that of the module around it
  for (const MeshCache::Entry &entry : meshes->entries())
    work.push_back(entry.op->clone());
  llvm::DenseSet<Operation *> helpers;
  SmallVector<func::FuncOp> functions;
  for (auto [i, entry] : llvm::enumerate(shardedFunctions)) {
    ShardedFunction &sharded = entry.second;
    if (sharded.elementwise) {
      functions.push_back({});
      continue;
    }
    func::FuncOp copy = sharded.load.clone();
    copy.setSymName("sharded_" + std::to_string(i));
    copy.setPublic();
    splitResult(copy, sharded.layout);
    work.push_back(copy);
    functions.push_back(copy);
    addHelpers(sharded.load, work, helpers);
  }
  OpPassManager inlining(ModuleOp::getOperationName());
  addInliner(inlining);
  inlining.addPass(createSymbolDCEPass());
  inlining.addPass(createCSEPass());
  if (failed(runPipeline(inlining, work)))
    return failure();
  // 2. Partitions the functions with a sharded result.
  SmallVector<OwningOpRef<func::FuncOp>> unsharded;
  for (auto [func, entry] : llvm::zip(functions, shardedFunctions)) {
    unsharded.push_back(func ? func.clone() : func::FuncOp());
    if (!func)
      continue;
    if (!entry.second.layout.isReplicated() && entry.second.layout.mesh)
      annotate(func, entry.second);
    else
      func.erase();
  }
  OpPassManager phases(ModuleOp::getOperationName());
  phases.addNestedPass<func::FuncOp>(createSPMDDecomposePass());
  phases.addPass(createSPMDPropagatePass());
  phases.addPass(createSPMDInsertReshardsPass());
  phases.addPass(createSPMDPartitionPass());
  if (failed(runPipeline(phases, work)))
    return failure();

  // 3. Copies the mesh views that the phases added, and the functions.
  SymbolTable symbols(module);
  for (auto mesh : llvm::make_early_inc_range(work.getOps<MeshOp>()))
    if (!symbols.lookup(mesh.getSymNameAttr())) {
      mesh->remove();
      symbols.insert(mesh, module.getBody()->begin());
    }
  llvm::DenseMap<Operation *, Operation *> lastOf; // the last function inserted after each loading function
  auto before = std::exchange(meshes, std::make_unique<MeshCache>(module)); // shardedFunctions refer to it
  for (auto [i, entry] : llvm::enumerate(shardedFunctions)) {
    ShardedFunction &sharded = entry.second;
    func::FuncOp func = *unsharded[i];
    if (sharded.elementwise) {
      func = sharded.elementwise->build(b, sharded.load.getLoc(), sharded.load.getName());
      func->remove();
      func->setAttr(kElementwiseAttr, b.getUnitAttr());
    } else if (auto partitioned = work.lookupSymbol<func::FuncOp>("sharded_" + std::to_string(i));
               partitioned && computesAlone(partitioned)) {
      func = partitioned;
      func->remove();
      if (failed(lowerSlices(func)))
        return failure();
    } else {
      unsharded[i].release();
      if (failed(sliceResults(func, sharded)))
        return failure();
    }
    if (!sharded.elementwise)
      joinResults(func, sharded.layout);
    llvm::MD5 md5;
    md5.update(entry.first);
    llvm::MD5::MD5Result hash;
    md5.final(hash);
    func.setSymName((sharded.load.getName() + "_shard_" + hash.digest().str().take_front(8)).str());
    func.setPrivate();
    Operation *&last = lastOf.try_emplace(sharded.load, sharded.load).first->second;
    StringAttr name = symbols.insert(func, std::next(Block::iterator(last)));
    last = func;
    for (Site &site : sharded.sites)
      site.func.setArgAttr(site.argument, kShardFunctionAttr,
                           FlatSymbolRefAttr::get(module.getContext(), name.getValue()));
  }
  return success();
}

void ShardFunctions::addHelpers(func::FuncOp load, ModuleOp work, llvm::DenseSet<Operation *> &helpers) {
  load.walk([&](func::CallOp call) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCalleeAttr().getAttr());
    if (!callee || !helpers.insert(callee).second)
      return;
    func::FuncOp copy = callee.clone();
    copy.setPrivate();
    work.push_back(copy);
    addHelpers(callee, work, helpers);
  });
}

void ShardFunctions::splitResult(func::FuncOp func, const ArgumentLayout &layout) {
  if (layout.dim < 0)
    return;
  Operation *terminator = func.getBody().front().getTerminator();
  OpBuilder b(terminator);
  Value full = terminator->getOperand(0);
  SmallVector<Value> results;
  for (const ArgumentLayout::Segment &segment : layout.segments) {
    SmallVector<OpFoldResult> offsets(segment.slice.getRank(), b.getIndexAttr(0)),
        steps(segment.slice.getRank(), b.getIndexAttr(1));
    offsets[layout.dim] = b.getIndexAttr(segment.offset);
    Value slice =
        tensor::ExtractSliceOp::create(b, terminator->getLoc(), segment.slice, full, offsets,
                                       getAsIndexOpFoldResult(func.getContext(), segment.slice.getShape()), steps);
    if (segment.slice != segment.type)
      slice = tensor::ExpandShapeOp::create(b, terminator->getLoc(), segment.type, slice, segment.unitGroups);
    results.push_back(slice);
  }
  setResults(func, results);
}

void ShardFunctions::joinResults(func::FuncOp func, const ArgumentLayout &layout) {
  if (layout.dim < 0)
    return;
  Operation *terminator = func.getBody().front().getTerminator();
  OpBuilder b(terminator);
  SmallVector<Value> shards(terminator->getOperands());
  setResults(func, shards.size() == 1
                       ? shards.front()
                       : tensor::ConcatOp::create(b, terminator->getLoc(), layout.dim, shards).getResult());
}

void ShardFunctions::setResults(func::FuncOp func, ValueRange results) {
  func.getBody().front().getTerminator()->setOperands(results);
  func.setAllResultAttrs(SmallVector<DictionaryAttr>(results.size(), DictionaryAttr::get(func.getContext())));
  func.setFunctionType(FunctionType::get(func.getContext(), func.getArgumentTypes(), results.getTypes()));
}

void ShardFunctions::annotate(func::FuncOp func, const ShardedFunction &sharded) {
  MLIRContext *context = module.getContext();
  const auto *withSharding = llvm::find_if(sharded.layout.segments, [](auto &segment) { return segment.sharding; });
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
    Sharding sharding;
    sharding.dims.resize(cast<RankedTensorType>(type).getRank());
    func.setArgAttr(i, kShardingAttr,
                    toAttr(context, withSharding->sharding.getMesh(), sharding, *sharded.layout.mesh));
  }
  for (auto [i, segment] : llvm::enumerate(sharded.layout.segments))
    if (segment.sharding)
      func.setResultAttr(i, kShardingAttr, segment.sharding);
}

bool ShardFunctions::computesAlone(func::FuncOp func) {
  return !func.walk([](CollectiveOpInterface op) {
                return isa<AllSliceOp>(op) ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

LogicalResult ShardFunctions::lowerSlices(func::FuncOp func) {
  SmallVector<AllSliceOp> slices;
  func.walk([&](AllSliceOp op) { slices.push_back(op); });
  for (AllSliceOp op : slices) {
    OpBuilder b(op);
    FailureOr<Value> value = sliceValue(b, op.getLoc(), op.getInput(), op.getShardingAttr(), *meshes);
    if (failed(value))
      return failure();
    op.getResult().replaceAllUsesWith(*value);
    op.erase();
  }
  return success();
}

LogicalResult ShardFunctions::sliceResults(func::FuncOp func, const ShardedFunction &sharded) {
  Operation *terminator = func.getBody().front().getTerminator();
  OpBuilder b(terminator);
  SmallVector<Type> globals(func.getResultTypes());
  SmallVector<Value> values;
  for (auto [result, segment] : llvm::zip(terminator->getOperands(), sharded.layout.segments)) {
    FailureOr<Value> value = result;
    if (segment.sharding)
      value = sliceValue(b, terminator->getLoc(), result, segment.sharding, *meshes);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  setResults(func, values);
  for (auto [i, segment] : llvm::enumerate(sharded.layout.segments))
    if (segment.sharding && !sharded.layout.isReplicated()) {
      func.setResultAttr(i, kShardingAttr, segment.sharding);
      func.setResultAttr(i, kGlobalTypeAttr, TypeAttr::get(globals[i]));
    }
  return success();
}
