//===- Placement.cpp - Moving collectives in their blocks -----------------===//

#include "shardkit/Collectives/Placement.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"

#include "shardkit/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::spmd;

Operation *spmd::getUserIn(Block *block, Operation *user) {
  Operation *here = block->findAncestorOpInBlock(*user);
  return here ? here : block->getTerminator();
}

Operation *spmd::getFirstUser(ValueRange values, Block *block) {
  Operation *first = nullptr;
  for (Value value : values)
    for (Operation *user : value.getUsers()) {
      Operation *here = getUserIn(block, user);
      if (!first || here->isBeforeInBlock(first))
        first = here;
    }
  return first;
}

Operation *spmd::getProducer(Value value, Block *block) {
  Operation *def = value.getDefiningOp();
  return def && def->getBlock() == block ? def : nullptr;
}

void spmd::moveWithinBlock(Operation *op, Operation *before) {
  if (op == before)
    return;
  Block *block = op->getBlock();
  op->remove();
  block->getOperations().insert(before->getIterator(), op);
}

SmallVector<Block *> spmd::getBlocks(func::FuncOp func) {
  SmallVector<Block *> blocks;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<StartOp, linalg::LinalgOp>(op))
      return WalkResult::skip();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        blocks.push_back(&block);
    return WalkResult::advance();
  });
  return blocks;
}

bool spmd::mayStart(CollectiveOpInterface op) {
  auto halo = dyn_cast<HaloExchangeOp>(op.getOperation());
  return op.getKind() != CollectiveKind::AllSlice && !(halo && !halo.getDynamicOffsets().empty()) &&
         cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape();
}

std::optional<int64_t> spmd::getMemoryBudget(func::FuncOp func, int64_t budget, const MeshCache &meshes) {
  if (budget > 0)
    return budget;
  std::optional<int64_t> least;
  auto add = [&](FlatSymbolRefAttr name) {
    const Mesh *mesh = name ? meshes.lookup(name) : nullptr;
    if (mesh && mesh->memory)
      least = std::min(least.value_or(*mesh->memory), *mesh->memory);
  };
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (auto sharding = func.getArgAttrOfType<ShardingAttr>(i, kShardingAttr))
      add(sharding.getMesh());
  func.walk([&](CollectiveOpInterface op) { add(op.getFromMesh()); });
  return least;
}

LogicalResult spmd::verifyLocalView(func::FuncOp func, StringRef pass) {
  int phase = getPhase(func->getParentOp());
  if (phase >= 0 && phase < int(Phase::Partitioned))
    return emitModuleError(func) << pass << " of a module in phase \"" << kPhases[phase]
                                 << "\", expected \"partitioned\"; run --spmd-partition first";
  if (failed(verifyInput(func, Phase::Partitioned, pass)))
    return failure();
  // In a partitioned module private functions may be for loading, which are in global view.
  return phase >= 0 && func.isPrivate() ? success() : verifyLowered(func, Phase::Partitioned, "--" + pass);
}

LogicalResult spmd::verifyLocalView(ModuleOp module, StringRef pass) {
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(verifyLocalView(func, pass)))
      return failure();
  return success();
}

StartOp spmd::startTogether(ArrayRef<CollectiveOpInterface> ops, Operation *start, Operation *done) {
  SmallVector<Type> types;
  SmallVector<Value> results;
  for (CollectiveOpInterface op : ops) {
    results.push_back(op->getResult(0));
    types.push_back(op->getResult(0).getType());
  }
  Location loc = ops.front()->getLoc();
  OpBuilder b(start);
  auto together = StartOp::create(b, loc, types);
  b.setInsertionPoint(done);
  auto taken = DoneOp::create(b, loc, types, together.getResults());
  // Attributes of --spmd-partition for the report (`keep-layouts`).
  for (StringRef name : {kLayoutsAttr, kGlobalTypesAttr, kOriginsAttr}) {
    SmallVector<Attribute> all;
    for (CollectiveOpInterface op : ops)
      if (auto layouts = op->getAttrOfType<ArrayAttr>(name))
        llvm::append_range(all, layouts);
    if (all.size() == ops.size())
      for (Operation *op : {together.getOperation(), taken.getOperation()})
        op->setDiscardableAttr(name, b.getArrayAttr(all));
  }
  for (auto [value, result] : llvm::zip(results, taken.getResults()))
    value.replaceAllUsesWith(result);
  b.createBlock(&together.getBody());
  auto end = ReturnOp::create(b, loc, results);
  for (CollectiveOpInterface op : ops)
    op->moveBefore(end);
  return together;
}
