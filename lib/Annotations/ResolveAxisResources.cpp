//===- ResolveAxisResources.cpp - --spmd-resolve-axis-resources -----------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Passes.h"
#include "shardkit/Plan/Resolve.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDRESOLVEAXISRESOURCESPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

struct ResolveAxisResourcesPass : public spmd::impl::SPMDResolveAxisResourcesPassBase<ResolveAxisResourcesPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyInput(module, Phase::Annotated, getArgument())) || failed(resolve(module)))
      return signalPassFailure();
    if (getPhase(module) < int(Phase::Annotated))
      makeConstraintsOfShardings(module);
  }

  FailureOr<FlatSymbolRefAttr> chooseMesh(ModuleOp module) {
    SmallVector<MeshOp> meshes = getMeshesWithAxes(module);
    auto listMeshes = [&](InFlightDiagnostic diag) {
      for (MeshOp other : meshes)
        diag.attachNote(other.getLoc()) << "available mesh: @" << other.getSymName();
      return diag;
    };
    if (!mesh.empty()) {
      for (MeshOp candidate : meshes)
        if (candidate.getSymName() == mesh)
          return FlatSymbolRefAttr::get(candidate.getSymNameAttr());
      return listMeshes(emitError(module.getLoc())
                        << "unknown mesh \"" << mesh << "\", expected the name of an spmd.mesh of the module");
    }
    if (meshes.size() == 1)
      return FlatSymbolRefAttr::get(meshes.front().getSymNameAttr());
    return listMeshes(emitError(module.getLoc()) << "module has " << meshes.size()
                                                 << " meshes, expected the option mesh=NAME for the "
                                                    "one that axis resources resolve against");
  }

  /// By its name if a stage has it at another index than the program.
  static std::string describeArgument(func::FuncOp func, unsigned i, const Twine &where) {
    std::string stage = where.str();
    if (stage.empty())
      return ("argument #" + Twine(i)).str();
    for (StringRef name : {kWeightAttr, kNameAttr})
      if (auto attr = func.getArgAttrOfType<StringAttr>(i, name))
        return ("argument \"" + attr.getValue() + "\"" + stage).str();
    return ("argument #" + Twine(i) + stage).str();
  }

  /// Also by the name of its location.
  static std::string describeOperand(WithShardingConstraintOp op, const Twine &where) {
    std::string stage = where.str();
    auto name = dyn_cast<NameLoc>(op.getInput().getLoc());
    if (stage.empty() || !name)
      return "operand" + stage;
    return ("value \"" + name.getName().getValue() + "\"" + stage).str();
  }

  static bool hasResources(func::FuncOp func) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (func.getArgAttr(i, kAxisResourcesAttr))
        return true;
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      if (func.getResultAttr(i, kAxisResourcesAttr))
        return true;
    return false;
  }

  LogicalResult resolve(ModuleOp module) {
    SmallVector<func::FuncOp> functions;
    SmallVector<WithShardingConstraintOp> constraints;
    module->walk([&](Operation *op) {
      if (auto func = dyn_cast<func::FuncOp>(op); func && hasResources(func))
        functions.push_back(func);
      if (auto constraint = dyn_cast<WithShardingConstraintOp>(op); constraint && constraint.getAxisResourcesAttr())
        constraints.push_back(constraint);
    });
    if (functions.empty() && constraints.empty())
      return success();
    MeshCache meshes(module);
    /// The mesh that a function names, if any.
    std::optional<FlatSymbolRefAttr> common;
    auto meshOf = [&](func::FuncOp func) -> FailureOr<FlatSymbolRefAttr> {
      if (func)
        if (auto mesh = func->getAttrOfType<FlatSymbolRefAttr>(kMeshAttr))
          return mesh;
      if (!common) {
        FailureOr<FlatSymbolRefAttr> chosen = chooseMesh(module);
        if (failed(chosen))
          return failure();
        common = *chosen;
      }
      return *common;
    };
    /// For messages: the stage that a function implements.
    auto inStage = [](func::FuncOp func) -> std::string {
      if (func)
        if (auto stage = func->getAttrOfType<IntegerAttr>(kStageAttr))
          return (" in stage " + Twine(stage.getInt())).str();
      return "";
    };

    /// Replaces axis resources among `attrs`, if there are any.
    auto replace = [&](func::FuncOp func, NamedAttrList &attrs, const SpecTarget &target) -> LogicalResult {
      auto resources = dyn_cast_or_null<AxisResourcesAttr>(attrs.get(kAxisResourcesAttr));
      if (!resources)
        return success();
      ShardingSpec spec(target.loc);
      spec.resources = resources;
      FailureOr<FlatSymbolRefAttr> chosen = meshOf(func);
      if (failed(chosen))
        return failure();
      FailureOr<ShardingAttr> sharding = resolveSpecAt(spec, meshes, *chosen, target, attrs.get(kShardingAttr));
      if (failed(sharding))
        return failure();
      attrs.erase(kAxisResourcesAttr);
      attrs.set(kShardingAttr, *sharding);
      return success();
    };
    for (func::FuncOp func : functions) {
      SignatureAttrs attrs(func);
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        if (failed(replace(func, attrs.arg(i),
                           {func.getArgumentTypes()[i], describeArgument(func, i, inStage(func)),
                            func.isExternal() ? func.getLoc() : func.getArgument(i).getLoc()})))
          return failure();
      for (unsigned i = 0; i < func.getNumResults(); ++i)
        if (failed(replace(func, attrs.result(i),
                           {func.getResultTypes()[i], ("result #" + Twine(i) + inStage(func)).str(), func.getLoc()})))
          return failure();
      attrs.write();
    }
    for (WithShardingConstraintOp constraint : constraints) {
      ShardingSpec spec(constraint.getLoc());
      spec.resources = constraint.getAxisResourcesAttr();
      auto func = constraint->getParentOfType<func::FuncOp>();
      FailureOr<FlatSymbolRefAttr> chosen = meshOf(func);
      if (failed(chosen))
        return failure();
      FailureOr<ShardingAttr> sharding =
          resolveSpec(spec, meshes, *chosen,
                      {constraint.getType(), describeOperand(constraint, inStage(func)), constraint.getLoc()});
      if (failed(sharding))
        return failure();
      constraint.removeAxisResourcesAttr();
      constraint.setShardingAttr(*sharding);
    }
    return success();
  }
};

} // namespace
