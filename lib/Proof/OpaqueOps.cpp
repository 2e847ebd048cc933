//===- OpaqueOps.cpp - Ops that are not taken apart -----------------------===//

#include "LocalOps.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

void proof::visitOpaque(Operation &op, LocalValues &values) {
  GlobalProgram &global = values.global;
  for (Value operand : op.getOperands())
    if (isa<RankedTensorType>(operand.getType()) && values.passGap(op, operand))
      return;
  bool areFull = true;
  std::optional<SmallVector<int64_t>> key = global.getOpaqueKey(&op, [&](Value value) -> std::optional<int64_t> {
    if (!isa<ShapedType>(value.getType()))
      return int64_t(values.reader.get(value));
    for (const Fact &fact : values.getFacts(value))
      if (fact.partial.empty() && (global[fact.value].splat || global[fact.value].isUndefined || fact.isFull()))
        return int64_t(fact.value);
    areFull = false;
    return std::nullopt;
  });
  if (key)
    for (auto [r, result] : llvm::enumerate(op.getResults())) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      key->push_back(r);
      ArrayRef<ClassId> candidates = global.find(*key);
      key->pop_back();
      if (candidates.empty())
        continue;
      values.addFact(result, getFullFact(candidates.front(), cast<RankedTensorType>(result.getType()).getShape()));
      values.count("same op on full values");
    }
  StringRef name = op.getName().getStringRef();
  if (!areFull)
    values.setGap(&op, Outcome::Undecided, name + " on shards is not modelled", name);
  else
    values.setGap(&op, Outcome::Undecided, "no " + name + " of the unsharded program has these operands", name);
}
