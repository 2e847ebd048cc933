//===- IndexRebase.cpp - Global loop indices in local loops ---------------===//

#include "shardkit/Partition/IndexRebase.h"
#include "shardkit/Partition/ReshardLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::spmd;

/// The global index of local index `local` on a dim of `size` with `entries`:
/// every local digit goes to its place, every device digit adds its coordinate.
static Value getGlobalIndex(OpBuilder &b, Location loc, Value local,
                            const CutLoop &loop,
                            ArrayRef<Value> coordinates) {
  int64_t globalUnit = loop.size;
  int64_t localUnit = loop.size / deviceFactor(loop.entries);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
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
    if (!entry.isGap()) {
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

void spmd::rebaseIndices(linalg::LinalgOp op, ArrayRef<CutLoop> loops,
                         const Mesh &mesh, FlatSymbolRefAttr meshRef) {
  Region &region = op->getRegion(0);
  for (const CutLoop &loop : loops) {
    SmallVector<linalg::IndexOp> indices;
    region.walk([&](linalg::IndexOp index) {
      if (index.getDim() == loop.loop)
        indices.push_back(index);
    });
    if (indices.empty())
      continue;
    OpBuilder outside(op);
    SmallVector<Value> coordinates;
    for (const DimEntry &entry : loop.entries)
      if (!entry.isGap())
        coordinates.push_back(
            getCoordinate(outside, op.getLoc(), entry, mesh, meshRef));
    for (linalg::IndexOp index : indices) {
      OpBuilder b(op.getContext());
      b.setInsertionPointAfter(index);
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : index.getResult().getUses())
        if (!llvm::is_contained(loop.localUses, &use))
          uses.push_back(&use);
      if (uses.empty())
        continue;
      Value global = getGlobalIndex(b, index.getLoc(), index.getResult(), loop,
                                    coordinates);
      for (OpOperand *use : uses)
        use->set(global);
    }
  }
}
