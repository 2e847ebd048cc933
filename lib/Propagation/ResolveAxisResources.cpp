//===- ResolveAxisResources.cpp - The manual front door -------------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Verification.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDRESOLVEAXISRESOURCESPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

struct ResolveAxisResourcesPass
    : public spmd::impl::SPMDResolveAxisResourcesPassBase<ResolveAxisResourcesPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyPhaseAtMost(module, Phase::Annotated, getArgument())) ||
        failed(resolve(module)))
      return signalPassFailure();
  }

  FailureOr<MeshOp> chooseMesh(ModuleOp module) {
    auto meshes = llvm::to_vector(module.getOps<MeshOp>());
    auto listMeshes = [&](InFlightDiagnostic diag) {
      for (MeshOp other : meshes)
        diag.attachNote(other.getLoc()) << "available mesh: @" << other.getSymName();
      return diag;
    };
    if (!mesh.empty()) {
      for (MeshOp candidate : meshes)
        if (candidate.getSymName() == mesh)
          return candidate;
      return listMeshes(emitError(module.getLoc())
                        << "unknown mesh \"" << mesh
                        << "\", expected the name of an spmd.mesh of the module");
    }
    if (meshes.size() == 1)
      return meshes.front();
    return listMeshes(emitError(module.getLoc())
                      << "module has " << meshes.size()
                      << " meshes, expected the option mesh=NAME to say which "
                         "one axis resources resolve against");
  }

  LogicalResult resolve(ModuleOp module) {
    bool any = false;
    module->walk([&](Operation *op) {
      if (auto func = dyn_cast<FunctionOpInterface>(op)) {
        for (unsigned i = 0; i < func.getNumArguments(); ++i)
          any |= bool(func.getArgAttr(i, kAxisResourcesAttr));
        for (unsigned i = 0; i < func.getNumResults(); ++i)
          any |= bool(func.getResultAttr(i, kAxisResourcesAttr));
      } else if (auto constraint = dyn_cast<WithShardingConstraintOp>(op)) {
        any |= bool(constraint.getAxisResourcesAttr());
      }
    });
    if (!any)
      return success();
    FailureOr<MeshOp> chosen = chooseMesh(module);
    if (failed(chosen))
      return failure();
    WalkResult result = module->walk([&](Operation *op) {
      if (auto func = dyn_cast<func::FuncOp>(op)) {
        for (unsigned i = 0; i < func.getNumArguments(); ++i)
          if (Attribute attr = func.getArgAttr(i, kAxisResourcesAttr)) {
            Location loc = func.isExternal() ? func.getLoc()
                                             : func.getArgument(i).getLoc();
            auto sharding = convert(attr, func.getArgumentTypes()[i], *chosen, "argument #" + Twine(i), loc);
            if (failed(sharding) || failed(checkSame(func.getArgAttr(i, kShardingAttr), *sharding, loc)))
              return WalkResult::interrupt();
            func.removeArgAttr(i, kAxisResourcesAttr);
            func.setArgAttr(i, kShardingAttr, *sharding);
          }
        for (unsigned i = 0; i < func.getNumResults(); ++i)
          if (Attribute attr = func.getResultAttr(i, kAxisResourcesAttr)) {
            auto sharding = convert(attr, func.getResultTypes()[i], *chosen, "result #" + Twine(i), func.getLoc());
            if (failed(sharding) || failed(checkSame(func.getResultAttr(i, kShardingAttr), *sharding, func.getLoc())))
              return WalkResult::interrupt();
            func.removeResultAttr(i, StringAttr::get(&getContext(), kAxisResourcesAttr));
            func.setResultAttr(i, kShardingAttr, *sharding);
          }
      } else if (auto constraint = dyn_cast<WithShardingConstraintOp>(op)) {
        if (Attribute attr = constraint.getAxisResourcesAttr()) {
          auto sharding = convert(attr, constraint.getType(), *chosen, "operand", op->getLoc());
          if (failed(sharding))
            return WalkResult::interrupt();
          constraint.removeAxisResourcesAttr();
          constraint.setShardingAttr(*sharding);
        }
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    return success();
  }

  LogicalResult checkSame(Attribute old, ShardingAttr sharding, Location loc) {
    if (!old || old == sharding)
      return success();
    return emitError(loc) << "axis resources mean " << sharding
                          << ", expected the sharding that stands here already: "
                          << old;
  }

  FailureOr<ShardingAttr> convert(Attribute attr, Type type, MeshOp meshOp,
                                  const Twine &what, Location loc) {
    auto resources = cast<AxisResourcesAttr>(attr);
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return emitError(loc) << "axis resources on " << type
                            << ", expected a ranked tensor";
    Mesh plain = toMesh(meshOp);
    Sharding sharding;
    sharding.dims.resize(tensor.getRank());
    if (resources.getNumEntries() > tensor.getRank())
      return emitError(loc) << "axis resources have " << resources.getNumEntries()
                            << " entries, expected at most " << tensor.getRank()
                            << ", the rank of " << type;
    for (int64_t d = 0; d < resources.getNumEntries(); ++d) {
      sharding.dims[d].open = resources.isOpen(d);
      for (StringRef name : resources.getAxes(d)) {
        std::optional<unsigned> axis = plain.findAxis(name);
        if (!axis) {
          InFlightDiagnostic diag = emitError(loc)
              << "unknown axis \"" << name << "\" in dim " << d
              << ", expected an axis of mesh @" << plain.name;
          diag.attachNote(meshOp.getLoc()) << "available axes: " << plain.axesToString();
          return failure();
        }
        sharding.dims[d].entries.push_back({int32_t(*axis), 1, plain.axes[*axis].size});
      }
    }
    if (failed(verifyShardingOf(sharding, tensor, plain, what, [&] { return emitError(loc); })))
      return failure();
    return toAttr(&getContext(), FlatSymbolRefAttr::get(meshOp.getSymNameAttr()),
                  sharding, plain);
  }
};

} // namespace
