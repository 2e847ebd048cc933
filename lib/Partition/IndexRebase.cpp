//===- IndexRebase.cpp - Global loop indices in local loops ---------------===//

#include "shardkit/Partition/IndexRebase.h"
#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Partition/ReshardLowering.h"
#include "shardkit/Rules/IndexedBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

Value spmd::getChunkNumber(OpBuilder &b, Location loc, ArrayRef<DimEntry> entries, ArrayRef<Value> coordinates) {
  Value chunk = coordinates.front();
  for (auto [entry, coordinate] : llvm::zip(entries.drop_front(), coordinates.drop_front())) {
    Value radix = arith::ConstantIndexOp::create(b, loc, entry.size);
    chunk = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, chunk, radix), coordinate);
  }
  return chunk;
}

Value spmd::getChunkStart(OpBuilder &b, Location loc, ArrayRef<DimEntry> entries, int64_t size,
                          ArrayRef<Value> coordinates) {
  Value chunk = getChunkNumber(b, loc, entries, coordinates);
  int64_t length = llvm::divideCeil(size, deviceFactor(entries));
  if (length == 1)
    return chunk;
  return arith::MulIOp::create(b, loc, chunk, arith::ConstantIndexOp::create(b, loc, length));
}

/// The global index of local index `local` on a dim of `size` with `entries`: every local digit gets its global unit,
/// every device digit adds its coordinate. An uneven dim has equal chunks; padding lanes have indices beyond it.
static Value getGlobalIndex(OpBuilder &b, Location loc, Value local, const ShardedLoop &loop,
                            ArrayRef<Value> coordinates) {
  if (!divides(loop.entries, loop.size))
    return arith::AddIOp::create(b, loc, local, getChunkStart(b, loc, loop.entries, loop.size, coordinates));
  int64_t globalUnit = loop.size;
  int64_t localUnit = loop.size / deviceFactor(loop.entries);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  Value sum;
  auto add = [&](Value digit, int64_t unit) {
    if (unit != 1)
      digit = arith::MulIOp::create(b, loc, digit, constant(unit));
    sum = sum ? Value(arith::AddIOp::create(b, loc, sum, digit)) : digit;
  };
  const Value *coordinate = coordinates.begin();
  bool major = true; // no local digit taken yet: no modulo needed
  for (const DimEntry &entry : loop.entries) {
    globalUnit /= entry.size;
    if (!entry.isStride()) {
      add(*coordinate++, globalUnit);
      continue;
    }
    localUnit /= entry.size;
    Value digit = arith::DivUIOp::create(b, loc, local, constant(localUnit));
    if (!major)
      digit = arith::RemUIOp::create(b, loc, digit, constant(entry.size));
    major = false;
    add(digit, globalUnit);
  }
  add(major ? local : Value(arith::RemUIOp::create(b, loc, local, constant(localUnit))), 1);
  return sum;
}

OwnedIndex spmd::getOwnedIndex(OpBuilder &b, Location loc, Value global, ArrayRef<DimEntry> entries, int64_t size,
                               ArrayRef<Value> coordinates) {
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  auto isBelow = [&](Value value, int64_t bound) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, value, constant(bound));
  };
  if (llvm::none_of(entries, [](const DimEntry &entry) { return entry.isStride(); })) {
    Value start = getChunkStart(b, loc, entries, size, coordinates);
    Value local = arith::SubIOp::create(b, loc, global, start);
    return {local, isBelow(local, llvm::divideCeil(size, deviceFactor(entries)))};
  }
  // Every local digit gets its local unit, every device digit must equal the coordinate of the device.
  int64_t globalUnit = size, localUnit = size / deviceFactor(entries);
  OwnedIndex result{Value(), isBelow(global, size)};
  auto add = [&](Value digit, int64_t unit) {
    if (unit != 1)
      digit = arith::MulIOp::create(b, loc, digit, constant(unit));
    result.index = result.index ? Value(arith::AddIOp::create(b, loc, result.index, digit)) : digit;
  };
  for (const DimEntry &entry : entries) {
    globalUnit /= entry.size;
    Value digit = arith::DivUIOp::create(b, loc, global, constant(globalUnit));
    digit = arith::RemUIOp::create(b, loc, digit, constant(entry.size));
    if (entry.isStride()) {
      localUnit /= entry.size;
      add(digit, localUnit);
      continue;
    }
    Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, digit, coordinates.front());
    coordinates = coordinates.drop_front();
    result.owned = arith::AndIOp::create(b, loc, result.owned, here);
  }
  add(arith::RemUIOp::create(b, loc, global, constant(globalUnit)), 1);
  return result;
}

SmallVector<ShardedLoop> spmd::getShardedLoops(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding) {
  // The factors of the op's own rule are its loops, unlike those of an attribute.
  ShardingRule rule = getBuiltinShardingRule(op);
  SmallVector<ShardedLoop> loops;
  for (unsigned f = 0; f < rule.numFactors(); ++f) {
    if (rule.factor(f).kind == FactorKind::Indexed)
      continue; // no loop
    ShardedLoop loop{f, rule.factor(f).size, findFactorAxes(rule, f, getSharding), {}};
    if (loop.entries.empty())
      continue;
    for (const ShardingRule::Tensor &tensor : rule.operands().drop_front(op->getNumOperands()))
      for (unsigned d = 0; d < tensor.numDims; ++d)
        if (!rule.getWindow(tensor, d) && llvm::is_contained(rule.dimFactors(tensor, d), int32_t(f)))
          getIndexedBody(op)->walk([&](tensor::ExtractOp extract) {
            if (extract.getTensor() == tensor.value)
              loop.localUses.push_back(&extract.getIndicesMutable()[d]);
          });
    loops.push_back(std::move(loop));
  }
  return loops;
}

void spmd::rebaseIndices(Operation *op, ArrayRef<ShardedLoop> loops, FunctionMeshes &meshes) {
  rebaseIndices(op, loops, [&](ShardedLoop &loop) {
    FunctionMeshes::AxesOnMesh axes = meshes.getAxesOnMesh(loop.entries);
    loop.entries = axes.entries;
    OpBuilder outside(op);
    return getCoordinates(outside, op->getLoc(), axes);
  });
}

void spmd::rebaseIndices(Operation *op, ArrayRef<ShardedLoop> loops,
                         llvm::function_ref<SmallVector<Value>(ShardedLoop &loop)> getCoordinates) {
  Region &region = *getIndexedBody(op);
  for (ShardedLoop loop : loops) {
    // The values of the index: ops or an argument of the body.
    SmallVector<Value> indices;
    if (isa<linalg::LinalgOp>(op)) {
      region.walk([&](linalg::IndexOp index) {
        if (getLoopOfIndex(op, index) == loop.loop)
          indices.push_back(index);
      });
    } else if (!region.getArgument(loop.loop).use_empty()) {
      indices.push_back(region.getArgument(loop.loop));
    }
    SmallVector<Value> coordinates;
    for (Value index : indices) {
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : index.getUses())
        if (!llvm::is_contained(loop.localUses, &use))
          uses.push_back(&use);
      if (uses.empty())
        continue;
      if (coordinates.empty())
        coordinates = getCoordinates(loop);
      bool isBehind = isa<BlockArgument>(index) && region.isAncestor(coordinates.back().getParentRegion());
      OpBuilder b(op->getContext());
      b.setInsertionPointAfterValue(isBehind ? coordinates.back() : index);
      Value global = getGlobalIndex(b, index.getLoc(), index, loop, coordinates);
      for (OpOperand *use : uses)
        use->set(global);
    }
  }
}
