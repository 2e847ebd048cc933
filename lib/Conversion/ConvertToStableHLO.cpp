//===- ConvertToStableHLO.cpp - Local programs in StableHLO ---------------===//

#include "LocalToStableHLO.h"
#include "StableHLOEmitter.h"
#include "StableHLOOps.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_CONVERTSPMDTOSTABLEHLOPASS
#define GEN_PASS_DEF_CONVERTSPMDTOSTABLEHLOCALLSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

static LogicalResult convertToStableHLO(ModuleOp module, StringRef pass, WithoutOp withoutOp) {
  if (failed(verifyConvertible(module, pass)) || failed(verifyTakesStableHLO(module, pass)))
    return failure();
  StableHLOEmitter emitter(module, withoutOp);
  return convertCollectives(emitter);
}

/// Of an argument or a result of a function.
static LogicalResult verifyEven(func::FuncOp func, DictionaryAttr attributes, const Twine &name,
                                const MeshCache &meshes) {
  auto attr = attributes ? attributes.getAs<ShardingAttr>(kShardingAttr) : ShardingAttr();
  auto global = attributes ? attributes.getAs<TypeAttr>(kGlobalTypeAttr) : TypeAttr();
  if (!attr || !global)
    return success();
  auto emit = [&] { return func.emitError(); };
  FailureOr<ShardingOnMesh> sharding = meshes.read(attr, emit);
  if (failed(sharding))
    return failure();
  ArrayRef<int64_t> shape = getShape(global.getValue());
  Layout layout = Layout::get(sharding->sharding, *sharding->mesh, shape);
  if (layout.uneven.empty())
    return success();
  const UnevenDim &dim = layout.uneven.front();
  return emit() << name << " is sharded as " << attr << ": dim " << dim.dim << " of " << shape[dim.dim] << " over "
                << dim.count() << " devices, expected a dim that they divide";
}

/// The tensors of StableHLO have one shape on all devices.
static LogicalResult verifyEvenBoundaries(ModuleOp module) {
  MeshCache meshes(module);
  for (auto func : module.getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (failed(verifyEven(func, func.getArgAttrDict(i), "argument #" + Twine(i), meshes)))
        return failure();
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      if (failed(verifyEven(func, func.getResultAttrDict(i), "result #" + Twine(i), meshes)))
        return failure();
  }
  return success();
}

namespace {

struct ConvertToStableHLOPass : public spmd::impl::ConvertSPMDToStableHLOPassBase<ConvertToStableHLOPass> {
  using Base::Base;
  LogicalResult initialize(MLIRContext *context) override { return loadStableHLO(context), success(); }
  void runOnOperation() override {
    if (failed(convertToStableHLO(getOperation(), getArgument(), WithoutOp::Error)) ||
        failed(verifyEvenBoundaries(getOperation())) || failed(convertLocalToStableHLO(getOperation())))
      signalPassFailure();
  }
};

struct ConvertToStableHLOCallsPass
    : public spmd::impl::ConvertSPMDToStableHLOCallsPassBase<ConvertToStableHLOCallsPass> {
  using Base::Base;
  LogicalResult initialize(MLIRContext *context) override { return loadStableHLO(context), success(); }
  void runOnOperation() override {
    if (failed(convertToStableHLO(getOperation(), getArgument(), WithoutOp::Gather)))
      signalPassFailure();
  }
};

} // namespace
