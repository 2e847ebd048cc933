//===- LoadingFunctions.cpp - What shard functions load -------------------===//

#include "LoadingFunctions.h"

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Proof/Boundary.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// The layout of an argument, as that of the only result of a function.
static DictionaryAttr getResultAttrs(func::FuncOp local, unsigned argument) {
  NamedAttrList attrs;
  for (StringRef name : {StringRef(kGlobalTypeAttr), StringRef(kShardingAttr)})
    if (Attribute attr = local.getArgAttr(argument, name))
      attrs.set(name, attr);
  if (auto segment = local.getArgAttrOfType<SegmentAttr>(argument, kSegmentAttr))
    attrs.set(kSegmentAttr, SegmentAttr::get(local.getContext(), segment.getStored(), segment.getDim(),
                                             segment.getOffset(), segment.getUnit(), /*argument=*/0));
  return attrs.getDictionary(local.getContext());
}

static func::FuncOp lookUp(func::FuncOp from, FlatSymbolRefAttr name) {
  auto func = from->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(name.getAttr());
  return func && !func.isExternal() ? func : func::FuncOp();
}

/// The number of the unsharded argument that an argument is, or is a segment of.
static unsigned getGlobalNumber(func::FuncOp local, unsigned argument) {
  int64_t last = -1;
  for (unsigned i = 0; i <= argument; ++i) {
    auto segment = local.getArgAttrOfType<SegmentAttr>(i, kSegmentAttr);
    last = segment ? segment.getArgument() : last + 1;
  }
  return last;
}

FailureOr<LoadingFunctions> proof::copyLoadingFunctions(func::FuncOp global, func::FuncOp local, unsigned argument) {
  unsigned number = getGlobalNumber(local, argument);
  auto name = local.getArgAttrOfType<FlatSymbolRefAttr>(argument, kShardFunctionAttr);
  auto loadName = number < global.getNumArguments() ? global.getArgAttrOfType<FlatSymbolRefAttr>(number, kLoadAttr)
                                                    : FlatSymbolRefAttr();
  func::FuncOp shard = lookUp(local, name), load = loadName ? lookUp(global, loadName) : func::FuncOp();
  auto error = [&] { return local.emitError() << "argument #" << argument << " is made by " << name; };
  if (!shard || shard.getNumResults() != 1)
    return error() << ", which is not a function of one result";
  if (!load || load.getNumResults() != 1 ||
      global.getArgAttr(number, kWeightAttr) != local.getArgAttr(argument, kWeightAttr))
    return error() << ", but the unsharded function has no loading function for it, or loads other tensors";
  OpBuilder atLoad(load), atShard(shard);
  LoadingFunctions copies{cast<func::FuncOp>(atLoad.clone(*load)), cast<func::FuncOp>(atShard.clone(*shard))};
  copies.shard.setResultAttrs(0, getResultAttrs(local, argument));
  return copies;
}

void LoadingProver::addUndecided(func::FuncOp shard, Proof &proof) {
  proof.opName = shard->getName().getStringRef().str();
  proof.loc = shard.getLoc();
  proof.kind = "operands of the loader";
  proof.reason = "the loader gives it shards of the stored tensors, which only the bundle describes";
}

LogicalResult LoadingProver::prove(func::FuncOp global, func::FuncOp local) {
  for (unsigned i = 0; i < local.getNumArguments(); ++i)
    if (local.getArgAttr(i, kShardFunctionAttr) && failed(proveArgument(global, local, i)))
      return failure();
  return success();
}

LogicalResult LoadingProver::proveArgument(func::FuncOp global, func::FuncOp local, unsigned argument) {
  FailureOr<LoadingFunctions> copies = copyLoadingFunctions(global, local, argument);
  if (failed(copies))
    return failure();
  llvm::scope_exit erase([&] {
    copies->load.erase();
    copies->shard.erase();
  });
  StringRef name = copies->shard.getName();
  if (!proven.insert({local.getArgAttr(argument, kShardFunctionAttr), copies->shard.getResultAttrDict(0)}).second)
    return success();
  FailureOr<Proof> proof = Proof();
  if (copies->shard->hasAttr(kElementwiseAttr))
    addUndecided(copies->shard, *proof);
  else
    proof = proof::prove(copies->load, copies->shard, withClaims);
  if (failed(proof))
    return failure();
  // The op is one of a copy.
  proof->op = nullptr;
  certificate.functions.push_back({name.str(), *proof, Certificate::Loads{local.getName().str(), argument}});
  return success();
}
