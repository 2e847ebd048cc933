//===- Propagate.cpp - --spmd-propagate -----------------------------------===//
//
// Completes the module. Where functions were improved (ImprovePropagation.h), the plan is compared
// with the propagated one as both run: on copies, through all phases, with collectives that are
// merged, hoisted and combined. Functions that do not gain from it get their propagated plan back.
//
//===----------------------------------------------------------------------===//

#include "shardkit/AutoSharding/ImprovePropagation.h"
#include "shardkit/AutoSharding/ModuleSearch.h"
#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/CompleteModule.h"
#include "shardkit/Rules/ControlFlow.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDPROPAGATEPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Predicted seconds of the collectives of a final module, by function, with those that it calls.
class FinalCosts {
public:
  FinalCosts(ModuleOp module, int64_t tripCount) : module(module), meshes(module), tripCount(tripCount) {}

  /// None if the cost of a collective is unknown.
  std::optional<double> get(func::FuncOp func) {
    auto [it, isNew] = known.try_emplace(func, 0);
    if (!isNew)
      return it->second; // or a recursive call, which is not counted
    double seconds = 0;
    WalkResult walk = func.walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op)) {
        auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
        std::optional<double> inside = callee ? get(callee) : std::optional(0.0);
        if (!inside)
          return WalkResult::interrupt();
        seconds += *inside * countExecutions(op->getBlock(), tripCount);
      } else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
        FailureOr<CollectiveMove> move = getMove(collective, meshes);
        if (failed(move))
          return WalkResult::interrupt();
        seconds +=
            (move->cost.seconds - (travelsAlong(op) ? move->latency : 0)) * countExecutions(op->getBlock(), tripCount);
      }
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return std::nullopt;
    return known[func] = seconds;
  }

  /// The sum over functions that are outlined from `names`, as often as they run.
  std::optional<double> get(const llvm::StringSet<> &names) {
    llvm::StringMap<int64_t> runs;
    module.walk([&](RunOp run) { ++runs[run.getFunction()]; });
    double sum = 0;
    for (auto func : module.getOps<func::FuncOp>()) {
      int64_t times = runs.lookup(func.getName());
      if (times == 0 && !func.isPrivate() && names.contains(func.getName())) {
        auto calls = func->getAttrOfType<IntegerAttr>(kCallsAttr);
        times = calls ? calls.getInt() : 1;
      }
      if (times == 0 || func.isExternal())
        continue;
      std::optional<double> seconds = get(func);
      if (!seconds)
        return std::nullopt;
      sum += *seconds * times;
    }
    return sum;
  }

private:
  ModuleOp module;
  MeshCache meshes;
  int64_t tripCount;
  llvm::DenseMap<Operation *, double> known;
};

struct PropagatePass : public spmd::impl::SPMDPropagatePassBase<PropagatePass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto options = Propagation::getOptions(module.getLoc(), conflicts, stridedShardings, tripCount);
    if (failed(options) || failed(verifyInput(module, Phase::Propagated, getArgument())) ||
        failed(verifyLowered(module, Phase::Annotated, "--" + getArgument())))
      return signalPassFailure();
    // Choices of an earlier run are not constraints.
    if (getPhase(module) > int(Phase::Annotated))
      for (auto func : getProgramFunctions(module))
        forgetSearch(func);
    propagationOptions = *options;
    bool improves = plan == DefaultPlan::Improved && conflicts == Conflicts::Cost;
    OwningOpRef<ModuleOp> input;
    if (improves)
      input = module.clone();
    Groups improved;
    if (failed(complete(module, [&](StringRef) { return improves; }, improved, /*emitsRemarks=*/true)))
      return signalPassFailure();
    if (!improved.empty())
      keepGains(module, std::move(input), improved);
  }

private:
  /// Functions that were completed together and improved.
  using Groups = std::vector<SmallVector<std::string, 1>>;

  LogicalResult complete(ModuleOp module, llvm::function_ref<bool(StringRef)> improves, Groups &improved,
                         bool emitsRemarks) {
    auto completeGroup = [&](ArrayRef<func::FuncOp> funcs, FunctionMeshes &meshes, CallTable &calls,
                             CallOperandLayouts &callOperands) -> FailureOr<std::unique_ptr<FunctionPropagation>> {
      auto propagation = FunctionPropagation::compute(funcs, meshes, calls, propagationOptions);
      if (failed(propagation))
        return failure();
      if (emitsRemarks)
        (*propagation)->emitRemarks();
      if (!llvm::all_of(funcs, [&](func::FuncOp func) { return improves(func.getName()); }))
        return propagation;
      if (failed(improvePropagation(**propagation, meshes, {propagationOptions, deferReductions}, callOperands)))
        return failure();
      if (func::FuncOp first = funcs.front(); first->hasAttr(kImprovedAttr)) {
        SmallVector<std::string, 1> &names = improved.emplace_back();
        for (func::FuncOp func : funcs)
          names.push_back(func.getName().str());
      }
      return propagation;
    };
    return completeModule(module, completeGroup);
  }

  /// Gives functions their propagated plan back where the improved one does not gain in the end.
  void keepGains(ModuleOp module, OwningOpRef<ModuleOp> input, const Groups &improved) {
    std::optional<llvm::StringSet<>> losses = findLosses(module, *input, improved);
    if (losses && losses->empty())
      return;
    module.getBodyRegion().takeBody(input->getBodyRegion());
    module->setAttrs((*input)->getAttrDictionary());
    // The first completion has reported all but errors.
    ScopedDiagnosticHandler errorsOnly(
        &getContext(), [](Diagnostic &diag) { return failure(diag.getSeverity() == DiagnosticSeverity::Error); });
    Groups again;
    auto improves = [&](StringRef name) { return losses && !losses->contains(name); };
    if (failed(complete(module, improves, again, /*emitsRemarks=*/false)))
      signalPassFailure();
  }

  /// The functions that must not be improved, as their improved plan does not gain in the end; none: all functions.
  /// Functions of a schedule, and functions that calls connect, are decided together.
  std::optional<llvm::StringSet<>> findLosses(ModuleOp module, ModuleOp input, const Groups &improved) {
    // Errors of a trial are those of the phase that meets them again.
    ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); });
    OwningOpRef<ModuleOp> propagated = input.clone(), changed = module.clone();
    llvm::StringSet<> losses;
    Groups none;
    if (failed(complete(*propagated, [](StringRef) { return false; }, none, /*emitsRemarks=*/false)))
      return losses;
    bool isPropagatedFinal = succeeded(finish(*propagated)), isChangedFinal = succeeded(finish(*changed));
    if (!isPropagatedFinal && isChangedFinal)
      return losses;
    FinalCosts before(*propagated, tripCount), after(*changed, tripCount);
    auto gains = [&](const llvm::StringSet<> &names) {
      std::optional<double> then = isChangedFinal ? before.get(names) : std::nullopt;
      std::optional<double> now = isChangedFinal ? after.get(names) : std::nullopt;
      return then && now && isGain(*then, *now);
    };
    bool together =
        !module.getOps<ScheduleOp>().empty() || llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp func) {
          return func.isPrivate() && !func.isExternal() && func->hasAttr(kImprovedAttr);
        });
    if (together) {
      llvm::StringSet<> all;
      for (auto func : module.getOps<func::FuncOp>())
        all.insert(func.getName());
      return gains(all) ? std::optional(losses) : std::nullopt;
    }
    for (const auto &group : improved) {
      llvm::StringSet<> names;
      for (const std::string &name : group)
        names.insert(name);
      if (!gains(names))
        losses.insert(group.begin(), group.end());
    }
    return losses;
  }

  /// Runs the phases that follow.
  LogicalResult finish(ModuleOp copy) {
    PhaseOptions phases;
    phases.tripCount = tripCount;
    phases.deferReductions = deferReductions;
    return runPhasesOnCopy(copy, phases, Phase::Final);
  }

  Propagation::Options propagationOptions;
};

} // namespace
