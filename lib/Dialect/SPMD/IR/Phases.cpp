//===- Phases.cpp - How far the IR has come -------------------------------===//

#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::spmd;

int spmd::getPhase(Operation *op) {
  // A nested module may have another phase.
  auto phase = op->getAttrOfType<StringAttr>(kPhaseAttr);
  while (!phase && (op = op->getParentOp()))
    phase = op->getAttrOfType<StringAttr>(kPhaseAttr);
  if (!phase)
    return -1;
  for (auto [i, name] : llvm::enumerate(kPhases))
    if (phase.getValue() == name)
      return i;
  return -1;
}

void spmd::setPhase(ModuleOp module, Phase phase) {
  module->setAttr(kPhaseAttr, StringAttr::get(module.getContext(), kPhases[int(phase)]));
}

/// Products of a size with padding or with the number of devices stay within 64 bits.
static constexpr int64_t kMaxBytes = int64_t(1) << 60;

static bool isCountable(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return true;
  int64_t bytes = getElementBytes(shaped.getElementType());
  return llvm::all_of(shaped.getShape(), [&](int64_t size) {
    return ShapedType::isDynamic(size) ||
           (!llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes) && bytes <= kMaxBytes);
  });
}

/// The op does not define negative padding; folders drop two sides that cancel each other.
static LogicalResult verifyPadding(tensor::PadOp pad) {
  for (auto [d, low, high] : llvm::enumerate(pad.getMixedLowPad(), pad.getMixedHighPad()))
    for (OpFoldResult size : {low, high})
      if (std::optional<int64_t> known = getConstantIntValue(size); known && *known < 0)
        return pad.emitError("dim ") << d << " is padded by " << *known
                                     << ", expected 0 or more: tensor.extract_slice removes elements";
  return success();
}

static LogicalResult verifyOps(Operation *root) {
  llvm::SmallDenseSet<Type, 32> countable;
  auto verify = [&](Type type, Location loc) -> LogicalResult {
    if (!countable.insert(type).second || isCountable(type))
      return success();
    return emitError(loc) << type << " is too large, expected at most 2^60 bytes";
  };
  WalkResult result = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(verify(type, op->getLoc())))
        return WalkResult::interrupt();
    if (auto pad = dyn_cast<tensor::PadOp>(op); pad && failed(verifyPadding(pad)))
      return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (failed(verify(argument.getType(), argument.getLoc())))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
/// An op that a pass replaces; later phases do not define it.
struct LoweredOp {
  TypeID op;
  Phase by; // the phase that the pass completes
  StringLiteral pass, hint;
};
} // namespace

static ArrayRef<LoweredOp> getLoweredOps() {
  static const LoweredOp ops[] = {
      {TypeID::get<StageBoundaryOp>(), Phase::Annotated, "--spmd-build-stages",
       "pipeline= of --spmd-default-pipeline, --pipeline of shard-compile and shard-run"},
      {TypeID::get<WithShardingConstraintOp>(), Phase::Resharded, "--spmd-insert-reshards", ""},
      {TypeID::get<ShardingGroupOp>(), Phase::Resharded, "--spmd-insert-reshards", ""},
      {TypeID::get<PropagationBarrierOp>(), Phase::Resharded, "--spmd-insert-reshards", ""},
      {TypeID::get<ReshardOp>(), Phase::Partitioned, "--spmd-partition", ""},
      {TypeID::get<ManualComputationOp>(), Phase::Partitioned, "--spmd-partition", ""},
      {TypeID::get<FragmentOp>(), Phase::Final, "--spmd-outline-stages", ""},
      {TypeID::get<StageOutputOp>(), Phase::Final, "--spmd-outline-stages", ""}};
  return ops;
}

LogicalResult spmd::verifyLowered(func::FuncOp func, Phase completed, const Twine &user) {
  auto verify = [&](Operation *op) {
    for (const LoweredOp &lowered : getLoweredOps()) {
      if (op->getName().getTypeID() != lowered.op || completed < lowered.by)
        continue;
      InFlightDiagnostic diag = op->emitError() << op->getName() << " in the input of " << user << ", expected "
                                                << lowered.pass << " before it";
      if (!lowered.hint.empty())
        diag << " (" << lowered.hint << ")";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  };
  return failure(func.walk(verify).wasInterrupted());
}

LogicalResult spmd::verifyLowered(ModuleOp module, Phase completed, const Twine &user) {
  return failure(llvm::any_of(getProgramFunctions(module),
                              [&](func::FuncOp func) { return failed(verifyLowered(func, completed, user)); }));
}

/// Adds what is wrong with the phase of the input of a pass.
static InFlightDiagnostic &&describePhase(InFlightDiagnostic &&diag, int phase, Phase last, StringRef pass) {
  diag << "module is in phase \"" << kPhases[phase] << "\", expected at most \"" << kPhases[int(last)] << "\" for --"
       << pass;
  return std::move(diag);
}

LogicalResult spmd::verifyInput(ModuleOp module, Phase last, StringRef pass) {
  int phase = getPhase(module);
  return phase <= int(last) ? verifyOps(module) : describePhase(emitError(module.getLoc()), phase, last, pass);
}

LogicalResult spmd::verifyInput(func::FuncOp func, Phase last, StringRef pass) {
  int phase = getPhase(func->getParentOp());
  return phase <= int(last) ? verifyOps(func) : describePhase(emitModuleError(func), phase, last, pass);
}

InFlightDiagnostic spmd::emitModuleError(func::FuncOp func) {
  auto functions = func->getBlock()->getOps<func::FuncOp>();
  return func == *functions.begin() ? emitError(func->getParentOp()->getLoc()) : InFlightDiagnostic();
}
